// SPDX-License-Identifier: Apache-2.0
// Aggregation over the rows of several ranks, whichever way they come: all sums are of whole
// numbers that float32 holds, so that they are the same whatever the order.
#include "warren/learn/neighbours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "learn/fixtures.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

float value_of(std::uint64_t vertex, std::uint64_t column) {
  return static_cast<float>((vertex * 7 + column * 3) % 13);
}

/// A^T's or A's rows times values, + twice what was there (1).
std::vector<float> expected_sums(const graph::Graph& graph, std::uint64_t first,
                                 std::uint64_t count, std::uint64_t k) {
  std::vector<float> sums(count * k, 2.0f);
  for (std::uint64_t r = 0; r < count; ++r) {
    for (const Vertex w : graph.neighbours(static_cast<Vertex>(first + r))) {
      for (std::uint64_t c = 0; c < k; ++c) sums[r * k + c] += value_of(w, c);
    }
  }
  return sums;
}

/// Sums forward and backward, whose rows may be overwritten afterwards.
void check_sums(Context& context, const Neighbourhood& both, const GraphPair& graphs,
                std::uint64_t k) {
  const exec::Stream& stream = context.stream();
  const Aggregation aggregation(context, both, graphs, Weighting::sum);
  const std::uint64_t first = both.out->first(), count = both.out->rows();
  std::vector<float> mine(count * k);
  for (std::uint64_t i = 0; i < mine.size(); ++i) mine[i] = value_of(first + i / k, i % k);
  auto x = testing_support::on_device(stream, mine);
  const std::vector<float> ones(count * k, 1.0f);
  // Once more, when the rows of the first time may be overwritten.
  for (int round = 0; round < 3; ++round) {
    auto y = testing_support::on_device(stream, ones);
    x.upload(stream, mine);
    aggregation.forward(context, x.data(), y.data(), k, 2.0f);
    exec::fill_bytes(stream, x.data(), 0xff, x.bytes());
    EXPECT_EQ(y.to_host(stream), expected_sums(*graphs.out, first, count, k));
    y.upload(stream, ones);
    x.upload(stream, mine);
    aggregation.backward(context, x.data(), y.data(), k, 2.0f);
    exec::fill_bytes(stream, x.data(), 0xff, x.bytes());
    EXPECT_EQ(y.to_host(stream), expected_sums(*graphs.in, first, count, k));
  }
}

void check_rank(team::Team& team, const GraphPair& graphs, std::uint64_t k, sparse::HaloBy by) {
  Context context(team);
  const exec::Stream& stream = context.stream();
  const Neighbourhood both(team, stream, graphs, by);
  context.set_rows(both.out->rows(), both.out->input_ids());
  check_sums(context, both, graphs, k);
  const std::uint64_t first = both.out->first(), count = both.out->rows();
  std::vector<float> mine(count * k);
  for (std::uint64_t i = 0; i < mine.size(); ++i) mine[i] = value_of(first + i / k, i % k);
  auto x = testing_support::on_device(stream, mine);
  const std::vector<Vertex>& halo = both.out->whole().halo_ids();
  x.upload(stream, mine);
  const float* pulled = both.out->pull(context, static_cast<const float*>(x.data()), k, 1);
  std::vector<float> rows(halo.size() * k);
  if (!rows.empty()) exec::copy(stream, rows.data(), pulled, rows.size() * sizeof(float));
  stream.synchronize();
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], value_of(halo[i / k], i % k));
}

void check(const team::TeamOptions& options, const fixtures::Named& named) {
  const GraphPair graphs = fixtures::pair_of(named.graph, options.ranks);
  for (const std::uint64_t k : {3, 16}) {
    for (const sparse::HaloBy by : {sparse::HaloBy::automatic, sparse::HaloBy::collectives}) {
      SCOPED_TRACE(named.name + ", " + testing_support::name_of(options) + ", k " +
                   std::to_string(k) +
                   (by == sparse::HaloBy::automatic ? ", reads" : ", collectives"));
      team::run_team(options, [&](team::Team& team) {
        team.with_peer_memory([&] {
          team.barrier();
          check_rank(team, graphs, k, by);
        });
      });
    }
  }
}

/// Small ones, and two whose halos come in several parts, one with rows of thousands of entries.
std::vector<fixtures::Named> graphs() {
  std::vector<fixtures::Named> all = fixtures::small_graphs();
  if (testing_support::is_tiny()) return all;
  if (testing_support::sees_few()) {
    all.push_back({"kronecker", fixtures::generated("kron:13", true)});
    return all;
  }
  all.push_back({"random, 50,000 vertices", fixtures::random_graph(50000, 200000, 1, false)});
  all.push_back({"kronecker", fixtures::generated("kron:16", true)});
  return all;
}

TEST(Neighbours, RowsOfOtherRanksComeEitherWay) {
  for (const auto& options : testing_support::teams<exec::Cpu>()) {
    for (const auto& named : graphs()) check(options, named);
  }
}

/// Of a directed graph, whose two matrices have a strategy each, on rows that are padded.
template <class Backend>
void check_strategies() {
  for (const auto& options : testing_support::teams<Backend>()) {
    if (options.ranks == 1) continue;
    const GraphPair graphs =
        fixtures::pair_of(fixtures::random_graph(400, 3000, 5, false), options.ranks);
    team::run_team(options, [&](team::Team& team) {
      team.with_peer_memory([&] {
        team.barrier();
        Context context(team);
        const Neighbourhood both(team, context.stream(), graphs);
        context.set_rows(both.out->rows(), both.out->input_ids());
        for (const sparse::Strategy strategy : sparse::all_strategies()) {
          SCOPED_TRACE(sparse::name_of(strategy) + ", " + testing_support::name_of(options));
          both.out->set_strategy(NumberType::float32, {.strategy = strategy});
          both.in->set_strategy(NumberType::float32, {.strategy = strategy});
          check_sums(context, both, graphs, 3);
          check_sums(context, both, graphs, 16);
        }
        context.stream().synchronize();
        team.barrier();
      });
    });
  }
}

TEST(Neighbours, AreSummedByEveryStrategy) { check_strategies<exec::Cpu>(); }

TEST(NeighboursCuda, AreSummedByEveryStrategy) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_strategies<exec::Cuda>();
}

/// One that fails instead of pulling ends the team; the others do not wait for it.
TEST(Neighbours, ARankThatFailsEndsThePull) {
  const GraphPair graphs = fixtures::pair_of(fixtures::random_graph(3000, 20000, 1, true), 3);
  const auto pull = [&](const team::TeamOptions& options) {
    team::run_team(options, [&](team::Team& team) {
      team.with_peer_memory([&] {
        Context context(team);
        const Neighbourhood both(team, context.stream(), graphs);
        const Aggregation aggregation(context, both, graphs, Weighting::sum);
        const std::uint64_t size = both.out->rows() * 4;
        const auto x = testing_support::on_device(context.stream(), std::vector<float>(size, 1.0f));
        auto y = testing_support::on_device(context.stream(), std::vector<float>(size, 0.0f));
        if (team.rank() == 1) throw UsageError("rank 1 has had enough");
        aggregation.forward(context, x.data(), y.data(), 4);
        context.stream().synchronize();
      });
    });
  };
  EXPECT_THAT(
      [&] {
        pull({exec::DeviceKind::cpu, 3, 3});
      },
      testing::ThrowsMessage<UsageError>(testing::HasSubstr("had enough")));
  if (exec::cuda_device_count() > 0) {
    EXPECT_THAT([&] { pull(fixtures::cuda_team(3)); },
                testing::ThrowsMessage<UsageError>(testing::HasSubstr("had enough")));
  }
}

TEST(NeighboursCuda, RowsOfOtherRanksComeEitherWay) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : testing_support::teams<exec::Cuda>()) {
    for (const auto& named : graphs()) check(options, named);
  }
}

}  // namespace
}  // namespace warren::learn
