// SPDX-License-Identifier: Apache-2.0
// Barriers between streams: each rank reads what the others have written in the order of theirs,
// round after round, into the same memory.
#include "warren/team/stream_barrier.hpp"

#include <gtest/gtest.h>

#include "warren/memory/global_array.hpp"

#include "support/backends.hpp"

namespace warren::team {
namespace {

constexpr std::uint64_t kWords = 1 << 12;

void check_rank(Team& team, int rounds) {
  const auto ranks = static_cast<std::uint64_t>(team.size());
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t q = 0; q <= ranks; ++q) cuts.push_back(q * kWords);
  memory::GlobalArray<std::uint64_t> words(team, cuts, 1, memory::Placement::device);
  memory::Buffer<std::uint64_t> seen(team.device(),
                                     ranks * kWords * static_cast<std::uint64_t>(rounds));
  const exec::Stream stream(team.device());
  StreamBarrier barrier(team);
  for (int round = 0; round < rounds; ++round) {
    exec::fill_bytes(stream, words.local_data(), 16 * (round % 8) + team.rank(), kWords * 8);
    barrier.arrive(stream);
    barrier.wait(stream);
    for (std::uint64_t q = 0; q < ranks; ++q) {
      exec::copy(stream, seen.data() + (static_cast<std::uint64_t>(round) * ranks + q) * kWords,
                 words.view().base[q], kWords * 8);
    }
    barrier.arrive(stream);
    barrier.wait(stream);
  }
  const std::vector<std::uint64_t> all = seen.to_host(stream);
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const std::uint64_t place = i / kWords;
    ASSERT_EQ(all[i], 0x0101010101010101u * (16 * (place / ranks % 8) + place % ranks))
        << "round " << place / ranks << ", of rank " << place % ranks;
  }
  team.barrier();
}

template <class Backend>
void check_all(int rounds) {
  for (const TeamOptions& options : testing_support::teams<Backend>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    run_team(options, [&](Team& team) { check_rank(team, rounds); });
  }
}

TEST(StreamBarrier, RanksSeeWhatOthersHaveWritten) { check_all<exec::Cpu>(50); }

TEST(StreamBarrierCuda, RanksSeeWhatOthersHaveWritten) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all<exec::Cuda>(200);
}

TEST(StreamBarrierCuda, ATeamThatEndsIsNotWaitedFor) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const TeamOptions& options : testing_support::teams<exec::Cuda>()) {
    if (options.ranks == 1) continue;
    SCOPED_TRACE(testing_support::name_of(options));
    EXPECT_THROW(run_team(options,
                          [&](Team& team) {
                            const exec::Stream stream(team.device());
                            StreamBarrier barrier(team);
                            team.with_peer_memory([&] {
                              if (team.rank() == 0) throw UsageError("not me");
                              barrier.arrive(stream);
                              barrier.wait(stream);
                              stream.synchronize();
                              team.check();
                            });
                          }),
                 UsageError);
  }
}

}  // namespace
}  // namespace warren::team
