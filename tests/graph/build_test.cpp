// SPDX-License-Identifier: Apache-2.0
// build() against ordered maps, for every shape, option, weight type and number of threads; what it
// refuses; what memory it takes.
#include <atomic>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/transform.hpp"

#include "reference/graph_csr.hpp"
#include "support/size.hpp"

namespace warren::graph {
namespace {

using reference::EdgeList;
using reference::ListSource;

std::vector<BuildOptions> all_options() {
  std::vector<BuildOptions> all;
  for (int bits = 0; bits < 8; ++bits)
    all.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
  return all;
}

std::string describe(const BuildOptions& options) {
  return std::string(options.symmetrize ? " symmetrize" : "") +
         (options.drop_self_loops ? " drop_self_loops" : "") +
         (options.keep_duplicates ? " keep_duplicates" : "");
}

void expect_same(const Graph& graph, const EdgeList& list, const BuildOptions& options) {
  ASSERT_EQ(graph.vertices, list.vertices);
  ASSERT_EQ(graph.offsets.size(), list.vertices + 1);
  ASSERT_EQ(graph.offsets[list.vertices], graph.edges());
  EXPECT_TRUE(reference::entries(graph) == reference::entries(reference::build(list, options)));
  EXPECT_EQ(graph.symmetry, options.symmetrize ? Symmetry::symmetric : Symmetry::unknown);
}

class BuildOnThreads : public testing::TestWithParam<int> {
 protected:
  exec::ThreadPool pool_{GetParam()};
};

TEST_P(BuildOnThreads, EqualsTheReference) {
  for (const auto& [name, plain] : reference::awkward_lists()) {
    for (const EdgeList& list :
         {plain, reference::with_int_weights(plain, 1), reference::with_float_weights(plain, 2)}) {
      const std::vector<BuildOptions> all = all_options();
      const auto kind = static_cast<std::size_t>(list.weight_type());
      const std::size_t step = testing_support::step_under_threads(3);
      for (std::size_t i = kind % step; i < all.size(); i += step) {
        const BuildOptions& options = all[i];
        SCOPED_TRACE(name + describe(options) + ", weights " + std::to_string(kind));
        ListSource source(list);
        const Graph graph = build(source, options, pool_);
        expect_same(graph, list, options);
        EXPECT_NO_THROW(validate(graph, name, pool_));
      }
    }
  }
}

TEST_P(BuildOnThreads, FindsTheNumberOfVertices) {
  const EdgeList list = reference::random_list(5000, 2000, 3);
  ListSource source(list, 5, 64, false);
  const Graph graph = build(source, {}, pool_);
  expect_same(graph, list, {});

  EdgeList ids{0, {{7, 2}, {3, 900}}, {}, {}};
  ListSource by_largest(ids, 1, 10, false);
  EXPECT_EQ(build(by_largest, {}, pool_).vertices, 901u);
  ids.vertices = 1200;  // The source learns of more vertices than its edges name.
  ListSource raised(ids, 1, 10, false);
  EXPECT_EQ(build(raised, {}, pool_).vertices, 1200u);
  ListSource nothing(EdgeList{}, 3, 10, false);
  EXPECT_EQ(build(nothing, {}, pool_).vertices, 0u);
}

TEST_P(BuildOnThreads, PiecesAndBatchesDoNotMatter) {
  const EdgeList list = reference::with_int_weights(reference::random_list(300, 4000, 4), 4);
  for (const std::uint64_t pieces : {1, 2, 31}) {
    for (const std::uint64_t batch : {1, 95, 96, 97, 100000}) {
      ListSource source(list, pieces, batch);
      expect_same(build(source, {true, true, false}, pool_), list, {true, true, false});
    }
  }
}

// A row of `count` entries among ids below `vertices`, against a plain sort.
void expect_sorted_row(std::uint64_t vertices, std::uint64_t count, exec::ThreadPool& pool) {
  EdgeList list = reference::with_float_weights(reference::random_list(vertices, count, count), 1);
  for (Edge& edge : list.edges) edge.source = 12345;
  ListSource source(list);
  const Graph graph = build(source, {false, false, true}, pool);
  std::vector<std::pair<Vertex, float>> expected;
  for (std::size_t i = 0; i < list.edges.size(); ++i)
    expected.emplace_back(list.edges[i].target, list.weights_float[i]);
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(graph.degree(12345), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(graph.targets[i], expected[i].first);
    ASSERT_EQ(graph.weights_float[i], expected[i].second);
  }
}

TEST_P(BuildOnThreads, RowsOfEveryLengthThatIsSortedItsOwnWay) {
  for (const std::uint64_t count : {31, 32, 33, 39, 40, 41, 4095, 4096, 4097, 50000})
    expect_sorted_row(1u << 17, count, pool_);
}

TEST(Build, SortsIdsOfFourBytes) {
  exec::ThreadPool pool(1);
  expect_sorted_row((1u << 24) + 2, 9000, pool);
}

TEST_P(BuildOnThreads, FloatWeightsHaveATotalOrder) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ascending{-kInfinity, -2.5f, -0.0f, 0.0f, 1e-40f, 3.0f, kInfinity};
  EdgeList list{2, {}, {}, {}};
  for (int copy = 0; copy < 9; ++copy) {
    for (std::size_t i = ascending.size(); i-- > 0;) {
      list.edges.push_back({0, 1});
      list.weights_float.push_back(ascending[i]);
    }
  }
  ListSource source(list);
  const Graph kept = build(source, {false, false, true}, pool_);
  for (std::uint64_t i = 0; i < kept.edges(); ++i) {
    ASSERT_EQ(kept.weights_float[i], ascending[i / 9]);
    ASSERT_EQ(std::signbit(kept.weights_float[i]), std::signbit(ascending[i / 9]));
  }
  EXPECT_EQ(build(source, {}, pool_).weights_float[0], -kInfinity);
}

TEST_P(BuildOnThreads, RefusesIdsPastTheSourcesVertices) {
  EdgeList list = reference::random_list(100, 1000, 1);
  list.vertices = 50;
  ListSource source(list);
  EXPECT_THROW((void)build(source, {}, pool_), InputError);
}

TEST_P(BuildOnThreads, RefusesTheLastId) {
  ListSource source(EdgeList{0, {{0, kNoVertex}}, {}, {}}, 1, 1, false);
  EXPECT_THROW((void)build(source, {}, pool_), InputError);
}

// Gives other edges at the second reading.
class FickleSource final : public EdgeSource {
 public:
  FickleSource(Edge first, Edge second) : edges_{first, second} {}
  [[nodiscard]] std::uint64_t vertices() const override { return 4; }
  [[nodiscard]] WeightType weight_type() const override { return WeightType::none; }
  [[nodiscard]] std::uint64_t pieces() const override { return 1; }
  void read(std::uint64_t, EdgeSink& sink) override {
    sink.take({&edges_[reading_], 1}, {}, {});
    reading_ = 1;
  }

 private:
  Edge edges_[2];
  std::size_t reading_ = 0;
};

TEST_P(BuildOnThreads, NoticesASourceThatChanges) {
  for (const Edge second : {Edge{1, 3}, Edge{0, 2}, Edge{3, 3}, Edge{9, 0}, Edge{0, 9}}) {
    FickleSource source({1, 2}, second);
    EXPECT_THROW((void)build(source, {}, pool_), InputError)
        << second.source << " " << second.target;
  }
}

class FailingSource final : public EdgeSource {
 public:
  [[nodiscard]] std::uint64_t vertices() const override { return 4; }
  [[nodiscard]] WeightType weight_type() const override { return WeightType::int32; }
  [[nodiscard]] std::uint64_t pieces() const override { return 100; }
  void read(std::uint64_t piece, EdgeSink&) override {
    if (piece == 41) throw InputError("line 41 is damaged");
  }
};

TEST_P(BuildOnThreads, PassesOnWhatTheSourceThrows) {
  FailingSource source;
  EXPECT_THAT([&] { (void)build(source, {}, pool_); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("line 41 is damaged")));
}

INSTANTIATE_TEST_SUITE_P(Threads, BuildOnThreads, testing::Values(1, 2, 3, 4));

class TooManyVertices final : public EdgeSource {
 public:
  [[nodiscard]] std::uint64_t vertices() const override { return kMaxVertices + 1; }
  [[nodiscard]] WeightType weight_type() const override { return WeightType::none; }
  [[nodiscard]] std::uint64_t pieces() const override { return 0; }
  void read(std::uint64_t, EdgeSink&) override {}
};

TEST(Build, RefusesMoreVerticesThanIdsCanName) {
  exec::ThreadPool pool(1);
  TooManyVertices source;
  EXPECT_THROW((void)build(source, {}, pool), InputError);
}

/// Builds the list, symmetrised, on two threads; the most memory held meanwhile must be at most
/// `limit` times the graph.
Graph build_within(double limit, EdgeList list, bool keep_duplicates) {
  const exec::Device host = exec::Device::cpu(1);
  exec::ThreadPool pool(2);
  const bool weighted = !list.weights_int.empty();
  ListSource source(std::move(list), 16, 4096);
  const std::uint64_t before = exec::memory_use(host).current;
  exec::reset_peak(host);
  Graph graph = build(source, {true, true, keep_duplicates}, pool);
  const std::uint64_t held = exec::memory_use(host).current - before;
  const std::uint64_t peak = exec::memory_use(host).peak - before;
  EXPECT_EQ(held, graph.offsets.size() * sizeof(EdgeOffset) + graph.edges() * (weighted ? 8 : 4));
  EXPECT_LE(static_cast<double>(peak), limit * static_cast<double>(held));
  return graph;
}

TEST(Build, HoldsLittleMoreThanTheGraph) {
  for (const bool weighted : {false, true}) {
    EdgeList list = reference::random_list(100000, 1500000, 1);
    if (weighted) list = reference::with_int_weights(std::move(list), 1);
    (void)build_within(1.5, std::move(list), false);
  }
}

TEST(Build, HoldsLittleMoreThanTheGraphWhereMostEdgesAreDuplicates) {
  for (const std::size_t times : {2u, 3u, 12u}) {
    for (const bool weighted : {false, true}) {
      if (testing_support::is_small() && weighted != (times == 12)) continue;
      if (testing_support::sees_few() && times != 12) continue;
      SCOPED_TRACE(std::to_string(times) + (weighted ? " times, weighted" : " times"));
      // Every edge in both directions, `times` times in all; some rows without any.
      EdgeList list = reference::random_list(40000, 300000 / times, 1);
      list.vertices = 50000;
      const std::vector<Edge> once = list.edges;
      for (std::size_t i = 1; i < times; ++i) {
        for (const Edge& edge : once)
          list.edges.push_back(i % 2 != 0 ? Edge{edge.target, edge.source} : edge);
      }
      if (weighted) list = reference::with_int_weights(std::move(list), 1);
      const EdgeList same = list;
      const Graph graph = build_within(1.5, std::move(list), false);
      expect_same(graph, same, {true, true, false});
    }
  }
}

/// The same edge over and over, then all others once: the sample is far off for each band.
TEST(Build, DuplicatesOfFewRows) {
  EdgeList list = reference::random_list(30000, 100000, 1);
  list.edges.resize(400000, Edge{7, 9});
  expect_same(build_within(4.0, list, false), list, {true, true, false});
  (void)build_within(1.5, list, true);
}

}  // namespace
}  // namespace warren::graph
