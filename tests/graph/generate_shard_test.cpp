// SPDX-License-Identifier: Apache-2.0
// Graphs generated into shards equal those that build() makes, on every team, in both numberings,
// merged and not.
#include "warren/graph/generate_shard.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "warren/graph/transform.hpp"

namespace warren::graph {
namespace {

void expect_equal(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.vertices, b.vertices);
  ASSERT_TRUE(std::equal(a.offsets.begin(), a.offsets.end(), b.offsets.begin(), b.offsets.end()));
  ASSERT_TRUE(std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end()));
}

/// The graph of the in-edges, as download() gives that of the out-edges.
Graph download_in(team::Team& team, const Shard& shard) {
  Shard turned = shard;
  turned.out = shard.in;
  return download(team, turned);
}

void check(const team::TeamOptions& options, const std::string& text,
           const BuildOptions& build_options, VertexOrder order, std::uint64_t seed,
           const EdgesOptions& edges = {}) {
  SCOPED_TRACE(text + ", " + std::to_string(options.ranks) + " ranks");
  exec::ThreadPool pool(2);
  const GeneratorSpec spec = *parse_generator(text, seed);
  const Graph expected = build(*make_source(spec), effective_options(spec, build_options), pool);
  team::run_team(options, [&](team::Team& team) {
    const Shard shard = generate_shard(team, spec, build_options, true, order, edges);
    EXPECT_EQ(shard.edges_placement, edges.placement);
    Graph made = download(team, shard);
    const Graph made_in = download_in(team, shard);
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
    expect_equal(made_in, transpose(wanted, pool));
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
    const Shard whole = generate_shard(team, spec, undirected, true);
    const Graph expected = download(team, whole);
    const std::uint64_t drawn = 2 * spec.draws;
    const std::uint64_t lists = drawn * sizeof(Vertex);
    const std::uint64_t vertices = 16 * spec.vertices;
    // A fourth of what would be drawn at once. Of the lists' own memory nothing is the device's,
    // but on the CPU, where all is one.
    const std::uint64_t limit = exec::memory_use(team.device()).current + vertices + lists +
                                (kind == exec::DeviceKind::cpu ? lists : 0);
    exec::set_memory_limit(team.device(), limit);
    exec::reset_peak(team.device());
    {
      const Shard shard = generate_shard(team, spec, undirected, true, VertexOrder::natural,
                                         {EdgesPlacement::host, 0});
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
