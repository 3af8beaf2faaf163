// SPDX-License-Identifier: Apache-2.0
// Transforms, statistics and validation against ordered maps, at several thread counts.
#include "warren/graph/transform.hpp"

#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "reference/graph_csr.hpp"

namespace warren::graph {
namespace {

using reference::EdgeList;
using reference::EdgeMap;
using reference::ListSource;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr BuildOptions kKeepAll{false, false, true};

Graph built(const EdgeList& list, const BuildOptions& options, exec::ThreadPool& pool) {
  ListSource source(list);
  return build(source, options, pool);
}

std::vector<Vertex> random_permutation(std::uint64_t n, std::uint64_t seed) {
  std::vector<Vertex> ids(n);
  std::iota(ids.begin(), ids.end(), Vertex{0});
  std::shuffle(ids.begin(), ids.end(), std::mt19937_64(seed));
  return ids;
}

bool same_entries(const Graph& graph, const EdgeMap& expected) {
  return reference::entries(graph) == reference::entries(expected);
}

class TransformOnThreads : public testing::TestWithParam<int> {
 protected:
  // Calls check(name, graph) for every awkward graph, without and with weights, duplicates kept.
  template <class Check>
  void for_each_graph(Check&& check) {
    for (const auto& [name, plain] : reference::awkward_lists()) {
      for (const EdgeList& list : {plain, reference::with_int_weights(plain, 3),
                                   reference::with_float_weights(plain, 4)}) {
        SCOPED_TRACE(name + ", weights " + std::to_string(static_cast<int>(list.weight_type())));
        check(built(list, kKeepAll, pool_));
      }
    }
  }

  exec::ThreadPool pool_{GetParam()};
};

TEST_P(TransformOnThreads, TransposeEqualsTheReferenceAndIsItsOwnInverse) {
  for_each_graph([&](const Graph& graph) {
    const Graph reversed = transpose(graph, pool_);
    EXPECT_TRUE(same_entries(reversed, reference::transposed(reference::edge_map(graph))));
    EXPECT_TRUE(reference::entries(transpose(reversed, pool_)) == reference::entries(graph));
  });
}

TEST_P(TransformOnThreads, SymmetrizeEqualsTheReference) {
  for_each_graph([&](const Graph& graph) {
    const EdgeMap both = reference::symmetrized(reference::edge_map(graph));
    Graph kept = symmetrize(graph, true, pool_);
    EXPECT_TRUE(same_entries(kept, both));
    const Graph merged = symmetrize(graph, false, pool_);
    EXPECT_TRUE(same_entries(merged, reference::merged(both)));
    EXPECT_EQ(merged.symmetry, Symmetry::symmetric);
    // Known symmetric: nothing is added again, but duplicates can still be merged.
    EXPECT_EQ(symmetrize(kept, true, pool_).targets.data(), kept.targets.data());
    EXPECT_TRUE(reference::entries(symmetrize(kept, false, pool_)) == reference::entries(merged));
    kept.symmetry = Symmetry::unknown;
    EXPECT_TRUE(is_symmetric(kept, pool_));
    EXPECT_EQ(kept.symmetry, Symmetry::symmetric);
  });
}

TEST_P(TransformOnThreads, RelabelEqualsTheReference) {
  for_each_graph([&](const Graph& graph) {
    const std::vector<Vertex> ids = random_permutation(graph.vertices, 11);
    const Graph relabelled = relabel(graph, ids, pool_);
    EXPECT_TRUE(same_entries(relabelled, reference::relabelled(reference::edge_map(graph), ids)));
    std::vector<Vertex> back(ids.size());
    for (std::size_t v = 0; v < ids.size(); ++v) back[ids[v]] = static_cast<Vertex>(v);
    EXPECT_TRUE(reference::entries(relabel(relabelled, back, pool_)) == reference::entries(graph));
  });
}

TEST_P(TransformOnThreads, RelabelRefusesWhatIsNoPermutation) {
  const Graph graph = built(reference::random_list(20000, 100, 1), {}, pool_);
  std::vector<Vertex> ids = random_permutation(20000, 2);
  EXPECT_THAT([&] { (void)relabel(graph, std::span(ids).first(19999), pool_); },
              ThrowsMessage<UsageError>(HasSubstr("19999 new ids for 20000 vertices")));
  ids[7] = ids[15000];
  EXPECT_THAT([&] { (void)relabel(graph, ids, pool_); },
              ThrowsMessage<UsageError>(HasSubstr("should be a permutation")));
  ids[7] = 20000;
  EXPECT_THAT([&] { (void)relabel(graph, ids, pool_); },
              ThrowsMessage<UsageError>(HasSubstr("below 20000")));
}

TEST_P(TransformOnThreads, IsSymmetricSeesOneMissingEdgeOrWeight) {
  for (EdgeList list : {reference::random_list(500, 3000, 1),
                        reference::with_int_weights(reference::random_list(500, 3000, 1), 1),
                        reference::with_float_weights(reference::random_list(500, 3000, 1), 1)}) {
    Graph graph = built(list, {true, false, false}, pool_);
    graph.symmetry = Symmetry::unknown;
    EXPECT_TRUE(is_symmetric(graph, pool_));
    EdgeList more = list;
    for (std::size_t i = 0; i < list.edges.size(); ++i) {  // Both directions, listed.
      more.edges.push_back({list.edges[i].target, list.edges[i].source});
      if (!list.weights_int.empty()) more.weights_int.push_back(list.weights_int[i]);
      if (!list.weights_float.empty()) more.weights_float.push_back(list.weights_float[i]);
    }
    Graph listed = built(more, {}, pool_);
    EXPECT_TRUE(is_symmetric(listed, pool_));
    EdgeList broken = more;
    broken.edges.back() = {0, 499};
    broken.edges.push_back({3, 3});
    if (!more.weights_int.empty()) broken.weights_int.push_back(1);
    if (!more.weights_float.empty()) broken.weights_float.push_back(1.0f);
    Graph directed = built(broken, kKeepAll, pool_);
    EXPECT_FALSE(is_symmetric(directed, pool_));
    EXPECT_EQ(directed.symmetry, Symmetry::directed);
  }
  EdgeList unequal{2, {{0, 1}, {1, 0}}, {4, 5}, {}};
  Graph weights_differ = built(unequal, {}, pool_);
  EXPECT_FALSE(is_symmetric(weights_differ, pool_));
  Graph zeros = built({2, {{0, 1}, {1, 0}}, {}, {0.0f, -0.0f}}, {}, pool_);
  EXPECT_TRUE(is_symmetric(zeros, pool_));
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  Graph none = built({2, {{0, 1}, {1, 0}}, {}, {kNone, kNone}}, {}, pool_);
  EXPECT_TRUE(is_symmetric(none, pool_));
  Graph half = built({2, {{0, 1}, {1, 0}}, {}, {kNone, 1.0f}}, {}, pool_);
  EXPECT_FALSE(is_symmetric(half, pool_));
}

TEST_P(TransformOnThreads, UniformWeightsAreBoundedAndEqualBothWays) {
  Graph graph = built(reference::random_list(1000, 20000, 1), {true, true, false}, pool_);
  set_uniform_weights(graph, 5, 9, 42, pool_);
  EXPECT_EQ(graph.weight_type, WeightType::int32);
  std::array<std::uint64_t, 5> seen{};
  for (const std::int32_t weight : graph.weights_int) {
    ASSERT_TRUE(weight >= 5 && weight <= 9);
    ++seen[static_cast<std::size_t>(weight - 5)];
  }
  for (const std::uint64_t count : seen) EXPECT_GT(count, graph.edges() / 6);
  graph.symmetry = Symmetry::unknown;
  EXPECT_TRUE(is_symmetric(graph, pool_));
  const std::vector<std::int32_t> before(graph.weights_int.begin(), graph.weights_int.end());
  set_uniform_weights(graph, 5, 9, 43, pool_);
  EXPECT_FALSE(std::equal(before.begin(), before.end(), graph.weights_int.begin()));
  set_uniform_weights(graph, 0, 2147483647, 1, pool_);
  EXPECT_THROW(set_uniform_weights(graph, -1, 4, 1, pool_), UsageError);
  EXPECT_THROW(set_uniform_weights(graph, 5, 4, 1, pool_), UsageError);
  EXPECT_THROW(set_uniform_weights(graph, 5, 2147483648, 1, pool_), UsageError);
  drop_weights(graph);
  EXPECT_EQ(graph.weight_type, WeightType::none);
  EXPECT_TRUE(graph.weights_int.empty());
}

TEST_P(TransformOnThreads, StatisticsEqualCounting) {
  for_each_graph([&](Graph graph) {
    std::vector<std::uint64_t> degree(graph.vertices, 0);
    std::vector<bool> connected(graph.vertices, false);
    std::uint64_t loops = 0;
    for (const reference::Entry& entry : reference::entries(graph)) {
      ++degree[entry.source];
      if (entry.source == entry.target) ++loops;
      if (entry.source != entry.target) connected[entry.source] = connected[entry.target] = true;
    }
    const auto largest = std::max_element(degree.begin(), degree.end());
    const Statistics result = statistics(graph, pool_);
    EXPECT_EQ(result.max_degree, degree.empty() ? 0 : *largest);
    EXPECT_EQ(result.max_degree_vertex,
              degree.empty() ? 0 : static_cast<Vertex>(largest - degree.begin()));
    EXPECT_EQ(result.self_loops, loops);
    EXPECT_EQ(result.isolated,
              static_cast<std::uint64_t>(std::count(connected.begin(), connected.end(), false)));
    EXPECT_DOUBLE_EQ(result.mean_degree, degree.empty() ? 0.0
                                                        : static_cast<double>(graph.edges()) /
                                                              static_cast<double>(graph.vertices));
    const Graph undirected = symmetrize(graph, false, pool_);
    EXPECT_EQ(statistics(undirected, pool_).isolated, result.isolated);
  });
}

TEST_P(TransformOnThreads, ValidateNamesWhatIsWrong) {
  const auto fresh = [&] {
    return built(reference::with_int_weights(reference::random_list(100, 1000, 1), 1), {}, pool_);
  };
  const auto expect_refused = [&](const Graph& graph, const char* message) {
    EXPECT_THAT([&] { validate(graph, "a.wgr", pool_); },
                ThrowsMessage<InputError>(HasSubstr(message)));
    EXPECT_THAT([&] { validate(graph, "a.wgr", pool_); },
                ThrowsMessage<InputError>(HasSubstr("a.wgr")));
  };
  EXPECT_NO_THROW(validate(fresh(), "a.wgr", pool_));
  Graph graph = fresh();
  graph.offsets[0] = 1;
  expect_refused(graph, "the first offset is 1");
  graph = fresh();
  std::swap(graph.offsets[40], graph.offsets[41]);
  expect_refused(graph, "the offsets of vertex 40 fall");
  graph = fresh();
  graph.offsets[100] += 1;
  expect_refused(graph, "the last offset");
  graph = fresh();
  graph.targets[77] = 100;
  graph.targets[78] = 200;
  expect_refused(graph, "edge 77 leads to vertex 100; ids should be below 100");
  graph = fresh();
  graph.weights_int = {};
  expect_refused(graph, "0 integer and 0 float weights");
  graph = fresh();
  graph.vertices = 99;
  expect_refused(graph, "101 offsets for 99 vertices");
  graph = fresh();
  graph.original_ids = memory::HostArray<std::uint64_t>(3);
  expect_refused(graph, "3 original ids");
}

INSTANTIATE_TEST_SUITE_P(Threads, TransformOnThreads, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace warren::graph
