// SPDX-License-Identifier: Apache-2.0
// Products over teams of which some ranks have no rows, or rows without entries: whether entries
// have values is a fact of the matrix, not of a rank's part of it.
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/sparse/tuner.hpp"

#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"

namespace warren::sparse {
namespace {

using testing_support::near;
using testing_support::random_dense;
using testing_support::strided;
using Kind = Normalization::Kind;

constexpr std::uint64_t kColumns = 3;

/// Shapes whose entries lie with few ranks: in one row, in one column, in the first or the last
/// rows; with fewer rows than ranks; with none at all.
std::vector<fixtures::Named> lopsided() {
  const graph::Graph out_star = fixtures::star(300, false);
  exec::ThreadPool pool(2);
  std::vector<fixtures::Named> all;
  all.push_back({"two rows, the first full", fixtures::from_list(2, {{0, 0}, {0, 1}})});
  all.push_back({"two rows, the last full", fixtures::from_list(2, {{1, 0}, {1, 1}})});
  all.push_back({"one vertex with a loop", fixtures::from_list(1, {{0, 0}})});
  all.push_back({"three vertices", fixtures::path(3)});
  all.push_back({"one entry", fixtures::from_list(40, {{37, 2}})});
  all.push_back({"no entries", fixtures::from_list(20, {})});
  all.push_back({"one row", out_star});
  all.push_back({"one column", graph::transpose(out_star, pool)});
  all.push_back({"first rows", fixtures::from_list(64, {{0, 1}, {1, 63}, {2, 31}, {2, 40}})});
  all.push_back({"random", fixtures::random_graph(60, 300, 7, false)});
  return all;
}

/// The shape without weights, with integer and with real ones.
std::vector<fixtures::Named> with_all_weights(const fixtures::Named& shape) {
  return {shape,
          {shape.name + ", integer weights", fixtures::weighted(shape.graph, 3)},
          {shape.name + ", real weights", fixtures::float_weighted(shape.graph)}};
}

std::vector<int> team_sizes() {
  if (testing_support::is_small()) return {1, 2, 3, 8};
  return {1, 2, 3, 4, 5, 6, 7, 8};
}

/// Cuts at equal numbers of rows: ranks have rows, but perhaps no entries.
std::vector<std::uint64_t> equal_cuts(const graph::Graph& graph, int ranks) {
  std::vector<std::uint64_t> cuts;
  for (int q = 0; q <= ranks; ++q) {
    cuts.push_back(std::uint64_t{graph.vertices} * static_cast<std::uint64_t>(q) /
                   static_cast<std::uint64_t>(ranks));
  }
  return cuts;
}

struct Norm {
  Normalization normalization;
  reference::Norm reference;
};

/// One rank's part of A B, of all ways to compute it.
class RankCheck {
 public:
  RankCheck(team::Team& team, const graph::Graph& graph, const graph::Shard& shard,
            const Norm& norm)
      : team_(team),
        stream_(team.device()),
        rows_(make_rows(team, shard, norm.normalization)),
        b_(team, shard.cuts, kColumns, memory::Placement::device),
        c_(team.device(), shard.out.count * kColumns) {
    const std::uint64_t n = graph.vertices;
    const auto b = random_dense(n * kColumns, 5);
    const std::uint64_t first = shard.out.first * kColumns;
    const std::uint64_t count = shard.out.count * kColumns;
    b_.buffer().upload(
        stream_,
        std::span<const float>(strided<float>(b, kColumns, kColumns)).subspan(first, count));
    stream_.synchronize();
    const auto whole = reference::multiply(
        reference::entries_of(graph, norm.reference, norm.normalization.self_loops), n, kColumns,
        b);
    const auto part = [&](const std::vector<double>& values) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    expected_ = {part(whole.sum), part(whole.size)};
    EXPECT_EQ(rows_.is_weighted, graph.weight_type != graph::WeightType::none ||
                                     norm.normalization.kind == Kind::symmetric);
  }

  void strategies() {
    for (const Strategy strategy : all_strategies()) {
      run({strategy}, name_of(strategy));
      if (team_.size() > 2 && team_.size() % 2 == 0)
        run({strategy, 2}, name_of(strategy) + ", workgroups");
    }
  }
  /// What the model chooses, and what a few measured runs do.
  void automatic() {
    for (const std::uint32_t tries : {0u, 3u}) {
      TuneOptions options;
      options.tries = tries;
      const Tuning tuning = tune<float>(team_, rows_, b_, c_.data(), options);
      run(tuning.best, "auto, " + name_of(tuning.best.strategy));
    }
  }

 private:
  void run(const DistributedOptions& options, const std::string& name) {
    exec::fill_bytes(stream_, c_.data(), 0, c_.bytes());
    DistributedSpmm<float>(team_, rows_, kColumns, options).run(b_, c_.data());
    EXPECT_TRUE(near(c_.to_host(stream_), kColumns, expected_, kColumns))
        << name << ", rank " << team_.rank();
  }

  team::Team& team_;
  exec::Stream stream_;
  Rows rows_;
  memory::GlobalArray<float> b_;
  memory::Buffer<float> c_;
  reference::Product expected_;
};

/// body(check) on each rank of a team.
template <class Body>
void on_ranks(const fixtures::Named& named, team::TeamOptions options, bool has_equal_cuts,
              const Norm& norm, Body&& body) {
  SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks" +
               (has_equal_cuts ? ", equal rows" : ""));
  exec::ThreadPool pool(1);
  const graph::ShardSource source =
      has_equal_cuts
          ? graph::shard_source(named.graph, equal_cuts(named.graph, options.ranks), pool)
          : graph::shard_source(named.graph, options.ranks, pool);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    RankCheck check(team, named.graph, shard, norm);
    body(check);
  });
}

constexpr Norm kPlain{};

void check_strategies(const fixtures::Named& named, const std::vector<team::TeamOptions>& teams,
                      bool has_equal_cuts) {
  for (const auto& options : teams) {
    on_ranks(named, options, has_equal_cuts, kPlain, [](RankCheck& check) { check.strategies(); });
  }
}

void check_every_shape(const std::vector<team::TeamOptions>& teams) {
  for (const auto& shape : lopsided()) {
    for (const auto& named : with_all_weights(shape)) check_strategies(named, teams, false);
    check_strategies({shape.name + ", weighted", fixtures::weighted(shape.graph, 3)}, teams, true);
  }
}

std::vector<team::TeamOptions> cpu_teams(const std::vector<int>& sizes) {
  std::vector<team::TeamOptions> all;
  for (const int ranks : sizes) all.push_back({exec::DeviceKind::cpu, ranks, ranks});
  return all;
}

TEST(EmptyRanks, EveryStrategyKeepsTheWeights) { check_every_shape(cpu_teams(team_sizes())); }

TEST(EmptyRanks, OnTheLargestTeam) {
  for (const auto& shape : lopsided()) {
    if (shape.name != "one row" && shape.name != "one column") continue;
    check_strategies({shape.name, fixtures::weighted(shape.graph, 3)}, cpu_teams({kMaxRanks}),
                     false);
  }
}

TEST(EmptyRanks, AutoKeepsTheWeights) {
  for (const auto& shape : lopsided()) {
    for (const auto& named : with_all_weights(shape)) {
      for (const auto& options : cpu_teams({2, 4})) {
        on_ranks(named, options, false, kPlain, [](RankCheck& check) { check.automatic(); });
      }
    }
  }
}

TEST(EmptyRanks, NormalisationsAreOfTheWholeMatrix) {
  for (const auto& shape : lopsided()) {
    // Rows without entries have a degree of 0 otherwise, by which the reference divides.
    for (const Norm& norm : {Norm{{Kind::row_mean, true}, reference::Norm::row_mean},
                             Norm{{Kind::symmetric, true}, reference::Norm::symmetric}}) {
      for (const auto& options : cpu_teams({2, 3, 8})) {
        on_ranks(shape, options, true, norm, [](RankCheck& check) { check.strategies(); });
        on_ranks({shape.name + ", weighted", fixtures::weighted(shape.graph, 3)}, options, true,
                 norm, [](RankCheck& check) { check.strategies(); });
      }
    }
  }
}

TEST(EmptyRanks, SampledDenseProductsKeepTheWeights) {
  for (const auto& shape : lopsided()) {
    const graph::Graph graph = fixtures::weighted(shape.graph, 3);
    exec::ThreadPool pool(1);
    const auto entries = reference::entries_of(graph);
    for (const auto& options : cpu_teams({2, 3, 8})) {
      SCOPED_TRACE(shape.name + ", " + std::to_string(options.ranks) + " ranks");
      const graph::ShardSource source = graph::shard_source(graph, options.ranks, pool);
      team::run_team(options, [&](team::Team& team) {
        const graph::Shard shard = graph::make_shard(team, source);
        const exec::Stream stream(team.device());
        memory::GlobalArray<float> y(team, shard.cuts, 1, memory::Placement::device);
        y.buffer().upload(stream, std::vector<float>(shard.out.count, 1.0f));
        stream.synchronize();
        const std::vector<float> x(shard.out.count, 1.0f);
        DistributedSddmm<float> product(team, make_rows(team, shard), 1);
        product.run(x.data(), y);
        const std::vector<float> found = product.result();
        const EdgeOffset begin = graph.offsets[shard.out.first];
        for (EdgeOffset e = 0; e < found.size(); ++e)
          EXPECT_EQ(static_cast<double>(found[e]), entries[begin + e].value);
      });
    }
  }
}

TEST(EmptyRanks, RowsByHandSayWhetherTheMatrixHasValues) {
  const graph::Graph graph = fixtures::weighted(fixtures::star(40, false), 3);
  exec::ThreadPool pool(1);
  const graph::ShardSource source = graph::shard_source(graph, equal_cuts(graph, 2), pool);
  const auto product_of = [&](int wrong_rank) {
    team::run_team({.ranks = 2, .threads = 2}, [&](team::Team& team) {
      Rows rows = make_rows(team, graph::make_shard(team, source));
      if (team.rank() == wrong_rank) rows.is_weighted = false;
      const DistributedSpmm<float> product(team, rows, 1);
    });
  };
  EXPECT_NO_THROW(product_of(-1));
  EXPECT_THROW(product_of(0), UsageError);
  EXPECT_THROW(product_of(1), UsageError);
}

TEST(EmptyRanks, CudaEveryStrategyKeepsTheWeights) {
  const int present = exec::cuda_device_count();
  if (present == 0) GTEST_SKIP() << "there is no GPU here";
  std::vector<team::TeamOptions> teams;
  for (int ranks = 1; ranks <= present; ++ranks) teams.push_back(fixtures::cuda_team(ranks));
  check_every_shape(teams);
}

}  // namespace
}  // namespace warren::sparse
