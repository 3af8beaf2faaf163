// SPDX-License-Identifier: Apache-2.0
// Sessions: teams that wait, and end; calls of several threads; calls that fail, are interrupted or
// come too late.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "warren/exec/launch.hpp"

#include "api/graph_state.hpp"
#include "api/standing_team.hpp"
#include "api/teams.hpp"
#include "graphs.hpp"
#include "reference/traverse.hpp"
#include "support/counting_resource.hpp"

namespace warren {
namespace {

using api::RankStore;
using api::StandingTeam;
using fixtures::graph_of;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using testing_support::CountingResource;

team::TeamOptions ranks(int count) {
  team::TeamOptions options;
  options.ranks = count;
  options.threads = count;
  return options;
}

TEST(StandingTeam, RunsJobsOnAllRanksInOrder) {
  for (const int count : {1, 2, 5}) {
    StandingTeam team(ranks(count));
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
    for (int job = 0; job < 50; ++job) {
      ASSERT_TRUE(team.run([&](team::Team& self, RankStore& store) {
        auto& kept = store[{1, 0}];
        if (kept == nullptr) kept = std::make_shared<int>(0);
        EXPECT_EQ((*static_cast<int*>(kept.get()))++, job);
        EXPECT_EQ(self.all_reduce(1, [](int a, int b) { return a + b; }), count);
        ++done[static_cast<std::size_t>(self.rank())];
      }));
    }
    for (const auto& times : done) EXPECT_EQ(times, 50);
  }
}

TEST(StandingTeam, WhatIsPostedIsDoneBeforeWhatComesNext) {
  StandingTeam team(ranks(3));
  std::atomic<int> posted{0};
  for (int i = 0; i < 4; ++i) team.post([&](team::Team&, RankStore&) { ++posted; });
  ASSERT_TRUE(team.run([&](team::Team&, RankStore&) { EXPECT_GE(posted, 12); }));
}

TEST(StandingTeam, WhatIsPostedIsDoneBeforeTheEnd) {
  std::atomic<int> posted{0};
  {
    StandingTeam team(ranks(2));
    for (int i = 0; i < 10; ++i) team.post([&](team::Team&, RankStore&) { ++posted; });
  }
  EXPECT_EQ(posted, 20);
}

TEST(StandingTeam, ARankThatThrowsEndsItAndTheCallerIsTold) {
  for (const int failing : {0, 2}) {
    StandingTeam team(ranks(3));
    EXPECT_THROW((void)team.run([&](team::Team& self, RankStore&) {
      if (self.rank() == failing) throw std::out_of_range("mine");
      if (self.rank() == 1) self.barrier();  // Waits until the team ends.
    }),
                 std::out_of_range);
    EXPECT_TRUE(team.has_ended());
    EXPECT_FALSE(team.run([](team::Team&, RankStore&) { FAIL(); }));
  }
}

TEST(StandingTeam, CallsOfManyThreadsTakeTurns) {
  StandingTeam team(ranks(2));
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i)
        EXPECT_TRUE(team.run([&](team::Team& self, RankStore&) {
          if (self.rank() == 0) most = std::max(most.load(), ++inside);
          self.barrier();
          if (self.rank() == 0) --inside;
        }));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST(StandingTeam, ThoseBehindAFailedCallAreNotRun) {
  StandingTeam team(ranks(2));
  std::atomic<bool> has_begun{false}, may_fail{false};
  std::thread failing([&] {
    EXPECT_THROW((void)team.run([&](team::Team& self, RankStore&) {
      has_begun = true;
      while (!may_fail) std::this_thread::yield();
      if (self.rank() == 1) throw Error("mine");
      self.barrier();
    }),
                 Error);
  });
  while (!has_begun) std::this_thread::yield();
  std::thread behind([&] { EXPECT_FALSE(team.run([](team::Team&, RankStore&) { FAIL(); })); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  may_fail = true;
  failing.join();
  behind.join();
}

/// Interrupts while it lives.
struct Interrupting {
  explicit Interrupting(std::function<bool()> check) { set_interrupt_check(std::move(check)); }
  ~Interrupting() { set_interrupt_check({}); }
};

TEST(Session, AnInterruptEndsACallSoon) {
  const Session session({.device = DeviceKind::cpu});
  const Interrupting interrupting([] { return true; });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(session.teams()->run({DeviceKind::cpu, 2}, 1,
                                    [](team::Team& self, RankStore&) {
                                      for (;;) self.barrier();
                                    }),
               Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  set_interrupt_check({});
  EXPECT_EQ(bfs(read("grid:5x5"), {.devices = 2, .session = session}).reached, 25u);
}

struct Sleeps {
  void operator()(const exec::Serial&, std::uint64_t) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

TEST(Session, AnInterruptEndsAKernelOfTheCpuInItsMiddle) {
  const Session session({.device = DeviceKind::cpu});
  const auto one_long_kernel = [](team::Team& self, RankStore&) {
    constexpr std::uint64_t kTasks = 10'000'000;
    const exec::Stream stream(self.device());
    exec::launch<exec::Cpu, exec::Thread>(stream, kTasks, Sleeps{}, {.grain = 10});
  };
  for (const int devices : {1, 2}) {
    std::atomic<int> asked{0};
    const Interrupting interrupting([&] { return ++asked == 2; });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(session.teams()->run({DeviceKind::cpu, devices}, 1, one_long_kernel), Interrupted);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_EQ(bfs(read("grid:5x5"), {.devices = devices, .session = session}).reached, 25u);
  }
}

TEST(Session, AnInterruptEndsWorkOfTheHostInItsMiddle) {
  const Session session({.device = DeviceKind::cpu, .threads = 3});
  int asked = 0;
  const Interrupting interrupting([&] { return ++asked == 2; });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(session.teams()->on_host([](exec::ThreadPool& pool) {
    pool.parallel_for(0, 10'000'000, 10, [](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t i = first; i < last; ++i) Sleeps{}(exec::Serial(), i);
    });
  }),
               Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(read("grid:5x5", {.session = session}).vertices(), 25u);
}

TEST(Session, AnInterruptEndsTheReadingOfAGraph) {
  const Session session({.device = DeviceKind::cpu});
  const auto begin = std::chrono::steady_clock::now();
  {
    const Interrupting interrupting([] { return true; });
    EXPECT_THROW((void)read("kron:20", {.session = session}), Interrupted);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(read("grid:5x5", {.session = session}).vertices(), 25u);
}

TEST(Session, AnInterruptEndsShortSearchesOneAfterAnother) {
  const Graph graph = read("grid:5x5");
  const std::vector<Vertex> sources(100'000, 3);
  int asked = 0;
  const Interrupting interrupting([&] { return ++asked > 3; });
  EXPECT_THROW((void)bfs_from_each(graph, sources), Interrupted);
  EXPECT_LE(asked, 5);
}

TEST(Session, OneThatWaitsBehindAnotherIsInterruptedAlone) {
  const Session session({.device = DeviceKind::cpu});
  std::atomic<bool> has_begun{false}, may_end{false};
  std::thread first([&] {
    session.teams()->run({DeviceKind::cpu, 2}, 1, [&](team::Team& self, RankStore&) {
      has_begun = true;
      while (!may_end) std::this_thread::yield();
      self.barrier();
    });
  });
  while (!has_begun) std::this_thread::yield();
  static thread_local bool is_me = false;
  is_me = true;
  const Interrupting interrupting([] { return is_me; });
  EXPECT_THROW(session.teams()->run({DeviceKind::cpu, 2}, 2, [](team::Team&, RankStore&) {}),
               Interrupted);
  may_end = true;
  first.join();
}

/// What a call tells of its progress.
std::vector<Progress> told_by(const std::function<void()>& call) {
  std::vector<Progress> told;
  const TellProgress telling([&](const Progress& progress) { told.push_back(progress); });
  call();
  return told;
}

TEST(Progress, IsToldToTheEnd) {
  const Graph graph = read("kron:8");
  const Session session({.device = DeviceKind::cpu});
  for (const int devices : {1, 2}) {
    const auto check = [&](const char* unit, std::uint64_t total,
                           const std::function<void()>& call) {
      SCOPED_TRACE(unit);
      const std::vector<Progress> told = told_by(call);
      ASSERT_FALSE(told.empty());
      EXPECT_EQ(told.back().unit, unit);
      EXPECT_EQ(told.back().total, total);
      EXPECT_LE(told.back().done, total);
      for (std::size_t i = 1; i < told.size(); ++i) EXPECT_GE(told[i].done, told[i - 1].done);
      if (std::string(unit) != "iterations") {
        EXPECT_EQ(told.back().done, total);
      }
    };
    const std::vector<Vertex> seeds(10, 3);
    check("batches", 4, [&] {
      (void)sample_batches(graph, {.seeds = seeds,
                                   .fanouts = {2},
                                   .batch_size = 3,
                                   .devices = devices,
                                   .session = session});
    });
    check("walks", 10, [&] {
      (void)random_walks(graph,
                         {.starts = seeds, .length = 3, .devices = devices, .session = session});
    });
    check("sources", 256,
          [&] { (void)betweenness(graph, {.devices = devices, .session = session}); });
    check("sources", 10,
          [&] { (void)bfs_from_each(graph, seeds, {.devices = devices, .session = session}); });
    check("iterations", 50, [&] {
      PageRankOptions options;
      options.max_iterations = 50;
      options.devices = devices;
      options.session = session;
      EXPECT_GT(pagerank(graph, options).iterations, 0u);
    });
    EXPECT_TRUE(
        told_by([&] { (void)bfs(graph, {.devices = devices, .session = session}); }).empty());
  }
}

TEST(Progress, WhatItsFunctionThrowsEndsTheCall) {
  const Session session({.device = DeviceKind::cpu});
  struct Enough {};
  {
    int calls = 0;
    const TellProgress telling([&](const Progress&) {
      if (++calls == 2) throw Enough();
    });
    // On a star it swings back and forth for ever.
    PageRankOptions options;
    options.damping = 1 - 1e-12;
    options.tolerance = 0;
    options.max_iterations = std::numeric_limits<std::uint32_t>::max();
    options.personalization.assign(10, 1.0);
    options.session = session;
    const std::vector<Vertex> middle(9, 0), others{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const Graph star = from_edges(middle, others, {}, 10, {.symmetrize = true});
    EXPECT_THROW((void)pagerank(star, options), Enough);
    EXPECT_EQ(calls, 2);
  }
  EXPECT_EQ(bfs(read("grid:5x5"), {.session = session}).reached, 25u);
}

TEST(Session, MemoryThatIsShortIsMadeByForgettingOthers) {
  const Session session({.device = DeviceKind::cpu});
  api::Teams& teams = *session.teams();
  const api::Place place{DeviceKind::cpu, 2};
  teams.run(place, 1, [](team::Team&, RankStore& store) {
    store[{1, 0}] = std::make_shared<int>();
  });
  std::atomic<int> times{0};
  const auto hungry = [&](team::Team& self, RankStore& store) {
    self.barrier();  // All have begun before one may fail.
    if (self.rank() == 0) ++times;
    if (store[{1, 0}] != nullptr) throw MemoryError("here", 10, 5);
    self.barrier();
  };
  teams.run(place, 2, hungry);
  EXPECT_EQ(times, 2);
  // Where nothing else is there to be freed, it is told at once.
  times = 0;
  const auto greedy = [&](team::Team& self, RankStore&) {
    if (self.rank() == 0) ++times;
    throw MemoryError("here", 10, 5);
  };
  EXPECT_THROW(teams.run({DeviceKind::cpu, 1}, 3, greedy), MemoryError);
  EXPECT_EQ(times, 1);
}

TEST(Session, WhatIsKeptGoesWithTheGraph) {
  const Session session({.device = DeviceKind::cpu});
  std::uint64_t number = 0;
  const auto keeps = [&] {
    std::atomic<int> kept{0};
    session.teams()->run({DeviceKind::cpu, 2}, number, [&](team::Team&, RankStore& store) {
      kept += store[{number, static_cast<int>(Edges::device)}] != nullptr ? 1 : 0;
    });
    return kept.load();
  };
  {
    const Graph graph = read("grid:6x6");
    number = graph.state()->number();
    (void)bfs(graph, {.devices = 2, .session = session});
    EXPECT_EQ(keeps(), 2);
    graph.release();
    EXPECT_EQ(keeps(), 0);
    (void)bfs(graph, {.devices = 2, .session = session});
    EXPECT_EQ(keeps(), 2);
  }
  EXPECT_EQ(keeps(), 0);
}

TEST(Session, AClosedOneIsRefused) {
  const Session session({.device = DeviceKind::cpu, .devices = 2});
  const Graph graph = read("grid:4x4");
  EXPECT_EQ(bfs(graph, {.session = session}).info.devices, 2);
  Session copy = session;
  copy.close();
  copy.close();
  EXPECT_TRUE(session.is_closed());
  EXPECT_THROW((void)bfs(graph, {.session = session}), UsageError);
  EXPECT_EQ(bfs(graph, {}).reached, 16u);
}

TEST(Session, BadOptionsAreRefused) {
  EXPECT_THROW(Session({.devices = -1}), UsageError);
  EXPECT_THROW(Session({.device = DeviceKind::cpu, .devices = 33}), UsageError);
  EXPECT_THROW(Session({.threads = -2}), UsageError);
  if (exec::cuda_device_count() == 0) {
    EXPECT_THROW(Session({.device = DeviceKind::cuda}), UsageError);
    EXPECT_THROW((void)bfs(read("grid:2x2"), {.device = DeviceKind::cuda}), UsageError);
  }
}

TEST(Session, EachTakesItsOwnMemory) {
  const auto first = std::make_shared<CountingResource>();
  const auto second = std::make_shared<CountingResource>();
  Session one({.device = DeviceKind::cpu, .memory = first});
  Session other({.device = DeviceKind::cpu, .memory = second});
  const Session plain({.device = DeviceKind::cpu});
  const exec::MemoryUse before = exec::memory_use(exec::Device::cpu(1));
  const Graph graph = read("grid:20x20");
  const auto call = [&](const Session& session) {
    EXPECT_EQ(bfs(graph, {.devices = 2, .session = session}).reached, 400u);
    return std::array<int, 2>{first->given, second->given};
  };
  EXPECT_EQ(call(plain), (std::array{0, 0}));
  const auto firsts = call(one);
  EXPECT_GT(firsts[0], 0);
  EXPECT_EQ(firsts[1], 0);
  const auto seconds = call(other);
  EXPECT_EQ(seconds[0], firsts[0]);
  EXPECT_GT(seconds[1], 0);
  // Both at a time, from two threads.
  std::thread beside([&] { (void)call(one); });
  (void)call(other);
  beside.join();
  EXPECT_GT(first->held, 0u);
  EXPECT_GE(exec::memory_use(exec::Device::cpu(1)).current,
            before.current + first->held + second->held);
  one.close();
  EXPECT_EQ(first->back, first->given);
  EXPECT_EQ(first->held, 0u);
  EXPECT_GT(second->held, 0u) << "the other one goes on";
  (void)call(other);
  other.close();
  EXPECT_EQ(second->back, second->given);
  EXPECT_EQ(second->held, 0u);
}

TEST(Session, TrainingTakesTheSessionsMemory) {
  const auto resource = std::make_shared<CountingResource>();
  Session session({.device = DeviceKind::cpu, .memory = resource});
  const Dataset dataset = read_dataset("community:600,6", {.features = 12, .classes = 3});
  TrainOptions options;
  options.epochs = 2;
  options.session = session;
  options.device = DeviceKind::cpu;
  options.devices = 2;
  (void)train(dataset, options);
  EXPECT_GT(resource->given, 0);
  session.close();
  EXPECT_EQ(resource->back, resource->given);
  EXPECT_EQ(resource->held, 0u);
}

TEST(Session, AResourceThatHasNoMoreEndsTheCallAlone) {
  const auto resource = std::make_shared<CountingResource>(100);
  const Session session({.device = DeviceKind::cpu, .memory = resource});
  const Graph graph = read("grid:20x20");
  EXPECT_THAT([&] { (void)bfs(graph, {.devices = 2, .session = session}); },
              ThrowsMessage<MemoryError>(AllOf(HasSubstr("not enough memory on the host"),
                                               HasSubstr("make the session without it"))));
  resource->set_most(std::uint64_t{1} << 40);
  EXPECT_EQ(bfs(graph, {.devices = 2, .session = session}).reached, 400u);
}

TEST(Session, GraphsAndThreadsShareOne) {
  const Session session({.device = DeviceKind::cpu, .threads = 2});
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Graph graph = graph_of(reference::random_list(400, 1200, t));
      const auto right = reference::bfs_depths(graph.csr(), 0);
      for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(bfs(graph, {.devices = 1 + i % 3, .session = session}).depth, right);
        EXPECT_EQ(connected_components(graph, {.session = session}).label,
                  reference::component_labels(graph.csr()));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Session, ClosingWaitsForTheCallsUnderWay) {
  for (int time = 0; time < 20; ++time) {
    Session session({.device = DeviceKind::cpu});
    const Graph graph = read("grid:30x30");
    std::thread calling([&] {
      try {
        for (;;) EXPECT_EQ(bfs(graph, {.devices = 2, .session = session}).reached, 900u);
      } catch (const UsageError&) {
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(time));
    session.close();
    calling.join();
  }
}

#if !defined(WARREN_SANITIZED_THREADS)
TEST(Session, AForkedChildIsTold) {
  const Session session({.device = DeviceKind::cpu});
  const Graph graph = read("grid:4x4");
  (void)bfs(graph, {.devices = 2, .session = session});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      (void)bfs(graph, {.devices = 2, .session = session});
      _exit(1);
    } catch (const UsageError& error) {
      _exit(std::string(error.what()).find("forked") != std::string::npos ? 0 : 2);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

}  // namespace
}  // namespace warren
