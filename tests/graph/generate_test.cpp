// SPDX-License-Identifier: Apache-2.0
// The generators: edge for edge as described, the same at any piece and thread count, and what
// their texts may say.
#include "warren/graph/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/draw.hpp"
#include "warren/graph/generated_size.hpp"
#include "warren/graph/transform.hpp"

#include "graph/generate_draws.hpp"
#include "reference/graph_csr.hpp"
#include "reference/graph_generate.hpp"

namespace warren::graph {
namespace {

using reference::EdgeList;
using testing::HasSubstr;
using testing::ThrowsMessage;

GeneratorSpec spec_of(const std::string& text, std::uint64_t seed = 1) {
  return parse_generator(text, seed).value();
}

std::vector<Edge> drawn(const GeneratorSpec& spec) {
  std::vector<Edge> edges;
  for (std::uint64_t k = 0; k < spec.draws; ++k) edges.push_back(draw_edge(spec, k));
  return edges;
}

bool same(std::span<const Edge> a, std::span<const Edge> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Edge x, Edge y) { return x.source == y.source && x.target == y.target; });
}

TEST(Generate, DrawsKroneckerEdgesAsDescribed) {
  for (const int scale : {0, 1, 2, 3, 7, 12}) {
    const GeneratorSpec spec = spec_of("kron:" + std::to_string(scale));
    EXPECT_EQ(spec.vertices, 1ull << scale);
    EXPECT_EQ(spec.draws, 16ull << scale);
    EXPECT_TRUE(same(drawn(spec), reference::kronecker(scale, 16).edges)) << scale;
  }
  EXPECT_TRUE(same(drawn(spec_of("kron:10,3")), reference::kronecker(10, 3).edges));
}

TEST(Generate, DrawsUniformEdgesAsDescribed) {
  for (const int scale : {0, 1, 5, 12}) {
    EXPECT_TRUE(
        same(drawn(spec_of("urand:" + std::to_string(scale))), reference::uniform(scale, 16).edges))
        << scale;
  }
  EXPECT_TRUE(same(drawn(spec_of("urand:10,5")), reference::uniform(10, 5).edges));
}

TEST(Generate, DrawsCommunityEdgesAsDescribed) {
  for (const std::uint64_t n : {1ull, 150ull, 200ull, 12345ull, 50000ull}) {
    const GeneratorSpec spec = spec_of("community:" + std::to_string(n) + ",2.5");
    EXPECT_EQ(spec.draws, static_cast<std::uint64_t>(std::round(2.5 * static_cast<double>(n))));
    EXPECT_TRUE(same(drawn(spec), reference::community(n, spec.draws).edges)) << n;
  }
}

TEST(Generate, BuildsGridsOfAnySize) {
  exec::ThreadPool pool(2);
  for (const auto& [width, height] :
       std::vector<std::pair<Vertex, Vertex>>{{1, 1}, {1, 9}, {9, 1}, {2, 2}, {7, 5}, {64, 33}}) {
    const GeneratorSpec spec =
        spec_of("grid:" + std::to_string(width) + "x" + std::to_string(height));
    const BuildOptions options = effective_options(spec, {});
    EXPECT_TRUE(options.symmetrize && options.drop_self_loops);
    const Graph graph = build(*make_source(spec), options, pool);
    EXPECT_EQ(graph.vertices, std::uint64_t{width} * height);
    EXPECT_TRUE(reference::entries(graph) ==
                reference::entries(reference::build(reference::grid(width, height), options)));
  }
}

TEST(Generate, BatchesAreTheSingleDraws) {
  for (const char* text : {"kron:9,7", "urand:9", "grid:30x20", "community:900,7"}) {
    const GeneratorSpec spec = spec_of(text, 12);
    const std::vector<Edge> all = drawn(spec);
    for (const std::uint64_t first : {0, 1, 15, 100}) {
      for (const std::uint64_t count : {0, 1, 16, 17, 500}) {
        std::vector<Edge> batch(count);
        detail::draw_edges(spec, first, batch);
        EXPECT_TRUE(same(batch, std::span(all).subspan(first, count)))
            << text << " " << first << " " << count;
      }
    }
  }
}

TEST(Generate, AnotherSeedDrawsAnotherStream) {
  for (const char* text : {"kron:10", "urand:10", "community:1000,16"}) {
    EXPECT_TRUE(same(drawn(spec_of(text, 7)), drawn(spec_of(text, 7))));
    EXPECT_FALSE(same(drawn(spec_of(text, 7)), drawn(spec_of(text, 8))));
    EXPECT_FALSE(same(drawn(spec_of(text, 0)), drawn(spec_of(text, 1))));
  }
}

TEST(Generate, KnowsAGraphByItsCounts) {
  // Published with the benchmark inputs: kron 16 and community 50000, symmetrised, without
  // self-loops.
  exec::ThreadPool pool(2);
  const Graph kronecker = build(*make_source(spec_of("kron:16")), {true, true, false}, pool);
  EXPECT_EQ(kronecker.edges(), 1818374u);
  EXPECT_EQ(statistics(kronecker, pool).max_degree, 9746u);
  EXPECT_EQ(statistics(kronecker, pool).max_degree_vertex, 16308u);
  const GeneratorSpec community = spec_of("community:50000,12");
  EXPECT_EQ(build(*make_source(community), effective_options(community, {}), pool).edges(),
            1075114u);
  EXPECT_EQ(spec_of("community:2449029,25.2586392").draws, 61859140u);
}

TEST(Generate, WeightsAreTheBenchmarks) {
  exec::ThreadPool pool(2);
  Graph graph = build(*make_source(spec_of("kron:10")), {true, true, false}, pool);
  set_uniform_weights(graph, 1, 64, 1, pool);
  for (const reference::Entry& entry : reference::entries(graph)) {
    ASSERT_EQ(entry.weight, reference::benchmark_weight(entry.source, entry.target));
  }
}

TEST(GenerateText, LeavesOtherNamesAlone) {
  for (const char* text :
       {"kron", "kron16", "graph.mtx", "data:kron", "", ":", "Kron:4", "debian"}) {
    EXPECT_FALSE(parse_generator(text, 1).has_value()) << text;
  }
}

TEST(GenerateText, SaysWhatWouldBeRight) {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"kron:", "SCALE should be a whole number from 0 to 31"},
      {"kron:32", "SCALE should be a whole number from 0 to 31"},
      {"kron:-1", "the form is kron:SCALE[,DEGREE]"},
      {"kron:4,", "DEGREE should be"},
      {"kron:4,1.5", "DEGREE should be a whole number"},
      {"kron:4,4294967296", "DEGREE should be"},
      {"kron:4x", "SCALE"},
      {"urand: 4", "the form is urand:SCALE[,DEGREE]"},
      {"grid:5", "the height is missing"},
      {"grid:0x5", "WIDTH should be a whole number from 1"},
      {"grid:5x", "HEIGHT"},
      {"grid:65536x65536", "at most 4294967295 vertices"},
      {"community:100", "the degree is missing"},
      {"community:0,4", "VERTICES should be"},
      {"community:4294967296,4", "VERTICES should be"},
      {"community:100,-1", "DEGREE should be a number"},
      {"community:100,nan", "DEGREE should be a number"},
      {"community:100,inf", "DEGREE should be a number"},
  };
  for (const auto& [given, message] : wrong) {
    const auto& text = given;
    EXPECT_THAT([&] { (void)parse_generator(text, 1); },
                ThrowsMessage<UsageError>(HasSubstr(message)))
        << text;
  }
  EXPECT_EQ(spec_of("kron:31,4294967295").draws, (std::uint64_t{1} << 31) * 4294967295u);
  EXPECT_EQ(spec_of("grid:4294967295x1").vertices, kMaxVertices);
}

TEST(GeneratedSize, IsThatOfTheGraphThatIsBuilt) {
  exec::ThreadPool pool(2);
  for (const char* text : {"kron:14", "kron:11,200", "kron:13,1", "urand:14", "urand:10,700",
                           "grid:300x70", "grid:1x1", "community:40000,8", "community:40000,40"}) {
    const GeneratorSpec spec = spec_of(text);
    for (const bool symmetrize : {false, true}) {
      for (const bool drop : {false, true}) {
        for (const bool keep : {false, true}) {
          const BuildOptions options{
              .symmetrize = symmetrize, .drop_self_loops = drop, .keep_duplicates = keep};
          exec::reset_peak(exec::Device::cpu(1));
          const std::uint64_t before = exec::memory_use(exec::Device::cpu(1)).current;
          const Graph graph = build(*make_source(spec), effective_options(spec, options), pool);
          const std::uint64_t held = exec::memory_use(exec::Device::cpu(1)).peak - before;
          SCOPED_TRACE(std::string(text) + (symmetrize ? " symmetrize" : "") +
                       (drop ? " drop_self_loops" : "") + (keep ? " keep_duplicates" : ""));
          const auto edges = static_cast<double>(graph.edges());
          const GeneratedSize size = generated_size(spec, options);
          const double expected = keep ? size.entries : size.distinct;
          const bool is_bound = spec.kind == GeneratorKind::community;
          EXPECT_LE(expected, 1.01 * edges);
          EXPECT_GE(expected, (is_bound ? 0.8 : 0.99) * edges);
          EXPECT_LE(least_bytes(spec, options, false), held);
          // Besides there are 64 KiB a thread, and where many edges are duplicates a band of them.
          EXPECT_GE(static_cast<double>(least_bytes(spec, options, false)) + (2 << 16),
                    0.4 * static_cast<double>(held));
        }
      }
    }
  }
}

TEST(GeneratedSize, IsRefusedWhereTheHostHasLess) {
  const exec::Device host = exec::Device::cpu(1);
  const GeneratorSpec spec = spec_of("kron:20");
  const auto check = [&](bool is_weighted) {
    check_host_memory(spec, {}, is_weighted, "kron:20", "use another host");
  };
  exec::set_memory_limit(host, least_bytes(spec, {}, false) + 4096);
  EXPECT_NO_THROW(check(false));
  EXPECT_THAT([&] { check(true); },
              ThrowsMessage<MemoryError>(
                  HasSubstr("kron:20 holds at least that while it is drawn: draw a smaller one, or "
                            "use another host")));
  exec::set_memory_limit(host, 0);
  EXPECT_NO_THROW(check(true));
}

}  // namespace
}  // namespace warren::graph
