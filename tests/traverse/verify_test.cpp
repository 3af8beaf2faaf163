// SPDX-License-Identifier: Apache-2.0
// The checks of results, checked: correct results of the sequential references pass on every shape,
// and a result that breaks any one rule is caught and named.
#include "warren/traverse/verify.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/traverse/sssp.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

using testing::HasSubstr;

struct Tree {
  std::vector<Vertex> depth;
  std::vector<Vertex> parent;
};

/// A correct result: the reference's depths, and the largest possible parents.
Tree correct_tree(const graph::Graph& graph, Vertex source) {
  Tree tree{reference::bfs_depths(graph, source), {}};
  tree.parent.assign(graph.vertices, kNoVertex);
  for (Vertex u = 0; u < graph.vertices; ++u) {
    if (tree.depth[u] == kNoVertex) continue;
    for (const Vertex v : graph.neighbours(u)) {
      if (tree.depth[v] == tree.depth[u] + 1) tree.parent[v] = u;
    }
  }
  tree.parent[source] = source;
  return tree;
}

class VerifyBfs : public testing::Test {
 protected:
  traverse::Verdict verify(const Tree& tree, Vertex source = 0) {
    return traverse::verify_bfs(graph_, source, tree.depth, tree.parent, pool_);
  }
  void expect_caught(const Tree& tree, const std::string& message) {
    const traverse::Verdict verdict = verify(tree);
    EXPECT_FALSE(verdict.correct);
    EXPECT_THAT(verdict.message, HasSubstr(message));
  }

  exec::ThreadPool pool_{3};
  // 0 -> 1, 2; 1 -> 3; 2 -> 3; 3 -> 4; 4 -> 0; 5 -> 6, 0 (5 and 6 are not reached from 0).
  graph::Graph graph_ =
      fixtures::from_list(7, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 0}, {5, 6}, {5, 0}});
  Tree tree_ = correct_tree(graph_, 0);
};

TEST_F(VerifyBfs, PassesCorrectResultsOfEveryShape) {
  for (const auto& named : fixtures::shapes()) {
    SCOPED_TRACE(named.name);
    for (const Vertex source : {Vertex{0}, named.graph.vertices / 2, named.graph.vertices - 1}) {
      const Tree tree = correct_tree(named.graph, source);
      const auto verdict =
          traverse::verify_bfs(named.graph, source, tree.depth, tree.parent, pool_);
      EXPECT_TRUE(verdict.correct) << verdict.message;
    }
  }
}

TEST_F(VerifyBfs, PassesAnyOfSeveralParents) {
  for (const Vertex parent : {1, 2}) {
    tree_.parent[3] = parent;
    EXPECT_TRUE(verify(tree_).correct);
  }
}

TEST_F(VerifyBfs, CatchesTheSourcesDepth) {
  tree_.depth[0] = 1;
  expect_caught(tree_, "the source 0 has depth 1");
  tree_.depth[0] = kNoVertex;
  expect_caught(tree_, "the source 0 has depth");
}

TEST_F(VerifyBfs, CatchesTheSourcesParent) {
  tree_.parent[0] = 4;
  expect_caught(tree_, "the source 0 is not its own parent");
}

TEST_F(VerifyBfs, CatchesASecondSource) {
  tree_.depth[5] = 0;
  tree_.parent[5] = 5;
  expect_caught(tree_, "vertex 5 has depth 0");
}

TEST_F(VerifyBfs, CatchesAMissingParent) {
  tree_.parent[3] = kNoVertex;
  expect_caught(tree_, "vertex 3 has a depth but no parent");
}

TEST_F(VerifyBfs, CatchesAParentThatIsNoVertex) {
  tree_.parent[3] = 7;
  expect_caught(tree_, "the parent of vertex 3 is 7, which is no vertex");
}

TEST_F(VerifyBfs, CatchesAParentThatWasNotReached) {
  tree_.parent[3] = 5;
  expect_caught(tree_, "the parent of vertex 3, vertex 5, was not reached");
}

TEST_F(VerifyBfs, CatchesAParentOnTheWrongLevel) {
  tree_.parent[4] = 1;
  expect_caught(tree_, "vertex 4 has depth 3 and its parent 1 depth 1");
}

TEST_F(VerifyBfs, CatchesAParentWithoutAnEdge) {
  graph_ = fixtures::from_list(7, {{0, 1}, {0, 2}, {1, 3}, {3, 4}, {4, 0}, {5, 6}, {5, 0}});
  tree_.parent[3] = 2;
  expect_caught(tree_, "vertex 2 is the parent of vertex 3, but there is no edge between them");
}

TEST_F(VerifyBfs, CatchesAnEdgeAgainstItsDirection) {
  // 4 -> 0 is an edge, 0 -> 4 is none.
  tree_.depth[4] = 1;
  tree_.parent[4] = 0;
  expect_caught(tree_, "there is no edge between them");
}

TEST_F(VerifyBfs, CatchesAVertexLeftOut) {
  tree_.depth[4] = kNoVertex;
  tree_.parent[4] = kNoVertex;
  expect_caught(tree_, "the edge from 3 to 4 leaves the reached vertices");
}

TEST_F(VerifyBfs, CatchesADepthThatIsTooLarge) {
  // 0 -> 1 -> 2, and 0 -> 2: a tree over the longer way.
  graph_ = fixtures::from_list(3, {{0, 1}, {1, 2}, {0, 2}});
  expect_caught({{0, 1, 2}, {0, 0, 1}}, "the edge from 0 to 2 goes from depth 0 to 2");
}

TEST_F(VerifyBfs, CatchesAParentWithoutADepth) {
  tree_.parent[6] = 5;
  expect_caught(tree_, "vertex 6 has a parent but no depth");
}

TEST_F(VerifyBfs, NamesTheFirstOfSeveralForAnyNumberOfThreads) {
  const graph::Graph path = fixtures::path(50000);
  Tree tree = correct_tree(path, 0);
  for (const Vertex v : {20000u, 30000u, 49999u}) tree.parent[v] = kNoVertex;
  for (const int threads : {1, 2, 5}) {
    exec::ThreadPool pool(threads);
    EXPECT_EQ(traverse::verify_bfs(path, 0, tree.depth, tree.parent, pool).message,
              "vertex 20000 has a depth but no parent");
  }
}

TEST_F(VerifyBfs, SpeaksInTheFilesIds) {
  graph_.original_ids = memory::HostArray<std::uint64_t>(7);
  for (std::uint64_t v = 0; v < 7; ++v) graph_.original_ids[v] = 100 + v;
  tree_.parent[3] = kNoVertex;
  expect_caught(tree_, "vertex 103 has a depth but no parent");
}

TEST_F(VerifyBfs, RefusesArraysOfAnotherSize) {
  tree_.depth.pop_back();
  EXPECT_THROW((void)verify(tree_), UsageError);
  EXPECT_THROW((void)verify(correct_tree(graph_, 0), 7), UsageError);
}

class VerifySssp : public testing::Test {
 protected:
  traverse::Verdict verify(const std::vector<std::uint64_t>& distance, Vertex source = 0) {
    return traverse::verify_sssp(graph_, source, std::span<const std::uint64_t>(distance), pool_);
  }
  void expect_caught(const std::vector<std::uint64_t>& distance, const std::string& message) {
    const traverse::Verdict verdict = verify(distance);
    EXPECT_FALSE(verdict.correct);
    EXPECT_THAT(verdict.message, HasSubstr(message));
  }
  static graph::Graph weighted(graph::Graph graph, const std::vector<std::int32_t>& weights) {
    graph.weight_type = graph::WeightType::int32;
    graph.weights_int = memory::HostArray<std::int32_t>(graph.edges());
    for (EdgeOffset e = 0; e < graph.edges(); ++e)
      graph.weights_int[e] = weights[e % weights.size()];
    return graph;
  }

  exec::ThreadPool pool_{3};
  // 0 -> 1 (2), 0 -> 2 (7), 1 -> 2 (4), 2 -> 3 (1), 4 -> 3 (1); 4 is not reached from 0.
  graph::Graph graph_ =
      weighted(fixtures::from_list(5, {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {4, 3}}), {2, 7, 4, 1, 1});
  std::vector<std::uint64_t> distance_ = {0, 2, 6, 7, traverse::kUnreachedDistance};
};

TEST_F(VerifySssp, PassesCorrectResultsOfEveryShape) {
  EXPECT_TRUE(verify(distance_).correct);
  for (const auto& named : fixtures::shapes()) {
    SCOPED_TRACE(named.name);
    const graph::Graph integers = weighted(named.graph, {0, 3, 1, 0, 0, 9});
    graph::Graph reals = named.graph;
    reals.weight_type = graph::WeightType::float32;
    reals.weights_float = memory::HostArray<float>(reals.edges());
    for (EdgeOffset e = 0; e < reals.edges(); ++e)
      reals.weights_float[e] = e % 4 == 0 ? 1e-20f : 0.1f * static_cast<float>(e % 11);
    const Vertex source = named.graph.vertices / 2;
    const auto whole = reference::integer_distances(integers, source);
    const auto real = reference::real_distances(reals, source);
    const auto first =
        traverse::verify_sssp(integers, source, std::span<const std::uint64_t>(whole), pool_);
    EXPECT_TRUE(first.correct) << first.message;
    const auto second = traverse::verify_sssp(reals, source, std::span<const double>(real), pool_);
    EXPECT_TRUE(second.correct) << second.message;
  }
}

TEST_F(VerifySssp, CatchesTheSourcesDistance) {
  distance_[0] = 1;
  expect_caught(distance_, "the source 0 has distance 1");
}

TEST_F(VerifySssp, CatchesADistanceThatIsTooLarge) {
  distance_[2] = 7;
  expect_caught(distance_,
                "the edge from 1 to 2 of weight 4 leads from distance 2 to 7; at most 6");
}

TEST_F(VerifySssp, CatchesADistanceThatIsTooSmall) {
  distance_[3] = 6;
  expect_caught(distance_, "vertex 3 has distance 6, which no path from the source attains");
}

TEST_F(VerifySssp, CatchesAVertexLeftOut) {
  distance_[3] = traverse::kUnreachedDistance;
  expect_caught(distance_, "the edge from 2 to 3 leaves the reached vertices");
}

TEST_F(VerifySssp, CatchesAVertexThatCannotBeReached) {
  distance_[4] = 6;
  expect_caught(distance_, "vertex 4 has distance 6");
}

TEST_F(VerifySssp, CatchesACircleOfEdgesThatAddNothing) {
  // 0 -> 1 (5); 1 <-> 2 for nothing: each could attain the other's distance of 3.
  graph_ = weighted(fixtures::from_list(3, {{0, 1}, {1, 2}, {2, 1}}), {5, 0, 0});
  EXPECT_TRUE(verify({0, 5, 5}).correct);
  expect_caught({0, 3, 3}, "vertex 1 has distance 3");
}

TEST_F(VerifySssp, CatchesARealDistanceThatIsOffByOneBit) {
  graph::Graph graph = fixtures::path(3);
  graph.weight_type = graph::WeightType::float32;
  graph.weights_float = memory::HostArray<float>(2);
  graph.weights_float[0] = 0.1f;
  graph.weights_float[1] = 0.7f;
  std::vector<double> distance = reference::real_distances(graph, 0);
  EXPECT_TRUE(traverse::verify_sssp(graph, 0, std::span<const double>(distance), pool_).correct);
  for (const double to : {0.0, 2.0}) {
    std::vector<double> wrong = distance;
    wrong[2] = std::nextafter(wrong[2], to);
    EXPECT_FALSE(traverse::verify_sssp(graph, 0, std::span<const double>(wrong), pool_).correct);
  }
}

TEST_F(VerifySssp, RefusesWhatDoesNotFit) {
  EXPECT_THROW((void)verify({0, 1}), UsageError);
  EXPECT_THROW((void)verify(distance_, 5), UsageError);
  const std::vector<double> real(5, 0.0);
  EXPECT_THROW((void)traverse::verify_sssp(graph_, 0, std::span<const double>(real), pool_),
               UsageError);
}

TEST_F(VerifySssp, ChecksWeights) {
  EXPECT_TRUE(traverse::check_weights(graph_, pool_).correct);
  EXPECT_TRUE(traverse::check_weights(fixtures::path(5), pool_).correct);
  graph_.weights_int[2] = -1;
  EXPECT_THAT(traverse::check_weights(graph_, pool_).message,
              HasSubstr("the edge from 1 to 2 has the weight -1"));
}

class VerifyComponents : public testing::Test {
 protected:
  void expect_caught(const std::vector<Vertex>& label, const std::string& message) {
    const auto verdict = traverse::verify_components(graph_, label, pool_);
    EXPECT_FALSE(verdict.correct);
    EXPECT_THAT(verdict.message, HasSubstr(message));
  }
  exec::ThreadPool pool_{3};
  // {0, 3, 4}, {1, 2}, {5}.
  graph::Graph graph_ = fixtures::from_list(6, {{3, 0}, {3, 4}, {2, 1}});
};

TEST_F(VerifyComponents, PassesCorrectResultsOfEveryShape) {
  for (const auto& named : fixtures::shapes()) {
    const auto label = reference::component_labels(named.graph);
    const auto verdict = traverse::verify_components(named.graph, label, pool_);
    EXPECT_TRUE(verdict.correct) << named.name << ": " << verdict.message;
  }
}

TEST_F(VerifyComponents, CatchesWhatIsWrong) {
  EXPECT_TRUE(
      traverse::verify_components(graph_, std::vector<Vertex>{0, 1, 1, 0, 0, 5}, pool_).correct);
  expect_caught({0, 1, 1, 0, 4, 5}, "the edge from 3 to 4 joins the labels 0 and 4");
  expect_caught({0, 1, 2, 0, 0, 5}, "the edge from 2 to 1 joins");
  expect_caught({0, 2, 2, 0, 0, 5}, "the label of vertex 1 is 2; the vertex itself is smaller");
  expect_caught({0, 1, 1, 0, 0, 2}, "the label of vertex 5 is vertex 2, whose own label is 1");
  expect_caught({0, 1, 1, 0, 0, 6}, "the label of vertex 5 is 6, which is no vertex");
  expect_caught({0, 1, 1, 0, 0, 0}, "there are 2 labels for 3 components");
  expect_caught({0, 0, 0, 0, 0, 5}, "there are 2 labels for 3 components");
}

TEST_F(VerifyComponents, RefusesLabelsOfAnotherSize) {
  EXPECT_THROW((void)traverse::verify_components(graph_, std::vector<Vertex>{0, 1, 1, 0, 0}, pool_),
               UsageError);
}

class VerifyPageRank : public testing::Test {
 protected:
  traverse::Verdict verify(const std::vector<double>& ranks, double bound = 1e-9) {
    return traverse::verify_pagerank(graph_, 0.85, ranks, bound, pool_);
  }
  void expect_caught(const std::vector<double>& ranks, const std::string& message) {
    const traverse::Verdict verdict = verify(ranks);
    EXPECT_FALSE(verdict.correct);
    EXPECT_THAT(verdict.message, HasSubstr(message));
  }

  exec::ThreadPool pool_{3};
  graph::Graph graph_ = fixtures::random_graph(2000, 9000, 5, false);
  std::vector<double> ranks_ = reference::pagerank(graph_, 0.85, 1e-13, 1000);
};

TEST_F(VerifyPageRank, PassesCorrectResultsOfEveryShape) {
  for (const auto& named : fixtures::shapes()) {
    const std::vector<double> ranks = reference::pagerank(named.graph, 0.85, 1e-13, 1000);
    const auto verdict = traverse::verify_pagerank(named.graph, 0.85, ranks, 1e-11, pool_);
    EXPECT_TRUE(verdict.correct) << named.name << ": " << verdict.message;
  }
}

TEST_F(VerifyPageRank, CatchesWhatIsNoRank) {
  for (const double value : {-1e-9, std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> ranks = ranks_;
    ranks[17] = value;
    expect_caught(ranks, "the rank of vertex 17 is");
  }
}

TEST_F(VerifyPageRank, CatchesASumThatIsNotOne) {
  for (double& rank : ranks_) rank *= 1.001;
  expect_caught(ranks_, "the ranks sum to 1.001");
}

TEST_F(VerifyPageRank, CatchesRanksThatDoNotSolveTheEquation) {
  std::vector<double> uniform(ranks_.size(), 1.0 / static_cast<double>(ranks_.size()));
  expect_caught(uniform, "one more iteration changes the ranks by");
}

TEST_F(VerifyPageRank, CatchesTwoRanksExchangedAndNamesOne) {
  const auto largest = std::max_element(ranks_.begin(), ranks_.end());
  const auto smallest = std::min_element(ranks_.begin(), ranks_.end());
  std::iter_swap(largest, smallest);
  expect_caught(ranks_, "that of vertex");
}

TEST_F(VerifyPageRank, CatchesVerticesWithoutOutEdgesThatKeepTheirRank) {
  // 0 -> 1 -> 2: the rank of 2 flows to all, equally, not back to 2.
  graph_ = fixtures::path(3);
  EXPECT_TRUE(verify(reference::pagerank(graph_, 0.85, 1e-15, 1000), 1e-12).correct);
  const double first = 0.05;
  const double second = first * 1.85;
  expect_caught({first, second, (first + 0.85 * second) / 0.15}, "that of vertex 2 most");
}

TEST_F(VerifyPageRank, CatchesAnotherDamping) {
  EXPECT_FALSE(traverse::verify_pagerank(graph_, 0.8, ranks_, 1e-6, pool_).correct);
}

TEST_F(VerifyPageRank, AllowsWhatTheBoundAllows) {
  ranks_[0] += 1e-7;
  ranks_[1] -= 1e-7;
  EXPECT_FALSE(verify(ranks_, 1e-8).correct);
  EXPECT_TRUE(verify(ranks_, 1e-6).correct);
}

TEST_F(VerifyPageRank, RefusesRanksOfAnotherSize) {
  ranks_.pop_back();
  EXPECT_THROW((void)verify(ranks_), UsageError);
}

}  // namespace
}  // namespace warren
