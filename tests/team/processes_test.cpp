// SPDX-License-Identifier: Apache-2.0
// Ranks as processes: the meeting, the collectives on memory that all have at the same addresses,
// and every way in which one of them can go.
#include "warren/team/processes.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "warren/core/trace.hpp"
#include "warren/exec/atomic.hpp"
#include "warren/exec/memory.hpp"
#include "warren/exec/worker.hpp"

#include "support/counting_resource.hpp"
#include "support/processes.hpp"
#include "team/process_arena.hpp"

namespace warren::team {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::ThrowsMessage;
using testing_support::ForkedRanks;
using testing_support::in_processes;
using testing_support::kPassed;

TeamOptions cpu_team(int ranks) { return {exec::DeviceKind::cpu, ranks, ranks}; }

/// Seconds within which a team ends, with room for a machine that is busy with other things.
constexpr double kSoon = 20.0;

/// What is left of teams once all processes have ended: their sockets' names.
std::string left_behind() {
  std::ifstream sockets("/proc/net/unix");
  std::string line, left;
  const std::string name = "@warren/" + std::to_string(geteuid()) + "/";
  // Other tests may run beside this one: those have names of their own.
  static const std::string before = [&] {
    std::ifstream file("/proc/net/unix");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }();
  while (std::getline(sockets, line)) {
    const auto at = line.find(name);
    if (at != std::string::npos && before.find(line.substr(at)) == std::string::npos) left += line;
  }
  return left;
}

void use_collectives(Team& team) {
  const int ranks = team.size();
  const int me = team.rank();
  EXPECT_TRUE(team.spans_processes());
  EXPECT_TRUE(team.reports());
  EXPECT_TRUE(team.kernels_may_wait());
  for (int round = 0; round < 20; ++round) {
    const auto all = team.all_gather(100 * round + me);
    for (int q = 0; q < ranks; ++q) EXPECT_EQ(all[static_cast<std::size_t>(q)], 100 * round + q);
    std::vector<std::uint64_t> sums(20);
    std::iota(sums.begin(), sums.end(), static_cast<std::uint64_t>(me + round));
    team.sum(sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      EXPECT_EQ(sums[i], ranks * (i + round) + static_cast<std::uint64_t>(ranks * (ranks - 1) / 2));
  }
  // Of sizes that differ, up to more than what is kept between exchanges.
  std::vector<std::vector<std::uint32_t>> outgoing;
  for (int q = 0; q < ranks; ++q)
    outgoing.emplace_back(static_cast<std::size_t>(q == me ? 0 : 100'000 * me + q),
                          static_cast<std::uint32_t>(me * 100 + q));
  const auto incoming = team.all_to_all_v(outgoing);
  for (int q = 0; q < ranks; ++q) {
    const std::size_t size = q == me ? 0 : static_cast<std::size_t>(100'000 * q + me);
    EXPECT_EQ(incoming[static_cast<std::size_t>(q)],
              std::vector<std::uint32_t>(size, static_cast<std::uint32_t>(q * 100 + me)));
  }
}

/// Arrays of CPU devices, pinned ones too, are read and written by all ranks where they lie.
void use_memory(Team& team) {
  const exec::Device& device = team.device();
  for (const auto kind : {exec::MemoryKind::device, exec::MemoryKind::pinned}) {
    for (const std::uint64_t bytes : {std::uint64_t{512}, std::uint64_t{9} << 20}) {
      void* const mine = exec::allocate(device, kind, bytes);
      const exec::Stream stream(device);
      exec::fill_bytes(stream, mine, team.rank() + 1, bytes);
      const std::vector<void*> all = team.share_with_all(mine);
      auto* const first = static_cast<std::uint64_t*>(all[0]);
      for (std::size_t q = 0; q < all.size(); ++q)
        EXPECT_EQ(static_cast<unsigned char*>(all[q])[bytes - 1], q + 1);
      team.barrier();
      if (team.rank() == 0) *first = 0;
      team.barrier();
      for (int i = 0; i < 1000; ++i)
        exec::atomic_add<exec::Order::relaxed, exec::Scope::system>(*first, std::uint64_t{1});
      team.barrier();
      EXPECT_EQ(*first, 1000u * static_cast<unsigned>(team.size()));
      team.barrier();
      exec::deallocate(device, kind, mine, bytes);
    }
  }
  // On one host a window is the memory itself, and publishing a barrier.
  EXPECT_FALSE(team.spans_hosts());
  auto* const window = static_cast<int*>(exec::allocate(device, exec::MemoryKind::device, 64));
  EXPECT_FALSE(team.needs_windows());
  const Windows windows = team.share_windows({.data = window, .bytes = 64});
  EXPECT_EQ(windows.of, team.share(window));
  *window = 10 + team.rank();
  const Shown shown{-1, window, sizeof *window};
  team.publish({&shown, 1});
  for (int q = 0; q < team.size(); ++q)
    EXPECT_EQ(*static_cast<int*>(windows.of[static_cast<std::size_t>(q)]), 10 + q);
  EXPECT_EQ(team.bytes_between_hosts(), 0u);
  team.barrier();
  exec::deallocate(device, exec::MemoryKind::device, window, 64);
  // What is not in the shared memory has no path.
  std::uint64_t own = 0;
  const std::vector<void*> all = team.share(&own);
  for (int q = 0; q < team.size(); ++q)
    EXPECT_EQ(all[static_cast<std::size_t>(q)], q == team.rank() ? &own : nullptr);
  void* const host = exec::allocate(device, exec::MemoryKind::host, 64);
  bool is_refused = false;
  try {
    (void)team.share_with_all(host);  // All ranks throw: each misses the others'.
  } catch (const UsageError&) {       // Not what a rank's end throws, which may be at any time.
    is_refused = true;
  }
  EXPECT_TRUE(is_refused);
  exec::deallocate(device, exec::MemoryKind::host, host, 64);
}

/// Of device buffers; of other memory they are refused.
void use_device_collectives(Team& team) {
  const exec::Device& device = team.device();
  const exec::Stream stream(device);
  const auto ranks = static_cast<std::uint64_t>(team.size());
  constexpr std::uint64_t kCount = 1000;
  constexpr std::uint64_t kBytes = kCount * sizeof(float);
  auto* const mine = static_cast<float*>(exec::allocate(device, exec::MemoryKind::device, kBytes));
  auto* const all =
      static_cast<float*>(exec::allocate(device, exec::MemoryKind::device, ranks * kBytes));
  std::fill_n(mine, kCount, static_cast<float>(team.rank() + 1));
  team.all_gather(stream, mine, all, kBytes);
  for (std::uint64_t q = 0; q < ranks; ++q)
    EXPECT_EQ(all[q * kCount + kCount - 1], static_cast<float>(q + 1));
  team.all_reduce(stream, mine, all, kCount, DataType::float32, ReduceOp::sum);
  EXPECT_EQ(all[kCount / 2], static_cast<float>(ranks * (ranks + 1) / 2));
  std::vector<float> elsewhere(kCount);
  EXPECT_THAT([&] { team.all_gather(stream, elsewhere.data(), all, kBytes); },
              ThrowsMessage<UsageError>(HasSubstr("other processes do not have")));
  exec::deallocate(device, exec::MemoryKind::device, mine, kBytes);
  exec::deallocate(device, exec::MemoryKind::device, all, ranks * kBytes);
}

TEST(Processes, AreOneTeam) {
  for (const int ranks : {2, 3, 4, 7}) {
    in_processes(ranks, [&] {
      int runs = 0;
      for (int i = 0; i < (ranks == 3 ? 2 : 1); ++i) {
        run_team(cpu_team(ranks), [&](Team& team) {
          ++runs;
          EXPECT_EQ(team.size(), ranks);
          EXPECT_EQ(team.rank(), Processes::current()->rank());
          EXPECT_EQ(team.device().pool().size(), 1);
          use_collectives(team);
          use_memory(team);
          use_device_collectives(team);
        });
      }
      EXPECT_EQ(runs, ranks == 3 ? 2 : 1);
    });
  }
  EXPECT_EQ(left_behind(), "");
  EXPECT_EQ(Processes::current(), nullptr);
}

TEST(Processes, HaveTeamsOfOneRankOfTheirOwn) {
  in_processes(2, [] {
    run_team({exec::DeviceKind::cpu, 1, 2}, [](Team& team) {
      EXPECT_FALSE(team.spans_processes());
      EXPECT_EQ(team.size(), 1);
    });
    EXPECT_THAT(
        [] { run_team(cpu_team(3), [](Team&) {}); },
        ThrowsMessage<UsageError>(HasSubstr("a team of 3 ranks was asked for in a process")));
    TeamOptions apart = cpu_team(2);
    apart.are_apart = true;
    EXPECT_THROW(run_team(apart, [](Team&) {}), UsageError);
    TeamOptions elsewhere = cpu_team(2);
    elsewhere.memory = std::make_shared<testing_support::CountingResource>();
    EXPECT_THAT([&] { run_team(elsewhere, [](Team&) {}); },
                ThrowsMessage<UsageError>(HasSubstr("leave the resource out")));
    EXPECT_THROW(Processes(testing_support::process_options("another", 0, 2)), UsageError);
  });
}

TEST(Processes, ShareThreadsOut) {
  in_processes(3, [] {
    const Processes& processes = *Processes::current();
    EXPECT_EQ(processes.threads(5), processes.rank() < 2 ? 2 : 1);
    EXPECT_EQ(processes.threads(1), 1);
    EXPECT_GE(processes.threads(0), 1);
    EXPECT_EQ(processes.all_threads(), exec::hardware_threads());
  });
  if (exec::hardware_threads() < 2) return;
  // Ranks that are bound to processors of their own have those.
  ForkedRanks bound(2, [](const ProcessOptions& options) {
    cpu_set_t all, mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&mine);
    int seen = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &all) && (seen++ % 2) == options.launch.rank) CPU_SET(cpu, &mine);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof mine, &mine), 0);
    const Processes processes(options);
    EXPECT_EQ(processes.threads(0), CPU_COUNT(&mine));
    EXPECT_EQ(processes.all_threads(), CPU_COUNT(&all));
  });
  EXPECT_EQ(bound.wait(0), kPassed);
  EXPECT_EQ(bound.wait(1), kPassed);
}

/// Each rank fails in turn, in every way in which the others may wait.
TEST(Processes, FailureIsTold) {
  for (int failing = 0; failing < 3; ++failing) {
    in_processes(3, [&] {
      const double begin = now_seconds();
      try {
        run_team(cpu_team(3), [&](Team& team) {
          team.barrier();
          if (team.rank() == failing) throw std::out_of_range("this rank is out of range");
          std::uint64_t value = 1;
          for (;;) team.sum({&value, 1});
        });
        ADD_FAILURE() << "no exception";
      } catch (const TeamError& error) {
        EXPECT_NE(Processes::current()->rank(), failing);
        EXPECT_EQ(error.what(),
                  "rank " + std::to_string(failing) + " failed: this rank is out of range");
      } catch (const std::out_of_range&) {
        EXPECT_EQ(Processes::current()->rank(), failing);
      }
      EXPECT_LT(now_seconds() - begin, kSoon);
      EXPECT_EQ(Processes::current()->failed_rank(), failing);
      EXPECT_THROW(run_team(cpu_team(3), [](Team&) {}), TeamError) << "it has ended for good";
    });
  }
}

TEST(Processes, OnlyOneTells) {
  std::atomic<int>* const told = static_cast<std::atomic<int>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  in_processes(4, [&] {
    Processes& processes = *Processes::current();
    if (processes.may_tell()) {
      told->fetch_add(1);
      processes.has_told(7);
    }
    EXPECT_EQ(processes.wait_for_told(std::chrono::seconds(10)), 7);
  });
  EXPECT_EQ(told->load(), 1);
  (void)munmap(told, 4096);
}

/// A rank that is killed while all work: the others end, and say which it was.
TEST(Processes, KilledRankIsNamed) {
  std::mt19937 random(1);
  for (int killed = 0; killed < 3; ++killed) {
    ForkedRanks forked(3, [&](const ProcessOptions& options) {
      const Processes processes(options);
      EXPECT_THAT(
          [&] {
            run_team(cpu_team(3), [&](Team& team) {
              for (;;) use_memory(team);
            });
          },
          ThrowsMessage<TeamError>(
              HasSubstr("rank " + std::to_string(killed) + " of 3 (process ")));
      EXPECT_TRUE(Processes::current()->is_lost());
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 100));
    forked.kill_rank(killed);
    const double begin = now_seconds();
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(forked.wait(rank), rank == killed ? -SIGKILL : kPassed) << rank;
    EXPECT_LT(now_seconds() - begin, kSoon);
  }
  EXPECT_EQ(left_behind(), "");
}

/// A rank that computes and looks at nothing is ended by the watch.
TEST(Processes, EndIsToldToWhoDoesNotLook) {
  ForkedRanks forked(2, [](ProcessOptions options) {
    options.on_end = [] { _exit(9); };
    const Processes processes(options);
    if (options.launch.rank == 0) raise(SIGKILL);
    for (;;) pause();
  });
  EXPECT_EQ(forked.wait(0), -SIGKILL);
  const double begin = now_seconds();
  EXPECT_EQ(forked.wait(1), 9);
  EXPECT_LT(now_seconds() - begin, kSoon);
}

TEST(Processes, RankThatLeavesIsNotWaitedFor) {
  ForkedRanks forked(2, [](const ProcessOptions& options) {
    const Processes processes(options);
    if (options.launch.rank == 1) return;
    EXPECT_THAT([] { run_team(cpu_team(2), [](Team& team) { team.barrier(); }); },
                ThrowsMessage<TeamError>(HasSubstr("did not make the same calls")));
  });
  EXPECT_EQ(forked.wait(0), kPassed);
  EXPECT_EQ(forked.wait(1), kPassed);
}

/// What rank 0 says where ranks do not belong together; the others are told to be quiet.
template <class Change>
void expect_refused(const std::string& says, Change&& change) {
  ForkedRanks forked(3, [&](ProcessOptions options) {
    const bool is_first = options.launch.rank == 0;
    options.patience = std::chrono::milliseconds(3000);
    change(options);
    if (is_first)
      EXPECT_THAT([&] { const Processes processes(options); },
                  ThrowsMessage<UsageError>(HasSubstr(says)));
    else
      EXPECT_THROW(const Processes processes(options), RefusedError);
  });
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(forked.wait(rank), kPassed) << says;
}

TEST(Processes, MeetAsOneCommand) {
  expect_refused("rank 2 was started with 'bfs b', and rank 0 with 'bfs a'",
                 [](ProcessOptions& options) {
                   options.command = options.launch.rank == 2 ? "bfs b" : "bfs a";
                 });
  expect_refused("rank 1 is warren 2, and rank 0 is warren 1", [](ProcessOptions& options) {
    options.program = options.launch.rank == 1 ? "warren 2" : "warren 1";
  });
  expect_refused("says that it is rank 2 of 5, and rank 0 was started as one of 3",
                 [](ProcessOptions& options) {
                   if (options.launch.rank == 2) options.launch.size = 5;
                 });
  expect_refused("two processes say that they are rank 1 of 3", [](ProcessOptions& options) {
    if (options.launch.rank == 2) options.launch.rank = 1;
  });
}

TEST(Processes, MissingRankIsNamed) {
  ForkedRanks forked(2, [](ProcessOptions options) {
    options.launch.size = 4;
    options.patience = std::chrono::milliseconds(300);
    if (options.launch.rank == 0)
      EXPECT_THAT([&] { const Processes processes(options); },
                  ThrowsMessage<UsageError>(HasSubstr("ranks 2, 3 did not come")));
    else
      EXPECT_THROW(const Processes processes(options), RefusedError);
  });
  EXPECT_EQ(forked.wait(0), kPassed);
  EXPECT_EQ(forked.wait(1), kPassed);
  ProcessOptions alone = testing_support::process_options(testing_support::new_job(), 1, 2);
  alone.patience = std::chrono::milliseconds(100);
  EXPECT_THAT([&] { const Processes processes(alone); },
              ThrowsMessage<UsageError>(HasSubstr("rank 0 of 2 (a test) did not come")));
}

/// Before all have met, nobody is waited for who has gone.
TEST(Processes, RankThatGoesBeforeTheMeeting) {
  ForkedRanks forked(3, [](ProcessOptions options) {
    // Rank 2 comes never; rank 1 goes while rank 0 waits for it.
    if (options.launch.rank == 2) return;
    if (options.launch.rank == 1) {
      std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        _exit(kPassed);
      }).detach();
    }
    EXPECT_THAT([&] { const Processes processes(options); },
                ThrowsMessage<UsageError>(HasSubstr("rank 1 of 3 ended before all ranks had met")));
  });
  const double begin = now_seconds();
  EXPECT_EQ(forked.wait(0), kPassed);
  EXPECT_LT(now_seconds() - begin, kSoon);
}

class Arena : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  std::byte* const base_ = static_cast<std::byte*>(mmap(
      nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::uint32_t has_ended_ = 0;
  ProcessArena arena_{base_, kBytes, &has_ended_};
  const exec::Device device_ = exec::Device::cpu(1);

  ~Arena() override { (void)munmap(base_, kBytes); }
};

TEST_F(Arena, BlocksAreApartAndComeBack) {
  struct Block {
    std::byte* at;
    std::uint64_t bytes;
  };
  std::mt19937 random(7);
  std::vector<Block> blocks;
  for (int round = 0; round < 2000; ++round) {
    if (blocks.size() < 12 && random() % 3 != 0) {
      const std::uint64_t bytes = 1 + random() % (random() % 2 == 0 ? 5000 : 5'000'000);
      auto* const at = static_cast<std::byte*>(arena_.allocate(device_, bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 256, 0u);
      EXPECT_GE(at, base_);
      EXPECT_LE(at + bytes, base_ + kBytes);
      for (const Block& other : blocks)
        EXPECT_TRUE(at + bytes <= other.at || other.at + other.bytes <= at);
      blocks.push_back({at, bytes});
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      arena_.deallocate(device_, blocks.back().at, blocks.back().bytes);
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) arena_.deallocate(device_, block.at, block.bytes);
  // All gaps are one again.
  EXPECT_EQ(arena_.allocate(device_, kBytes), base_);
  EXPECT_THROW((void)arena_.allocate(device_, 1), MemoryError);
}

TEST_F(Arena, TooMuchIsRefused) {
  EXPECT_THROW((void)arena_.allocate(device_, kBytes + 1), MemoryError);
  EXPECT_THROW((void)arena_.allocate(device_, ~std::uint64_t{0}), MemoryError);
}

/// Ranks that have not seen the end may be reading.
TEST_F(Arena, NothingIsGivenBackAfterTheEnd) {
  auto* const large = static_cast<std::byte*>(arena_.allocate(device_, std::uint64_t{8} << 20));
  *large = std::byte{42};
  has_ended_ = 1;
  arena_.deallocate(device_, large, std::uint64_t{8} << 20);
  EXPECT_EQ(*large, std::byte{42});
  EXPECT_NE(arena_.allocate(device_, 256), large);
}

}  // namespace
}  // namespace warren::team
