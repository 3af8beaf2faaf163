// SPDX-License-Identifier: Apache-2.0
// Device collectives of ranks on several hosts: results, and how much goes between the hosts.
#include "support/pretend_hosts.hpp"
#include "team/device_collectives_cases.hpp"

namespace warren::team {

// They are of other carriers.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceCollectivesTest);

namespace {

using testing_support::run_on_hosts;

/// Ranks and hosts: as many on each, not as many, one each, all on one.
constexpr std::pair<int, int> kTeams[] = {{4, 2}, {5, 2}, {3, 3}, {7, 3}, {3, 1}};

template <class F>
void on_teams(F&& work) {
  for (const auto& [ranks, hosts] : kTeams) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks on " + std::to_string(hosts) + " hosts");
    run_on_hosts(ranks, hosts, work);
  }
}

TEST(WindowCollectives, AllReduce) {
  on_teams([](Team& team) {
    const exec::Stream stream(team.device());
    EXPECT_STREQ(team.collectives_name(), "windows");
    // Also of fewer elements than ranks, and wider and narrower by turns.
    for (const std::uint64_t count : {0, 1, 2, 5, 1000, 3, 70'001, 10})
      check_all_reduce<float>(team, stream, count);
    check_all_reduce<double>(team, stream, 1001);
    check_all_reduce<std::int32_t>(team, stream, 1001);
    check_all_reduce<std::uint64_t>(team, stream, 1001);
  });
}

/// Numbers whose sum depends on the order: every rank has the same bits, in every run.
TEST(WindowCollectives, SumsRepeat) {
  constexpr std::uint64_t kCount = 997;
  std::vector<std::vector<float>> found;
  std::mutex mutex;
  for (int run = 0; run < 2; ++run) {
    run_on_hosts(5, 2, [&](Team& team) {
      const exec::Stream stream(team.device());
      std::vector<float> mine(kCount);
      for (std::uint64_t i = 0; i < kCount; ++i)
        mine[i] = 1.0f / static_cast<float>(i + 1 + 100 * static_cast<std::uint64_t>(team.rank()));
      Buffer<float> sums = on_device(stream, mine);
      team.all_reduce(stream, sums.data(), sums.data(), kCount, DataType::float32, ReduceOp::sum);
      const std::scoped_lock lock(mutex);
      found.push_back(sums.to_host(stream));
    });
  }
  ASSERT_EQ(found.size(), 10u);
  for (const auto& sums : found) EXPECT_EQ(sums, found[0]);
}

/// Of each element one value a host goes to where it is added up, and one comes to each host.
TEST(WindowCollectives, BytesOfAllReduce) {
  constexpr std::uint64_t kCount = 1003;
  for (const auto& [ranks, hosts] : kTeams) {
    std::uint64_t bytes = 0;
    run_on_hosts(ranks, hosts, [&](Team& team) {
      const exec::Stream stream(team.device());
      Buffer<float> values = on_device(stream, std::vector<float>(kCount, 1.0f));
      team.all_reduce(stream, values.data(), values.data(), kCount, DataType::float32,
                      ReduceOp::sum);
      std::uint64_t sent[] = {team.bytes_between_hosts()};
      team.sum(sent);
      if (team.rank() == 0) bytes = sent[0];
    });
    EXPECT_EQ(bytes, 2 * (static_cast<std::uint64_t>(hosts) - 1) * kCount * sizeof(float));
  }
}

TEST(WindowCollectives, AllGather) {
  on_teams([](Team& team) {
    const exec::Stream stream(team.device());
    const auto ranks = static_cast<std::uint64_t>(team.size());
    for (const std::uint64_t count : {0, 1, 3, 4097, 5}) {
      std::vector<int> mine(count), expected;
      for (std::uint64_t i = 0; i < count; ++i) mine[i] = value_of<int>(team.rank(), i);
      for (std::uint64_t i = 0; i < count * ranks; ++i)
        expected.push_back(value_of<int>(static_cast<int>(i / count), i % count));
      const Buffer<int> send = on_device(stream, mine);
      Buffer<int> recv = on_device(stream, std::vector<int>(count * ranks, -1));
      team.all_gather(stream, send.data(), recv.data(), count * sizeof(int));
      EXPECT_EQ(recv.to_host(stream), expected);
    }
  });
}

TEST(WindowCollectives, AllToAll) {
  on_teams([](Team& team) {
    const exec::Stream stream(team.device());
    const auto ranks = static_cast<std::uint64_t>(team.size());
    const auto rank = static_cast<std::uint64_t>(team.rank());
    for (const std::uint64_t scale : {0, 1, 301, 2}) {
      const auto words = [&](std::uint64_t p, std::uint64_t q) { return (p * 3 + q) % 5 * scale; };
      std::vector<std::uint64_t> send_offsets = {0}, recv_offsets = {0}, outgoing, expected;
      for (std::uint64_t q = 0; q < ranks; ++q) {
        for (std::uint64_t i = 0; i < words(rank, q); ++i)
          outgoing.push_back(rank << 40 | q << 32 | i);
        for (std::uint64_t i = 0; i < words(q, rank); ++i)
          expected.push_back(q << 40 | rank << 32 | i);
        send_offsets.push_back(outgoing.size() * 8);
        recv_offsets.push_back(expected.size() * 8);
      }
      const Buffer<std::uint64_t> send = on_device(stream, outgoing);
      Buffer<std::uint64_t> recv = on_device(stream, std::vector<std::uint64_t>(expected.size()));
      team.all_to_all_v(stream, send.data(), send_offsets, recv.data(), recv_offsets);
      EXPECT_EQ(recv.to_host(stream), expected);
    }
  });
}

/// One after the other, without a meeting between them.
TEST(WindowCollectives, InTurn) {
  on_teams([](Team& team) {
    const exec::Stream stream(team.device());
    const auto ranks = static_cast<std::uint64_t>(team.size());
    for (int round = 0; round < 50; ++round) {
      Buffer<int> one = on_device(stream, std::vector<int>(1, team.rank() + round));
      Buffer<int> all = on_device(stream, std::vector<int>(ranks));
      team.all_gather(stream, one.data(), all.data(), sizeof(int));
      Buffer<int> sum = on_device(stream, std::vector<int>(8, team.rank() + round));
      team.all_reduce(stream, sum.data(), sum.data(), 8, DataType::int32, ReduceOp::sum);
      const std::vector<int> gathered = all.to_host(stream);
      int expected = 0;
      for (int q = 0; q < team.size(); ++q) {
        EXPECT_EQ(gathered[static_cast<std::size_t>(q)], q + round);
        expected += q + round;
      }
      EXPECT_EQ(sum.to_host(stream), std::vector<int>(8, expected));
    }
  });
}

TEST(WindowCollectives, DifferentSizesAreRefused) {
  EXPECT_THROW(run_on_hosts(4, 2,
                            [](Team& team) {
                              const exec::Stream stream(team.device());
                              std::vector<float> values(100);
                              const std::uint64_t count = team.rank() == 1 ? 5 : 6;
                              team.all_reduce(stream, values.data(), values.data(), count,
                                              DataType::float32, ReduceOp::sum);
                            }),
               UsageError);
}

}  // namespace
}  // namespace warren::team
