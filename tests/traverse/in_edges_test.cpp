// SPDX-License-Identifier: Apache-2.0
// In-edges made on a shard's device against transpose(), on every shape, weighted and not; shards
// ordered by degree there.
#include "warren/graph/in_edges.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "warren/graph/degree_order.hpp"
#include "warren/graph/transform.hpp"

#include "traverse/fixtures.hpp"

namespace warren {
namespace {

template <class T>
std::vector<T> on_host(const exec::Stream& stream, const T* data, std::uint64_t count) {
  std::vector<T> values(data == nullptr ? 0 : count);
  if (data != nullptr) exec::copy(stream, values.data(), data, count * sizeof(T));
  stream.synchronize();
  return values;
}

template <class T>
void expect_same(const std::vector<T>& found, const memory::HostArray<T>& right) {
  EXPECT_TRUE(std::ranges::equal(found, right.span()));
}

enum class Weights { none, integers, numbers };

graph::Graph weighted(graph::Graph graph, Weights weights, exec::ThreadPool& pool) {
  if (weights == Weights::none) return graph;
  graph::set_uniform_weights(graph, 1, 900, 3, pool);
  if (weights == Weights::integers) return graph;
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (std::uint64_t e = 0; e < graph.edges(); ++e)
    graph.weights_float[e] =
        static_cast<float>(graph.weights_int[e]) / 7.0f + static_cast<float>(e);
  graph.weights_int = {};
  graph.weight_type = graph::WeightType::float32;
  return graph;
}

void check_all(exec::DeviceKind kind) {
  exec::ThreadPool pool(2);
  team::TeamOptions options;
  options.kind = kind;
  options.threads = 2;
  for (const auto& [name, shape] : fixtures::shapes()) {
    for (const Weights weights : {Weights::none, Weights::integers, Weights::numbers}) {
      SCOPED_TRACE(name + ", weights " + std::to_string(static_cast<int>(weights)));
      graph::ShardSource source;
      source.out = std::make_shared<const graph::Graph>(weighted(shape, weights, pool));
      source.cuts = {0, source.out->vertices};
      graph::Graph directed = *source.out;
      directed.symmetry = graph::Symmetry::unknown;  // transpose() turns what is not its own.
      const graph::Graph right = graph::transpose(directed, pool);
      team::run_team(options, [&](team::Team& team) {
        const exec::Stream stream(team.device());
        graph::Shard shard = graph::make_shard(team, source);
        ASSERT_FALSE(shard.has_in());
        graph::add_in_edges(stream, shard);
        ASSERT_TRUE(shard.has_in());
        const std::uint64_t edges = right.edges();
        EXPECT_EQ(shard.in.count, right.vertices);
        expect_same(on_host(stream, shard.in.offsets, right.vertices + std::uint64_t{1}),
                    right.offsets);
        expect_same(on_host(stream, shard.in.targets, edges), right.targets);
        expect_same(on_host(stream, shard.in.weights_int, edges), right.weights_int);
        expect_same(on_host(stream, shard.in.weights_float, edges), right.weights_float);
        EXPECT_THROW(graph::add_in_edges(stream, shard), UsageError);
      });
    }
  }
}

TEST(InEdges, EqualTranspose) { check_all(exec::DeviceKind::cpu); }

TEST(InEdgesCuda, EqualTranspose) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(exec::DeviceKind::cuda);
}

void check_orders(exec::DeviceKind kind) {
  exec::ThreadPool pool(2);
  team::TeamOptions options;
  options.kind = kind;
  options.threads = 2;
  for (const auto& [name, shape] : fixtures::shapes()) {
    SCOPED_TRACE(name);
    const graph::ShardSource source = graph::shard_source(shape, 1, pool);
    const Vertex n = shape.vertices;
    team::run_team(options, [&](team::Team& team) {
      const exec::Stream stream(team.device());
      const graph::Shard shard = graph::make_shard(team, source);
      const graph::Shard ordered = graph::order_by_degree(stream, shard);
      const auto old_id = ordered.old_id->to_host(stream), new_id = ordered.new_id->to_host(stream);
      const auto check = [&](const graph::CsrView& found, const graph::Graph& right,
                             bool is_sorted) {
        const auto offsets = on_host(stream, found.offsets, n + std::uint64_t{1});
        const auto targets = on_host(stream, found.targets, right.edges());
        for (Vertex i = 0; i < n; ++i) {
          std::vector<Vertex> list;
          for (std::uint64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
            EXPECT_TRUE(!is_sorted || e == offsets[i] || targets[e - 1] <= targets[e]);
            list.push_back(old_id[targets[e]]);
          }
          if (is_sorted) std::ranges::sort(list);
          EXPECT_TRUE(std::ranges::equal(list, right.neighbours(old_id[i])));
        }
      };
      check(ordered.out, *source.out, shard.is_symmetric);
      check(ordered.in, *source.in, true);
      EXPECT_EQ(ordered.is_symmetric, shard.is_symmetric);
      std::vector<double> ranks(n);
      for (Vertex v = 0; v < n; ++v) {
        EXPECT_EQ(old_id[new_id[v]], v);
        ranks[v] = old_id[v];
        if (v == 0) continue;
        const auto before = source.out->neighbours(old_id[v - 1]).size();
        const auto now = source.out->neighbours(old_id[v]).size();
        EXPECT_TRUE(before > now || (before == now && old_id[v - 1] < old_id[v]));
      }
      memory::Buffer<double> from(team.device(), n), to(team.device(), n);
      from.upload(stream, ranks);
      graph::in_old_order(stream, ordered, from.data(), to.data());
      const auto back = to.to_host(stream);
      for (Vertex v = 0; v < n; ++v) EXPECT_EQ(back[v], v);
    });
  }
}

TEST(DegreeOrder, IsThatOfTheDegrees) { check_orders(exec::DeviceKind::cpu); }

TEST(DegreeOrderCuda, IsThatOfTheDegrees) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_orders(exec::DeviceKind::cuda);
}

TEST(InEdges, AreOfOneRankAlone) {
  team::TeamOptions options;
  options.ranks = 2;
  graph::ShardSource source;
  source.out = std::make_shared<const graph::Graph>(fixtures::path(9));
  source.cuts = {0, 4, 9};
  EXPECT_THROW(team::run_team(options,
                              [&](team::Team& team) {
                                graph::Shard shard = graph::make_shard(team, source);
                                graph::add_in_edges(exec::Stream(team.device()), shard);
                              }),
               UsageError);
}

}  // namespace
}  // namespace warren
