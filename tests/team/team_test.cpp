// SPDX-License-Identifier: Apache-2.0
// Teams on the host: their options, and the collectives on host values.
#include "warren/team/team.hpp"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/exec/worker.hpp"
#include "warren/memory/buffer.hpp"

#include "support/backends.hpp"
#include "support/counting_resource.hpp"

namespace warren::team {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::ThrowsMessage;

TeamOptions cpu_team(int ranks, int threads = 0) {
  return {exec::DeviceKind::cpu, ranks, threads == 0 ? ranks : threads};
}

TEST(TeamOptions, AreChecked) {
  EXPECT_THAT([] { validate(cpu_team(0, 1)); }, ThrowsMessage<UsageError>(HasSubstr("at least 1")));
  EXPECT_THAT([] { validate(cpu_team(kMaxRanks + 1)); },
              ThrowsMessage<UsageError>(HasSubstr("the most is 32")));
  EXPECT_THAT([] { validate(cpu_team(2, -1)); },
              ThrowsMessage<UsageError>(HasSubstr("-1 threads")));
  EXPECT_THROW(run_team(cpu_team(-3, 1), [](Team&) {}), UsageError);
}

TEST(TeamOptions, MoreGpusThanThereAre) {
  const TeamOptions options{exec::DeviceKind::cuda, exec::cuda_device_count() + 1, 0};
  EXPECT_THROW(validate(options), UsageError);
}

TEST(Team, SharesThreadsOut) {
  std::atomic<int> threads{0};
  run_team(cpu_team(3, 5), [&](Team& team) {
    EXPECT_EQ(team.size(), 3);
    EXPECT_TRUE(team.kernels_may_wait());
    EXPECT_FALSE(team.device().is_cuda());
    threads += team.device().pool().size();
  });
  EXPECT_EQ(threads, 5);
  threads = 0;
  run_team(cpu_team(4, 2), [&](Team& team) { threads += team.device().pool().size(); });
  EXPECT_EQ(threads, 4) << "every rank needs a thread of its own";
}

TEST(Team, TakesItsMemoryWhereItIsTold) {
  const auto resource = std::make_shared<testing_support::CountingResource>();
  TeamOptions options = cpu_team(3);
  options.memory = resource;
  run_team(options, [&](Team& team) {
    const exec::Stream stream(team.device());
    memory::Buffer<int> values(stream.device(), 1000);
    EXPECT_GE(resource->held, 4000u);
    // Moved and grown ones stay with it.
    memory::Buffer<int> moved = std::move(values);
    (void)memory::at_least(stream, moved, 2000);
    team.barrier();
    EXPECT_GE(resource->held, 3u * 8000u);
    std::vector<int> sent{team.rank()}, all(3);
    team.all_gather(stream, sent.data(), all.data(), sizeof(int));
    stream.synchronize();
    EXPECT_EQ(all, (std::vector{0, 1, 2}));
    team.barrier();
  });
  EXPECT_GE(resource->given, 6);
  EXPECT_EQ(resource->back, resource->given);
  EXPECT_EQ(resource->held, 0u);
  const int before = resource->given;
  run_team(cpu_team(2), [](Team& team) { memory::Buffer<int> values(team.device(), 1000); });
  EXPECT_EQ(resource->given, before) << "another team has nothing to do with it";
}

TEST(Team, ItsEndEndsTheLoopsOfAllRanks) {
  constexpr std::uint64_t kEndless = ~std::uint64_t{0};  // Pieces.
  std::atomic<int> ended{0};
  const auto work = [&](Team& team) {
    try {
      team.device().pool().parallel_for(0, kEndless, 1, [&](std::uint64_t piece, std::uint64_t) {
        if (team.rank() == 0 && piece == 100) team.abort("enough");
      });
    } catch (const TeamError&) {
      ++ended;
      throw;
    }
  };
  EXPECT_THAT([&] { run_team(cpu_team(3, 6), work); },
              ThrowsMessage<TeamError>(HasSubstr("enough")));
  EXPECT_EQ(ended, 3);
}

class HostCollectives : public ::testing::TestWithParam<int> {};

TEST_P(HostCollectives, BarrierHoldsEverybody) {
  const int ranks = GetParam();
  std::atomic<int> arrived{0};
  run_team(cpu_team(ranks), [&](Team& team) {
    for (int round = 1; round <= 200; ++round) {
      arrived.fetch_add(1);
      team.barrier();
      EXPECT_GE(arrived.load(), round * ranks);
      team.barrier();
    }
  });
}

TEST_P(HostCollectives, AllGather) {
  run_team(cpu_team(GetParam()), [&](Team& team) {
    const std::vector<int> all = team.all_gather(team.rank() * 10);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(team.size()));
    for (int q = 0; q < team.size(); ++q) EXPECT_EQ(all[static_cast<std::size_t>(q)], q * 10);
  });
}

TEST_P(HostCollectives, AllGatherOfDifferentLengths) {
  run_team(cpu_team(GetParam()), [&](Team& team) {
    const std::vector<std::uint16_t> mine(static_cast<std::size_t>(team.rank() * 3),
                                          static_cast<std::uint16_t>(team.rank()));
    const auto all = team.all_gather_v(std::span<const std::uint16_t>(mine));
    for (int q = 0; q < team.size(); ++q) {
      EXPECT_EQ(all[static_cast<std::size_t>(q)],
                std::vector<std::uint16_t>(static_cast<std::size_t>(q * 3),
                                           static_cast<std::uint16_t>(q)));
    }
  });
}

TEST_P(HostCollectives, AllToAll) {
  run_team(cpu_team(GetParam()), [&](Team& team) {
    for (int round = 0; round < 20; ++round) {
      // Rank p sends q + round copies of 100 p + q to rank q.
      std::vector<std::vector<int>> outgoing;
      for (int q = 0; q < team.size(); ++q)
        outgoing.emplace_back(static_cast<std::size_t>(q + round), 100 * team.rank() + q);
      const auto incoming = team.all_to_all_v(outgoing);
      for (int p = 0; p < team.size(); ++p) {
        EXPECT_EQ(
            incoming[static_cast<std::size_t>(p)],
            std::vector<int>(static_cast<std::size_t>(team.rank() + round), 100 * p + team.rank()));
      }
    }
  });
}

TEST_P(HostCollectives, Reductions) {
  run_team(cpu_team(GetParam()), [&](Team& team) {
    const int n = team.size();
    EXPECT_EQ(team.all_reduce(team.rank(), exec::Plus{}), n * (n - 1) / 2);
    EXPECT_EQ(team.all_reduce(team.rank(), exec::Maximum{}), n - 1);
    EXPECT_EQ(team.all_reduce(team.rank() + 5, exec::Minimum{}), 5);
    // In rank order: the same bits on all ranks although the sum is inexact.
    const float part = 0.1f / static_cast<float>(team.rank() + 1);
    const float sum = team.all_reduce(part, exec::Plus{});
    for (const float other : team.all_gather(sum)) EXPECT_EQ(other, sum);
  });
}

TEST_P(HostCollectives, SumOfCounters) {
  run_team(cpu_team(GetParam()), [&](Team& team) {
    const auto n = static_cast<std::uint64_t>(team.size());
    for (std::uint64_t round = 0; round < 200; ++round) {
      std::vector<std::uint64_t> values = {1, static_cast<std::uint64_t>(team.rank()), round};
      team.sum(values);
      EXPECT_EQ(values, (std::vector<std::uint64_t>{n, n * (n - 1) / 2, n * round}));
    }
  });
}

TEST_P(HostCollectives, SharedPointers) {
  run_team(cpu_team(GetParam()), [&](Team& team) {
    int mine = team.rank();
    const std::vector<void*> table = team.share(&mine);
    for (int q = 0; q < team.size(); ++q)
      EXPECT_EQ(*static_cast<const int*>(table[static_cast<std::size_t>(q)]), q);
    team.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, HostCollectives, ::testing::Values(1, 2, 3, 4, 7));

}  // namespace
}  // namespace warren::team
