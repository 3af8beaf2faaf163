// SPDX-License-Identifier: Apache-2.0
// Arrays of the team of a host's ranks: spread over them, and there once on every host.
#include <atomic>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/graph/merged_cuts.hpp"
#include "warren/memory/cached_array.hpp"
#include "warren/memory/gather.hpp"
#include "warren/memory/global_array.hpp"

#include "support/pretend_hosts.hpp"

namespace warren::memory {
namespace {

using testing_support::run_on_hosts;

constexpr std::uint64_t kWidth = 3;

/// Ranks and hosts: as many on each, not as many, one each, all on one.
constexpr std::pair<int, int> kTeams[] = {{4, 2}, {5, 2}, {3, 3}, {7, 3}, {3, 1}};

std::uint32_t element(std::uint64_t row, std::uint64_t column) {
  return static_cast<std::uint32_t>(1000 * row + column);
}

/// Rows over the ranks of the host, each of which fills its own.
GlobalArray<std::uint32_t> filled(team::Team& host, std::span<const std::uint64_t> cuts,
                                  Placement placement) {
  GlobalArray<std::uint32_t> rows(host, cuts, kWidth, placement);
  const auto& view = rows.view();
  for (std::uint64_t i = 0; i < view.local_rows(); ++i) {
    for (std::uint64_t c = 0; c < kWidth; ++c)
      rows.local_data()[i * kWidth + c] = element(view.first() + i, c);
  }
  host.barrier();
  return rows;
}

template <class F>
void on_teams(F&& work) {
  for (const auto& [ranks, hosts] : kTeams) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks on " + std::to_string(hosts) + " hosts");
    run_on_hosts(ranks, hosts, work);
  }
}

TEST(OfHost, RanksAreThoseOfTheHostInTheirOrder) {
  on_teams([](team::Team& team) {
    team::Team& host = team.of_host();
    EXPECT_EQ(&host, &team.of_host());
    EXPECT_FALSE(host.spans_hosts());
    EXPECT_EQ(&host.of_host(), &host);
    std::vector<int> expected;
    for (int q = 0; q < team.size(); ++q)
      if (team.host_of(q) == team.host_of(team.rank())) expected.push_back(q);
    EXPECT_EQ(host.all_gather(team.rank()), expected);
    EXPECT_EQ(expected[static_cast<std::size_t>(host.rank())], team.rank());
  });
}

TEST(OfHost, IsTheTeamItselfOnOneHost) {
  team::run_team({exec::DeviceKind::cpu, 3, 3},
                 [](team::Team& team) { EXPECT_EQ(&team.of_host(), &team); });
}

/// All rows are read where they lie, and nothing goes between hosts.
TEST(OfHost, ArraysAreThereOnEachHost) {
  on_teams([](team::Team& team) {
    team::Team& host = team.of_host();
    std::vector<std::uint64_t> all(static_cast<std::size_t>(team.size()) + 1);
    for (std::size_t q = 0; q < all.size(); ++q) all[q] = q * (q + 3);
    const std::vector<std::uint64_t> cuts = graph::merged_cuts(all, host.size());
    const exec::Stream stream(team.device());
    std::vector<std::uint64_t> wanted(all.back());
    std::iota(wanted.rbegin(), wanted.rend(), std::uint64_t{0});
    for (const Placement placement : {Placement::device, Placement::host}) {
      GlobalArray<std::uint32_t> rows = filled(host, cuts, placement);
      std::vector<std::uint32_t> found(wanted.size() * kWidth);
      gather(stream, rows.view(), wanted.data(), wanted.size(), found.data());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i], element(wanted[i / kWidth], i % kWidth));
      host.barrier();
      if (placement == Placement::device) continue;
      const std::vector<std::uint64_t> hot{1, 3, 0};
      CachedArray<std::uint32_t> cached(host, rows, hot);
      cached.gather(stream, wanted.data(), wanted.size(), found.data());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i], element(wanted[i / kWidth], i % kWidth));
      host.barrier();
    }
    EXPECT_EQ(team.bytes_between_hosts(), 0u);
  });
}

/// The ranks of a host add up, at times of their own.
TEST(OfHost, CollectivesAreOfTheHost) {
  on_teams([](team::Team& team) {
    team::Team& host = team.of_host();
    const exec::Stream stream(team.device());
    // As many rounds as no other host has.
    const int rounds = 20 * (team.host_of(team.rank()) + 1);
    for (int round = 0; round < rounds; ++round) {
      std::vector<float> values(7, static_cast<float>(round + team.rank()));
      host.all_reduce(stream, values.data(), values.data(), values.size(), team::DataType::float32,
                      team::ReduceOp::sum);
      float expected = 0.0f;
      for (const int q : host.all_gather(team.rank())) expected += static_cast<float>(round + q);
      EXPECT_EQ(values, std::vector<float>(7, expected));
    }
    // And then all of them.
    std::uint64_t sum[] = {1};
    team.sum(sum);
    EXPECT_EQ(sum[0], static_cast<std::uint64_t>(team.size()));
    EXPECT_EQ(team.bytes_between_hosts(), 0u);
  });
}

/// Both ways: who waits in the team of its host hears of another host's end, and the other way.
TEST(OfHost, ARankThatFailsEndsBothTeams) {
  const auto message_of = [](bool in_host) -> std::string {
    try {
      run_on_hosts(5, 2, [&](team::Team& team) {
        team::Team& host = team.of_host();
        host.barrier();
        if (team.rank() == 3) {
          host.with_peer_memory([&] {
            if (in_host) throw UsageError("no more");
          });
          throw UsageError("no more");
        }
        if (team.rank() == 0) team.barrier();
        for (;;) {
          if (team.rank() != 1) {
            host.sum({});
            host.barrier();
          } else {
            team.barrier();
          }
        }
      });
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message_of(true), "no more");
  EXPECT_EQ(message_of(false), "no more");
}

TEST(MergedCuts, HaveWholePartsInTheirOrder) {
  using Cuts = std::vector<std::uint64_t>;
  const Cuts cuts{0, 5, 5, 9, 20, 21};
  EXPECT_EQ(graph::merged_cuts(cuts, 1), (Cuts{0, 21}));
  EXPECT_EQ(graph::merged_cuts(cuts, 2), (Cuts{0, 5, 21}));
  EXPECT_EQ(graph::merged_cuts(cuts, 3), (Cuts{0, 5, 9, 21}));
  EXPECT_EQ(graph::merged_cuts(cuts, 5), cuts);
  EXPECT_THROW((void)graph::merged_cuts(cuts, 6), UsageError);
  EXPECT_THROW((void)graph::merged_cuts(cuts, 0), UsageError);
  EXPECT_THROW((void)graph::merged_cuts({}, 1), UsageError);
}

}  // namespace
}  // namespace warren::memory
