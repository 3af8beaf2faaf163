// SPDX-License-Identifier: Apache-2.0
// Products with a distributed matrix in the order of the ranks' streams, by every strategy, with
// values and without: sums of whole numbers and quarters, which float32 holds whatever their order.
#include "warren/sparse/distributed_matrix.hpp"

#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/sparse/halo_split.hpp"

#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"
#include "support/backends.hpp"

namespace warren::sparse {
namespace {

float value_of(std::uint64_t vertex, std::uint64_t column) {
  return static_cast<float>((vertex * 5 + column * 3) % 4);
}
float scale_of(std::uint64_t vertex) { return vertex % 3 == 0 ? 0.5f : 2.0f; }
float self_of(std::uint64_t vertex) { return static_cast<float>(vertex % 2); }

constexpr float kGap = 77.0f;

struct Widths {
  std::uint64_t k, x_stride, y_stride;
};

/// Of a graph's edge; 1 where it has no weights.
float weight_of(const graph::Graph& graph, EdgeOffset e) {
  if (graph.weight_type == graph::WeightType::int32)
    return static_cast<float>(graph.weights_int[e]);
  return graph.weight_type == graph::WeightType::float32 ? graph.weights_float[e] : 1.0f;
}

/// 2 row_scale (A x + self x) + beta 3, with gaps that stay.
std::vector<float> expected_rows(const graph::Graph& graph, const DistributedMatrix& matrix,
                                 const Widths& w, float beta, bool has_scales) {
  std::vector<float> rows(matrix.rows() * w.y_stride, kGap);
  for (std::uint64_t r = 0; r < matrix.rows(); ++r) {
    const auto v = static_cast<Vertex>(matrix.first() + r);
    for (std::uint64_t c = 0; c < w.k; ++c) {
      float sum = has_scales ? self_of(v) * value_of(v, c) : 0.0f;
      for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e)
        sum += weight_of(graph, e) * value_of(graph.targets[e], c);
      rows[r * w.y_stride + c] = 2.0f * (has_scales ? scale_of(v) : 1.0f) * sum + beta * 3.0f;
    }
  }
  return rows;
}

template <class T>
void check_product(const exec::Stream& stream, const DistributedMatrix& matrix,
                   const graph::Graph& graph, const Widths& w, float beta, bool has_scales) {
  const std::uint64_t n = matrix.rows(), first = matrix.first();
  std::vector<T> x(n * w.x_stride, from_float<T>(kGap)), y(n * w.y_stride, from_float<T>(kGap));
  std::vector<float> scale, self;
  for (std::uint64_t r = 0; r < n; ++r) {
    scale.push_back(scale_of(first + r));
    self.push_back(self_of(first + r));
    for (std::uint64_t c = 0; c < w.k; ++c) {
      x[r * w.x_stride + c] = from_float<T>(value_of(first + r, c));
      y[r * w.y_stride + c] = from_float<T>(3.0f);
    }
  }
  auto x_there = testing_support::on_device(stream, x);
  auto y_there = testing_support::on_device(stream, y);
  const auto scale_there = testing_support::on_device(stream, scale);
  const auto self_there = testing_support::on_device(stream, self);
  matrix.multiply<T>(stream, {.x = x_there.data(),
                              .x_stride = w.x_stride,
                              .y = y_there.data(),
                              .y_stride = w.y_stride,
                              .k = w.k,
                              .alpha = 2.0f,
                              .beta = beta,
                              .row_scale = has_scales ? scale_there.data() : nullptr,
                              .self = has_scales ? self_there.data() : nullptr});
  // The next work may overwrite x.
  exec::fill_bytes(stream, x_there.data(), 0xff, x_there.bytes());
  const std::vector<T> found = y_there.to_host(stream);
  const std::vector<float> expected = expected_rows(graph, matrix, w, beta, has_scales);
  for (std::size_t i = 0; i < found.size(); ++i) {
    // The sums by 16 bits are rounded at each of several passes.
    const float tolerance = sizeof(T) == 4 ? 0.0f : std::abs(expected[i]) / 64.0f;
    ASSERT_NEAR(to_float(found[i]), expected[i], tolerance) << "row " << i / w.y_stride;
  }
}

/// Every strategy, and parameters that change its ways.
std::vector<DistributedOptions> ways(int ranks) {
  std::vector<DistributedOptions> all(1);
  for (const Strategy strategy : all_strategies()) all.push_back({.strategy = strategy});
  all.push_back({.strategy = Strategy::once, .deterministic = true});
  all.push_back({.strategy = Strategy::once, .chunks = 3});
  all.push_back({.strategy = Strategy::staged, .chunks = 3});
  all.push_back({.strategy = Strategy::pull, .piece_entries = 3, .interleave = 1});
  for (const int workgroup : {1, 2}) {
    if (ranks > workgroup && ranks % workgroup == 0)
      all.push_back({.strategy = Strategy::fused, .workgroup = workgroup});
  }
  return all;
}

void check(const team::TeamOptions& options, const fixtures::Named& named) {
  SCOPED_TRACE(named.name + ", " + testing_support::name_of(options));
  const graph::ShardSource source = fixtures::shard_source(named.graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    const exec::Stream stream(team.device());
    DistributedMatrix matrix(team, stream, make_rows(team, shard));
    EXPECT_EQ(matrix.is_weighted(), named.graph.weight_type != graph::WeightType::none);
    team.with_peer_memory([&] {
      team.barrier();
      for (const DistributedOptions& way : ways(team.size())) {
        SCOPED_TRACE(name_of(way.strategy) + ", workgroups of " + std::to_string(way.workgroup));
        matrix.set_strategy<float>(way);
        // Wider rows than before take new buffers.
        check_product<float>(stream, matrix, named.graph, {3, 3, 3}, 0.0f, false);
        check_product<float>(stream, matrix, named.graph, {8, 8, 12}, 1.0f, true);
        check_product<float>(stream, matrix, named.graph, {5, 7, 6}, 1.0f, true);
        if (testing_support::is_tiny()) continue;
        matrix.set_strategy<Half>(way);
        check_product<Half>(stream, matrix, named.graph, {33, 40, 33}, 1.0f, true);
        matrix.set_strategy<BFloat16>(way);
        check_product<BFloat16>(stream, matrix, named.graph, {2, 2, 2}, 0.0f, true);
      }
      team.device().synchronize();
      team.barrier();
    });
  });
}

/// Of all ranks' rows, some have values where others have no entries at all.
std::vector<fixtures::Named> shapes() {
  graph::BuildOptions keep;
  keep.keep_duplicates = true;
  return {{"random", fixtures::random_graph(150, 900, 3, false)},
          {"star", fixtures::star(testing_support::is_small() ? 500 : 2500, true)},
          {"one vertex with a loop", fixtures::from_list(1, {{0, 0}})},
          {"one entry", fixtures::from_list(40, {{37, 2}})},
          {"no entries", fixtures::from_list(20, {})},
          {"random, weights", fixtures::weighted(fixtures::random_graph(150, 900, 3, false), 4)},
          {"star, float weights", fixtures::float_weighted(fixtures::star(
                                      testing_support::is_small() ? 500 : 2500, true))},
          {"loops and duplicates, float weights",
           fixtures::float_weighted(fixtures::from_list(
               40, {{0, 0}, {0, 1}, {0, 1}, {1, 39}, {2, 2}, {4, 3}, {39, 0}, {39, 0}}, keep))},
          {"no entries, weights", fixtures::weighted(fixtures::from_list(20, {}), 1)}};
}

template <class Backend>
void check_all() {
  for (const auto& options : testing_support::teams<Backend>()) {
    for (const auto& named : shapes()) check(options, named);
  }
}

TEST(DistributedMatrix, MultipliesByEveryStrategy) { check_all<exec::Cpu>(); }

TEST(DistributedMatrixCuda, MultipliesByEveryStrategy) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all<exec::Cuda>();
}

/// Each rank gives row v of its halo as value_of(v) times one more than its number.
void check_push(const team::TeamOptions& options, const graph::Graph& graph, HaloBy by) {
  SCOPED_TRACE(testing_support::name_of(options));
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  std::vector<std::set<Vertex>> halos(static_cast<std::size_t>(options.ranks));
  for (std::size_t p = 0; p < halos.size(); ++p) {
    for (EdgeOffset e = graph.offsets[source.cuts[p]]; e < graph.offsets[source.cuts[p + 1]]; ++e)
      if (graph.targets[e] < source.cuts[p] || graph.targets[e] >= source.cuts[p + 1])
        halos[p].insert(graph.targets[e]);
  }
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    const exec::Stream stream(team.device());
    const DistributedMatrix matrix(team, stream, make_rows(team, shard, {}, false), by);
    team.with_peer_memory([&] {
      team.barrier();
      for (const std::uint64_t k : {1u, 5u, 4u}) {
        std::vector<float> rows, expected;
        for (const Vertex v : matrix.halo_ids())
          for (std::uint64_t c = 0; c < k; ++c)
            rows.push_back(value_of(v, c) * static_cast<float>(team.rank() + 1));
        for (std::uint64_t r = 0; r < matrix.rows(); ++r) {
          const auto v = static_cast<Vertex>(matrix.first() + r);
          float times = 0.0f;
          for (std::size_t p = 0; p < halos.size(); ++p)
            if (halos[p].contains(v)) times += static_cast<float>(p + 1);
          for (std::uint64_t c = 0; c < k; ++c) expected.push_back(times * value_of(v, c));
        }
        const auto there = testing_support::on_device(stream, rows);
        auto y = testing_support::on_device(stream, std::vector<float>(matrix.rows() * k, kGap));
        matrix.push(stream, there.data(), y.data(), k);
        EXPECT_EQ(y.to_host(stream), expected);
      }
      team.device().synchronize();
      team.barrier();
    });
  });
}

template <class Backend>
void check_all_pushes() {
  for (const auto& options : testing_support::teams<Backend>()) {
    for (const HaloBy by : {HaloBy::automatic, HaloBy::collectives})
      for (const auto& named : shapes()) check_push(options, named.graph, by);
    // A halo that comes in several parts is in another order than its vertices.
    if (!testing_support::is_small())
      check_push(options, fixtures::random_graph(60000, 240000, 5, false), HaloBy::automatic);
  }
}

TEST(DistributedMatrix, AddsUpWhatRanksPush) { check_all_pushes<exec::Cpu>(); }

TEST(DistributedMatrixCuda, AddsUpWhatRanksPush) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all_pushes<exec::Cuda>();
}

/// The strategies read rows where they lie.
TEST(DistributedMatrix, RefusesAStrategyWhereACollectiveMovesRows) {
  const graph::Graph graph = fixtures::path(20);
  const graph::ShardSource source = fixtures::shard_source(graph, 2);
  EXPECT_THAT(
      [&] {
        team::run_team({exec::DeviceKind::cpu, 2, 2}, [&](team::Team& team) {
          const graph::Shard shard = graph::make_shard(team, source);
          const exec::Stream stream(team.device());
          DistributedMatrix matrix(team, stream, make_rows(team, shard, {}, false),
                                   HaloBy::collectives);
          matrix.set_strategy<float>({.strategy = Strategy::staged});
          matrix.set_strategy<float>({.strategy = Strategy::pull});
        });
      },
      testing::ThrowsMessage<UsageError>(
          testing::HasSubstr("strategy pull: the ranks do not read each other's memory")));
}

/// Rows of which the product of each part is known, since x is 1: of own columns, and of the
/// halo's.
TEST(DistributedMatrix, IsSplitWithItsValues) {
  const graph::Graph graph = fixtures::float_weighted(fixtures::random_graph(90, 700, 5, false));
  for (const int ranks : {2, 4}) {
    const graph::ShardSource source = fixtures::shard_source(graph, ranks);
    team::run_team({exec::DeviceKind::cpu, ranks, ranks}, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const exec::Stream stream(team.device());
      const DistributedMatrix matrix(team, stream, make_rows(team, shard));
      const HaloSplit& split = *matrix.split(stream);
      const auto product = [&](const MatrixView& view, const SpmmPlan& plan) {
        const std::vector<float> ones(matrix.own_columns() + matrix.halo(), 1.0f);
        auto y = testing_support::on_device(stream, std::vector<float>(matrix.rows(), 0.0f));
        spmm(stream, view, plan, RowTable<float>(ones.data(), 1), y.data(), 1, 1);
        return y.to_host(stream);
      };
      const auto own = product(split.own(matrix.view()), split.own_plan());
      const auto halo = product(split.halo(matrix.view()), split.halo_plan());
      for (std::uint64_t r = 0; r < matrix.rows(); ++r) {
        float sums[2] = {};
        const std::uint64_t v = matrix.first() + r;
        for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
          const bool is_own = graph.targets[e] >= matrix.first() &&
                              graph.targets[e] < matrix.first() + matrix.rows();
          sums[is_own ? 0 : 1] += weight_of(graph, e);
        }
        EXPECT_EQ(own[r], sums[0]);
        EXPECT_EQ(halo[r], sums[1]);
      }
    });
  }
}

/// Rows made by hand.
TEST(DistributedMatrix, RefusesValuesOfSome) {
  const graph::Graph graph = fixtures::weighted(fixtures::path(20), 1);
  const graph::ShardSource source = fixtures::shard_source(graph, 2);
  const auto make = [&](const std::function<void(int rank, Rows& rows)>& spoil) {
    team::run_team({exec::DeviceKind::cpu, 2, 2}, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const exec::Stream stream(team.device());
      Rows rows = make_rows(team, shard);
      spoil(team.rank(), rows);
      const DistributedMatrix matrix(team, stream, rows);
    });
  };
  EXPECT_THAT(
      [&] {
        make([](int rank, Rows& rows) {
          if (rank == 0) return;
          rows.is_weighted = false;
          rows.values = {};
        });
      },
      testing::ThrowsMessage<UsageError>(
          testing::HasSubstr("1 of the 2 ranks say that the matrix has values")));
  EXPECT_THAT([&] { make([](int, Rows& rows) { rows.values = memory::HostArray<float>(3); }); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("entries and 3 values")));
}

void check_rows_back(const graph::Graph& graph) {
  const graph::ShardSource source = fixtures::shard_source(graph, 3);
  team::run_team({exec::DeviceKind::cpu, 3, 3}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    const exec::Stream stream(team.device());
    const Rows rows = make_rows(team, shard);
    const DistributedMatrix matrix(team, stream, rows);
    const Rows back = matrix.rows_on_host(stream);
    EXPECT_EQ(back.cuts, rows.cuts);
    EXPECT_EQ(back.first, rows.first);
    ASSERT_EQ(back.entries(), rows.entries());
    for (std::uint64_t r = 0; r < rows.count; ++r) EXPECT_EQ(back.end(r), rows.end(r));
    EXPECT_EQ(back.is_weighted, rows.is_weighted);
    ASSERT_EQ(back.values.size(), rows.values.size());
    for (EdgeOffset e = 0; e < rows.entries(); ++e) {
      EXPECT_EQ(back.columns[e], rows.columns[e]);
      EXPECT_EQ(back.value(e), rows.value(e));
    }
  });
}

/// What it was made of.
TEST(DistributedMatrix, GivesItsRowsBack) {
  const graph::Graph graph = fixtures::random_graph(90, 700, 5, false);
  check_rows_back(graph);
  check_rows_back(fixtures::weighted(graph, 7));
  check_rows_back(fixtures::float_weighted(graph));
}

}  // namespace
}  // namespace warren::sparse
