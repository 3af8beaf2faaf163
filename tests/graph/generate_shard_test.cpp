// SPDX-License-Identifier: Apache-2.0
// Graphs generated into shards equal those that build() makes, on every team, in both numberings,
// merged and not.
#include "warren/graph/generate_shard.hpp"

#include <algorithm>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/graph/byte_weights.hpp"
#include "warren/graph/edge_chunks.hpp"
#include "warren/graph/transform.hpp"

namespace warren::graph {
namespace {

using testing::HasSubstr;

void expect_equal(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.vertices, b.vertices);
  ASSERT_TRUE(std::equal(a.offsets.begin(), a.offsets.end(), b.offsets.begin(), b.offsets.end()));
  ASSERT_TRUE(std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end()));
  ASSERT_EQ(a.weight_type, b.weight_type);
  ASSERT_TRUE(std::ranges::equal(a.weights_int.span(), b.weights_int.span()));
}

/// The graph of the in-edges, as download() gives that of the out-edges.
Graph download_in(team::Team& team, const Shard& shard) {
  Shard turned = shard;
  turned.out = shard.in;
  return download(team, turned);
}

/// Weights are bytes where they should be, and are there for those who want int32.
void check_form(team::Team& team, const Shard& shard, const UniformWeights& weights,
                const Graph& lists) {
  const bool are_bytes = shard.edges_placement == EdgesPlacement::host && weights.high <= 255;
  EXPECT_EQ(shard.has_byte_weights, are_bytes);
  EXPECT_EQ(lists.weight_type, WeightType::none);
  EXPECT_TRUE(lists.weights_int.empty());
  const exec::Stream stream(team.device());
  const EdgeRange range = edge_range(stream, shard.out);
  if (range.count() == 0) return;
  EXPECT_EQ(shard.out.weights_byte != nullptr, are_bytes);
  EXPECT_EQ(shard.out.weights_int != nullptr, !are_bytes);
  if (!are_bytes) return;
  memory::Buffer<std::int32_t> wide;
  const CsrView view = with_int_weights(stream, shard.out, wide);
  for (EdgeOffset e = range.first; e < range.last; ++e)
    ASSERT_EQ(view.weights_int[e], shard.out.weights_byte[e]);
}

void check(const team::TeamOptions& options, const std::string& text,
           const BuildOptions& build_options, VertexOrder order, std::uint64_t seed,
           const EdgesOptions& edges = {}, const std::optional<UniformWeights>& weights = {}) {
  SCOPED_TRACE(text + ", " + std::to_string(options.ranks) + " ranks" +
               (weights ? ", weights up to " + std::to_string(weights->high) : ""));
  exec::ThreadPool pool(2);
  const GeneratorSpec spec = *parse_generator(text, seed);
  Graph expected = build(*make_source(spec), effective_options(spec, build_options), pool);
  if (weights) set_uniform_weights(expected, weights->low, weights->high, weights->seed, pool);
  team::run_team(options, [&](team::Team& team) {
    const Shard shard = generate_shard(team, spec, build_options, true, order, edges, weights);
    EXPECT_EQ(shard.edges_placement, edges.placement);
    EXPECT_EQ(shard.weight_type, expected.weight_type);
    Graph made = download(team, shard);
    if (weights) check_form(team, shard, *weights, download_lists(team, shard));
    // Compressed lists are told of one direction.
    const bool tells_in = edges.placement != EdgesPlacement::compressed_host || shard.is_symmetric;
    const Graph made_in = tells_in ? download_in(team, shard) : Graph();
    EXPECT_EQ(shard.edges, expected.edges());
    if (team.rank() != 0) return;
    Graph wanted = expected;
    if (order == VertexOrder::degree) {
      const exec::Stream stream(team.device());
      const std::vector<Vertex> new_id = shard.new_id->to_host(stream);
      const std::vector<Vertex> old_id = shard.old_id->to_host(stream);
      for (Vertex v = 0; v < spec.vertices; ++v) ASSERT_EQ(old_id[new_id[v]], v);
      wanted = relabel(expected, new_id, pool);
    }
    expect_equal(made, wanted);
    if (tells_in) expect_equal(made_in, transpose(wanted, pool));
  });
}

void check_all(const std::vector<team::TeamOptions>& teams) {
  for (const auto& options : teams) {
    for (const std::string text :
         {"kron:9", "urand:8,3", "grid:13x7", "community:900,5", "kron:0"}) {
      BuildOptions simple;
      simple.symmetrize = true;
      check(options, text, simple, VertexOrder::natural, 1, {EdgesPlacement::compressed_host, 0});
      check(options, text, {}, VertexOrder::degree, 1,
            {EdgesPlacement::host, EdgesOptions::kAllThatIsFree});
      for (const VertexOrder order : {VertexOrder::natural, VertexOrder::degree}) {
        BuildOptions undirected;
        undirected.symmetrize = true;
        undirected.drop_self_loops = true;
        check(options, text, undirected, order, 1);
        check(options, text, {}, order, 7);
        BuildOptions everything;
        everything.keep_duplicates = true;
        check(options, text, everything, order, 1);
      }
    }
  }
}

void check_weights(const std::vector<team::TeamOptions>& teams) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::vector<UniformWeights> all{{1, 64, 1}, {0, 255, 7},   {1, 1000, 3},
                                        {9, 9, 1},  {256, 256, 1}, {0, kMost, 2}};
  std::size_t next = 0;
  for (const auto& options : teams) {
    for (const std::string text :
         {"kron:9", "urand:8,3", "grid:13x7", "community:900,5", "kron:0"}) {
      for (const EdgesPlacement placement :
           {EdgesPlacement::device, EdgesPlacement::host, EdgesPlacement::compressed_host}) {
        for (const VertexOrder order : {VertexOrder::natural, VertexOrder::degree}) {
          BuildOptions undirected;
          undirected.symmetrize = true;
          undirected.drop_self_loops = true;
          BuildOptions everything;
          everything.keep_duplicates = true;
          // Compressed lists are merged ones.
          const bool may_repeat = placement != EdgesPlacement::compressed_host;
          for (const BuildOptions& build :
               {undirected, BuildOptions(), may_repeat ? everything : undirected})
            check(options, text, build, order, 1, {placement, 0}, all[next++ % all.size()]);
        }
      }
    }
  }
}

std::vector<team::TeamOptions> teams(exec::DeviceKind kind, int most) {
  std::vector<team::TeamOptions> all;
  for (int ranks = 1; ranks <= most; ++ranks) {
    team::TeamOptions options;
    options.kind = kind;
    options.ranks = ranks;
    options.threads = ranks;
    options.sharing = team::Sharing::turns;
    all.push_back(options);
  }
  return all;
}

TEST(GenerateShard, EqualsBuild) { check_all(teams(exec::DeviceKind::cpu, 4)); }

TEST(GenerateShardCuda, EqualsBuild) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(teams(exec::DeviceKind::cuda, exec::cuda_device_count() + 1));
}

TEST(GenerateShard, WeightsEqualThoseDrawnOnTheHost) {
  check_weights(teams(exec::DeviceKind::cpu, 4));
}

TEST(GenerateShardCuda, WeightsEqualThoseDrawnOnTheHost) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_weights(teams(exec::DeviceKind::cuda, exec::cuda_device_count() + 1));
}

TEST(GenerateShard, RefusesBoundsThatAreNone) {
  const GeneratorSpec spec = *parse_generator("kron:4", 1);
  for (const UniformWeights& weights :
       {UniformWeights{5, 4, 1}, UniformWeights{-1, 4, 1}, UniformWeights{-3, -2, 1},
        UniformWeights{0, 2147483648, 1}}) {
    team::run_team({}, [&](team::Team& team) {
      try {
        (void)generate_shard(team, spec, {}, false, VertexOrder::natural, {}, weights);
        FAIL() << weights.low << " to " << weights.high << " was not refused";
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("should be 0 <= low <= high <= 2147483647"));
      }
    });
  }
}

/// What lists and weights take is said together, in the bytes that a weight takes there.
TEST(GenerateShard, ErrorsOfMemoryNameListsAndWeights) {
  const GeneratorSpec spec = *parse_generator("kron:16", 1);
  const auto refused = [&](const EdgesOptions& edges, const UniformWeights& weights) {
    std::string message = "nothing was thrown";
    team::run_team({}, [&](team::Team& team) {
      exec::set_memory_limit(team.device(), exec::memory_use(team.device()).current +
                                                spec.draws * sizeof(Vertex) + 16 * spec.vertices);
      try {
        (void)generate_shard(team, spec, {}, false, VertexOrder::natural, edges, weights);
      } catch (const MemoryError& error) {
        message = error.what();
      }
      exec::set_memory_limit(team.device(), 0);
    });
    return message;
  };
  const std::string bytes = refused({EdgesPlacement::host, 0}, {1, 64, 1});
  EXPECT_THAT(bytes, HasSubstr("5242880 bytes asked"));
  EXPECT_THAT(bytes, HasSubstr("the lists of 1048576 edges take 4.00 MiB, and their weights, a "
                               "byte each, 1.00 MiB"));
  EXPECT_THAT(bytes, HasSubstr("draw a smaller graph"));
  const std::string words = refused({}, {1, 64, 1});
  EXPECT_THAT(words, HasSubstr("8388608 bytes asked"));
  EXPECT_THAT(words, HasSubstr("4 bytes each, 4.00 MiB"));
}

/// A memory that is smaller than what would be drawn at once: lists in host memory come in chunks,
/// and are those that a device with all the room draws.
void check_under_limit(exec::DeviceKind kind) {
  team::TeamOptions options;
  options.kind = kind;
  options.threads = 2;
  team::run_team(options, [&](team::Team& team) {
    const GeneratorSpec spec = *parse_generator("kron:16", 1);
    BuildOptions undirected;
    undirected.symmetrize = true;
    const UniformWeights weights{1, 64, 1};
    const Shard whole =
        generate_shard(team, spec, undirected, true, VertexOrder::natural, {}, weights);
    const Graph expected = download(team, whole);
    const std::uint64_t drawn = 2 * spec.draws;
    const std::uint64_t lists = drawn * (sizeof(Vertex) + 1);
    const std::uint64_t vertices = 16 * spec.vertices;
    // A fourth of what would be drawn at once. Of the lists' own memory nothing is the device's,
    // but on the CPU, where all is one.
    const std::uint64_t limit = exec::memory_use(team.device()).current + vertices + lists +
                                (kind == exec::DeviceKind::cpu ? lists : 0);
    exec::set_memory_limit(team.device(), limit);
    exec::reset_peak(team.device());
    {
      const Shard shard = generate_shard(team, spec, undirected, true, VertexOrder::natural,
                                         {EdgesPlacement::host, 0}, weights);
      EXPECT_LE(exec::memory_use(team.device()).peak, limit);
      const Graph made = download(team, shard);
      expect_equal(made, expected);
      EXPECT_EQ(made.targets.data(), shard.out.targets);  // Not copied.
    }
    exec::set_memory_limit(team.device(), 0);
  });
}

TEST(GenerateShard, DrawsListsInHostMemoryWithinALimit) {
  check_under_limit(exec::DeviceKind::cpu);
}

TEST(GenerateShardCuda, DrawsListsInHostMemoryWithinALimit) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_under_limit(exec::DeviceKind::cuda);
}

TEST(GenerateShardCuda, HoldsHalfAgainTheGraphAtItsPeak) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  team::TeamOptions options;
  options.kind = exec::DeviceKind::cuda;
  team::run_team(options, [&](team::Team& team) {
    const std::uint64_t before = exec::memory_use(team.device()).current;
    exec::reset_peak(team.device());
    BuildOptions undirected;
    undirected.symmetrize = true;
    const Shard shard = generate_shard(team, *parse_generator("kron:20", 1), undirected, true);
    const std::uint64_t graph =
        shard.edges * sizeof(Vertex) + (shard.vertices + 1) * sizeof(EdgeOffset);
    EXPECT_LE(exec::memory_use(team.device()).peak - before, graph * 3 / 2);
  });
}

}  // namespace
}  // namespace warren::graph
