// SPDX-License-Identifier: Apache-2.0
// The scheduler on teams of all sizes, with every worker, in both forms, with rings from one task
// up.
#pragma once

#include <random>

#include <gmock/gmock.h>

#include "schedule/toy_functions.hpp"
#include "support/backends.hpp"
#include "support/size.hpp"

namespace warren::schedule {

using team::Team;
using team::TeamOptions;
using testing_support::kIsCuda;
using testing_support::name_of;
using testing_support::random_runs;

template <class Backend>
class ScheduleTest : public testing_support::OnBackend<Backend> {
 protected:
  using Cpu = std::bool_constant<std::is_same_v<Backend, exec::Cpu>>;

  template <class W, class Function = TreeFunction>
  static void expect_tree(const TeamOptions& team_options, QueueOptions options, const Tree& tree,
                          Form form = Form::automatic, std::uint64_t* spilled = nullptr) {
    options.threads_per_processor = threads_per_processor<Function>();
    std::vector<std::uint64_t> expected(37, 0);
    const std::uint64_t tasks = TreeFunction::expected(
        tree.roots, static_cast<std::uint64_t>(team_options.ranks), tree.last, expected);
    team::run_team(team_options, [&](Team& team) {
      const exec::Stream stream(team.device());
      memory::GlobalArray<std::uint64_t> rows(team, shared_out(expected.size(), team.size()), 1,
                                              memory::Placement::device);
      TaskQueue<TreeFunction::Task> queue(team, options);
      const auto function = tree_function<Function>(team, rows.view(), tree);
      for (int run = 0; run < 2; ++run) {
        exec::fill_bytes(stream, rows.local_data(), 0, rows.local_size() * sizeof(std::uint64_t));
        stream.synchronize();
        team.barrier();
        const QueueReport report = schedule::run<Backend, W>(team, stream, queue, function, form);
        const auto found = rows.to_host(team, stream);
        if (team.rank() == 0) {
          EXPECT_EQ(found, expected);
          EXPECT_EQ(report.tasks, tasks);
          if (spilled != nullptr) *spilled = report.spilled;
          most_rounds = std::max(most_rounds, report.rounds);
        }
        team.barrier();
      }
    });
  }
  template <class W, class Held>
  static void expect_held(const TeamOptions& team_options, const QueueOptions& options,
                          const Tree& tree, Form form, std::uint64_t* spilled) {
    constexpr std::uint32_t kLanes = detail::lanes_of<W>(detail::threads_of<Held>());
    QueueOptions larger = options;
    larger.push_batch = (Held::kTasks + kLanes - 1) / kLanes;
    larger.most_pushes = larger.push_batch + 3;
    expect_tree<W, Held>(team_options, larger, tree, form, spilled);
  }
  /// With workers of every kind.
  static void expect_tree(const TeamOptions& team_options, const QueueOptions& options,
                          const Tree& tree, Form form = Form::automatic,
                          std::uint64_t* spilled = nullptr) {
    SCOPED_TRACE(name_of(team_options));
    if (tree.holds) {
      if constexpr (kIsCuda<Backend>) {
        expect_held<exec::Warp, HeldTree<160>>(team_options, options, tree, form, spilled);
        expect_held<exec::Block, HeldTree<1024>>(team_options, options, tree, form, spilled);
      } else {
        expect_held<exec::Serial, HeldTree<160>>(team_options, options, tree, form, spilled);
      }
    } else if constexpr (kIsCuda<Backend>) {
      expect_tree<exec::Thread>(team_options, options, tree, form, spilled);
      expect_tree<exec::Warp>(team_options, options, tree, form, spilled);
      expect_tree<exec::Block>(team_options, options, tree, form, spilled);
    } else {
      expect_tree<exec::Serial>(team_options, options, tree, form, spilled);
    }
  }
  static inline std::uint32_t most_rounds = 0;  ///< Of all runs since a test began.
  static std::vector<TeamOptions> small_teams() {
    std::vector<TeamOptions> result;
    for (const TeamOptions& options : testing_support::teams<Backend>()) {
      if (options.ranks <= 4) result.push_back(options);
    }
    if (!kIsCuda<Backend>) result.push_back({exec::DeviceKind::cpu, 4, 8});
    return result;
  }
  static QueueOptions small_options() {
    QueueOptions options;
    options.most_pushes = 3;
    return options;
  }
};
TYPED_TEST_SUITE_P(ScheduleTest);

TYPED_TEST_P(ScheduleTest, RunsEveryTaskOnce) {
  for (const TeamOptions& team : testing_support::teams<TypeParam>())
    this->expect_tree(team, this->small_options(), {50, 10});
}

TYPED_TEST_P(ScheduleTest, InRounds) {
  for (const TeamOptions& team : testing_support::teams<TypeParam>())
    this->expect_tree(team, this->small_options(), {20, 10}, Form::discrete);
}

/// Kernels, and on the CPU workers, that leave long before the end and come back.
TYPED_TEST_P(ScheduleTest, InSlicesOfTime) {
  this->most_rounds = 0;
  for (TeamOptions team : testing_support::teams<TypeParam>()) {
    for (const std::uint64_t slice : {1, 30'000}) {
      team.slice_nanoseconds = slice;
      QueueOptions options = this->small_options();
      this->expect_tree(team, options, {50, 10});
      this->expect_tree(team, options, {20, 10}, Form::discrete);
      this->expect_tree(team, options, {.roots = 50, .last = 10, .holds = true});
      options.levels = 4;
      this->expect_tree(team, options, {25, 8, true});
    }
  }
  // Any one of these runs may be over before a worker looks at the clock.
  EXPECT_GT(this->most_rounds, 2u);
}

/// The others' slices are over before the rank with the tasks has begun: it runs some all the same.
TYPED_TEST_P(ScheduleTest, ARankThatBeginsAfterTheSlice) {
  using Worker = std::conditional_t<kIsCuda<TypeParam>, exec::Warp, exec::Serial>;
  for (TeamOptions team_options : testing_support::teams<TypeParam>()) {
    if (team_options.ranks > 4) continue;
    SCOPED_TRACE(name_of(team_options));
    team_options.slice_nanoseconds = 1;
    QueueOptions options = this->small_options();
    options.threads_per_processor = threads_per_processor<LateFunction>();
    team::run_team(team_options, [&](Team& team) {
      const exec::Stream stream(team.device());
      TaskQueue<LateFunction::Task> queue(team, options);
      const LateFunction function{20, team.rank() + 1 == team.size(), team.rank(), 1'000'000};
      const QueueReport report = schedule::run<TypeParam, Worker>(team, stream, queue, function);
      if (team.rank() == 0) {
        EXPECT_EQ(report.tasks, 20u);
        EXPECT_LE(report.rounds, 22u);  // The seeds, a task each, the end.
      }
      team.barrier();
    });
  }
}

/// Ranks that cannot address each other's memory: the host carries their tasks.
TYPED_TEST_P(ScheduleTest, RanksApart) {
  using Function = TreeOn<OwnRows>;
  using Worker = std::conditional_t<kIsCuda<TypeParam>, exec::Warp, exec::Serial>;
  for (TeamOptions team_options : testing_support::teams<TypeParam>()) {
    team_options.are_apart = true;
    for (const std::uint64_t capacity : {1, 7, 1 << 12}) {
      const bool has_priorities = capacity == 7;
      SCOPED_TRACE(name_of(team_options) + ", capacity " + std::to_string(capacity) +
                   (has_priorities ? ", priorities" : ""));
      QueueOptions options = this->small_options();
      options.local_capacity = options.receive_capacity = options.spill_capacity = capacity;
      options.batch = 1;
      options.levels = has_priorities ? 4 : 1;
      options.threads_per_processor = threads_per_processor<Function>();
      const Tree tree{25, 8, has_priorities};
      std::vector<std::uint64_t> expected(37, 0);
      const std::uint64_t tasks = Function::expected(
          tree.roots, static_cast<std::uint64_t>(team_options.ranks), tree.last, expected);
      team::run_team(team_options, [&](Team& team) {
        const exec::Stream stream(team.device());
        memory::Buffer<std::uint64_t> counts(team.device(), expected.size());
        TaskQueue<Function::Task> queue(team, options);
        const auto function =
            tree_function<Function>(team, OwnRows{counts.data(), counts.size()}, tree);
        EXPECT_EQ(queue.has_ranks_apart(), team.size() > 1);
        for (int run = 0; run < 2; ++run) {
          exec::fill_bytes(stream, counts.data(), 0, counts.bytes());
          const QueueReport report =
              schedule::run<TypeParam, Worker>(team, stream, queue, function);
          std::vector<std::uint64_t> found = counts.to_host(stream);
          team.sum(found);
          EXPECT_EQ(found, expected);
          EXPECT_EQ(report.tasks, tasks);
          EXPECT_EQ(report.is_persistent, team.size() == 1);
          EXPECT_EQ(report.messages_sent > 0, team.size() > 1);
          EXPECT_EQ(report.bytes_sent % sizeof(Function::Task), 0u);
        }
        if (team.size() > 1) {
          EXPECT_THROW((void)(schedule::run<TypeParam, Worker>(team, stream, queue, function,
                                                               Form::persistent)),
                       UsageError);
        }
      });
    }
  }
}

TYPED_TEST_P(ScheduleTest, WithoutAnyTask) {
  for (const TeamOptions& team : this->small_teams()) {
    this->expect_tree(team, this->small_options(), {0, 10});
    this->expect_tree(team, this->small_options(), {1, 0});
  }
}

TYPED_TEST_P(ScheduleTest, FullRingsLoseNothing) {
  for (const TeamOptions& team : this->small_teams()) {
    for (const std::uint64_t capacity : {1, 7, 200}) {
      SCOPED_TRACE(capacity);
      QueueOptions options = this->small_options();
      options.local_capacity = capacity;
      options.receive_capacity = capacity;
      options.batch = 1;
      options.spill_capacity = capacity;
      std::uint64_t spilled = 0;
      this->expect_tree(team, options, {30, 7}, Form::automatic, &spilled);
      if (capacity == 1) {
        EXPECT_GT(spilled, 0u);
      }
      this->expect_tree(team, options, {15, 6}, Form::discrete);
    }
  }
}

TYPED_TEST_P(ScheduleTest, MoreSeedsThanRoom) {
  for (const TeamOptions& team : this->small_teams()) {
    QueueOptions options = this->small_options();
    options.local_capacity = options.receive_capacity = options.spill_capacity = options.batch = 1;
    this->expect_tree(team, options, {300, 2});
    // A GPU's threads have memory for more.
    constexpr std::uint64_t kMany = kIsCuda<TypeParam> ? 10'000'000 : 20'000;
    try {
      this->expect_tree(team, options, {kMany, 0});
      ADD_FAILURE() << name_of(team);
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("more first tasks than a queue for 1 tasks"));
    }
  }
}

TYPED_TEST_P(ScheduleTest, OneCallThatPushesMoreThanRoom) {
  // What fits is run, once each; what does not is an error that names the option.
  constexpr std::uint64_t kTooMany = kIsCuda<TypeParam> ? 2'000'000 : 200'000;
  for (const TeamOptions& team_options : this->small_teams()) {
    SCOPED_TRACE(name_of(team_options));
    for (const bool in_lists : {false, true}) {
      for (const auto& [of_seed, of_task] : {std::pair<std::uint64_t, std::uint64_t>{30'000, 0},
                                             {0, 30'000},
                                             {kTooMany, 0},
                                             {0, kTooMany}}) {
        SCOPED_TRACE(std::to_string(of_seed) + " and " + std::to_string(of_task) + " pushes" +
                     (in_lists ? " in lists" : ""));
        std::uint64_t ran = 0;
        const auto run = [&, of_seed = of_seed, of_task = of_task] {
          team::run_team(team_options, [&](Team& team) {
            const exec::Stream stream(team.device());
            const auto cuts = shared_out(static_cast<std::uint64_t>(team.size()), team.size());
            memory::GlobalArray<std::uint64_t> done(team, cuts, 1, memory::Placement::device);
            exec::fill_bytes(stream, done.local_data(), 0, sizeof(std::uint64_t));
            stream.synchronize();
            QueueOptions options;
            options.threads_per_processor = threads_per_processor<FloodFunction>();
            if constexpr (kIsCuda<TypeParam>) options.most_pushes = 4;  // Of many more threads.
            TaskQueue<FloodFunction::Task> queue(team, options);
            const FloodFunction function{done.view(), team.rank(), of_seed, of_task, in_lists};
            using W = std::conditional_t<kIsCuda<TypeParam>, exec::Warp, exec::Serial>;
            const QueueReport report = schedule::run<TypeParam, W>(team, stream, queue, function);
            if (team.rank() == 0) ran = report.tasks;
            team.barrier();
          });
        };
        if (of_seed == kTooMany) {  // Nothing runs yet that could make room.
          EXPECT_THAT(run, testing::ThrowsMessage<UsageError>(
                               testing::HasSubstr("set QueueOptions::most_pushes")));
          continue;
        }
        try {
          run();
          EXPECT_EQ(ran, 1 + of_seed + of_task);
        } catch (const UsageError& error) {  // Else other workers have made room meanwhile.
          EXPECT_EQ(of_task, kTooMany);
          EXPECT_THAT(error.what(), testing::HasSubstr("set QueueOptions::most_pushes"));
        }
      }
    }
  }
}

TYPED_TEST_P(ScheduleTest, Priorities) {
  for (const TeamOptions& team : this->small_teams()) {
    for (const double delta : {0.5, 1.0, 3.0, 1e9}) {
      QueueOptions options = this->small_options();
      options.levels = 4;
      options.delta = delta;
      this->expect_tree(team, options, {30, 9, true});
      options.local_capacity = 3;
      this->expect_tree(team, options, {30, 8, true});
    }
  }
}

TYPED_TEST_P(ScheduleTest, WorkersHoldWhatTheyFind) {
  for (const TeamOptions& team : this->small_teams()) {
    for (const bool has_priorities : {false, true}) {
      QueueOptions options = this->small_options();
      if (has_priorities) options.levels = 3;
      this->expect_tree(team, options, {200, 9, has_priorities, true});
      this->expect_tree(team, options, {20, 8, has_priorities, true}, Form::discrete);
      options.local_capacity = 5;
      options.receive_capacity = 70;
      options.spill_capacity = 20;
      options.batch = 64;
      this->expect_tree(team, options, {40, 8, has_priorities, true});
      options.gather = Gather::always;
      this->expect_tree(team, options, {40, 8, has_priorities, true});
    }
  }
}

TYPED_TEST_P(ScheduleTest, GatheredMessages) {
  for (const TeamOptions& team : this->small_teams()) {
    for (const auto& [batch, wait] : {std::pair{1u, 0u}, {100u, 3u}, {64u, 200u}}) {
      QueueOptions options = this->small_options();
      options.gather = Gather::always;
      options.batch = batch;
      options.wait = wait;
      options.link_delay_nanoseconds = 2000;
      options.slow_bandwidth = 1e9;
      this->expect_tree(team, options, {40, 9});
      this->expect_tree(team, options, {20, 8}, Form::discrete);
      options.receive_capacity = batch;
      this->expect_tree(team, options, {20, 8});
    }
  }
}

TYPED_TEST_P(ScheduleTest, GatheringSendsFewerMessages) {
  const TeamOptions pair{kIsCuda<TypeParam> ? exec::DeviceKind::cuda : exec::DeviceKind::cpu, 2, 2,
                         team::Sharing::turns};
  std::uint64_t messages[2] = {}, bytes[2] = {};
  for (int gathers = 0; gathers < 2; ++gathers) {
    team::run_team(pair, [&](Team& team) {
      const exec::Stream stream(team.device());
      memory::GlobalArray<std::uint64_t> rows(team, std::vector<std::uint64_t>{0, 1, 2}, 1,
                                              memory::Placement::device);
      QueueOptions options;
      options.gather = gathers == 1 ? Gather::always : Gather::never;
      options.batch = 512;
      options.wait = 1000;
      TaskQueue<TreeFunction::Task> queue(team, options);
      TreeFunction function;
      function.rows = rows.view();
      function.last = 8;
      function.roots = 2000;
      function.rank = team.rank();
      function.ranks = 2;
      using W = std::conditional_t<kIsCuda<TypeParam>, exec::Thread, exec::Serial>;
      const QueueReport report = schedule::run<TypeParam, W>(team, stream, queue, function);
      if (team.rank() == 0) {
        messages[gathers] = report.messages_sent;
        bytes[gathers] = report.bytes_sent;
        EXPECT_EQ(report.messages.size(), 4u);
        EXPECT_EQ(report.messages[0] + report.messages[3], 0u);
        EXPECT_EQ(report.rank_tasks[0] + report.rank_tasks[1], report.tasks);
      }
      team.barrier();
    });
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_GT(messages[0], 20 * messages[1]);
}

/// A rank that is always busy sends what it has gathered all the same: its task goes round until
/// the other's answer is there.
TYPED_TEST_P(ScheduleTest, FewMessagesOfABusyRankAreSent) {
  const TeamOptions pair{kIsCuda<TypeParam> ? exec::DeviceKind::cuda : exec::DeviceKind::cpu, 2, 2,
                         team::Sharing::side_by_side};
  if (kIsCuda<TypeParam> && testing_support::is_small()) GTEST_SKIP() << "GPUs are not shared";
  team::run_team(pair, [&](Team& team) {
    if (!team.kernels_may_wait()) return;
    const exec::Stream stream(team.device());
    memory::GlobalArray<std::uint64_t> answers(team, std::vector<std::uint64_t>{0, 1, 2}, 1,
                                               memory::Placement::device);
    exec::fill_bytes(stream, answers.local_data(), 0, sizeof(std::uint64_t));
    stream.synchronize();
    QueueOptions options;
    options.gather = Gather::always;
    options.batch = 512;
    options.wait = 20;
    options.local_capacity = 1 << 18;
    TaskQueue<AskingFunction::Task> queue(team, options);
    AskingFunction function;
    function.answers = answers.view();
    function.rank = team.rank();
    // All of rank 0's workers are to be busy.
    function.askers = kIsCuda<TypeParam> ? 1 << 17 : 1;
    using W = std::conditional_t<kIsCuda<TypeParam>, exec::Thread, exec::Serial>;
    (void)schedule::run<TypeParam, W>(team, stream, queue, function);
    const auto found = answers.to_host(team, stream);
    if (team.rank() == 0) {
      EXPECT_EQ(found[0], AskingFunction::kAnswered);
    }
    team.barrier();
  });
}

TYPED_TEST_P(ScheduleTest, SpilledTasksHaveTheirTurn) {
  for (const TeamOptions& team_options : this->small_teams()) {
    SCOPED_TRACE(name_of(team_options));
    for (const std::uint64_t capacity : {1, 5, 300}) {
      SCOPED_TRACE(capacity);
      team::run_team(team_options, [&](Team& team) {
        const exec::Stream stream(team.device());
        const auto cuts = shared_out(static_cast<std::uint64_t>(team.size()), team.size());
        memory::GlobalArray<std::uint64_t> counts(team, cuts, 2, memory::Placement::device);
        exec::fill_bytes(stream, counts.local_data(), 0, 2 * sizeof(std::uint64_t));
        stream.synchronize();
        QueueOptions options;
        options.local_capacity = options.spill_capacity = capacity;
        options.fetch = 1;
        options.threads_per_processor = threads_per_processor<RoundFunction>();
        TaskQueue<RoundFunction::Task> queue(team, options);
        const RoundFunction function{counts.view(), team.rank(),
                                     kIsCuda<TypeParam> ? 1u << 14 : 400u};
        using W = std::conditional_t<kIsCuda<TypeParam>, exec::Warp, exec::Serial>;
        const QueueReport report = schedule::run<TypeParam, W>(team, stream, queue, function);
        const auto found = counts.to_host(team, stream);
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_EQ(found[i], i % 2 == 0 ? function.tasks : 0) << "rank " << i / 2;
        EXPECT_GT(report.spilled, 0u);
        team.barrier();
      });
    }
  }
}

TYPED_TEST_P(ScheduleTest, TheIdleFunctionMakesWork) {
  for (const TeamOptions& team_options : this->small_teams()) {
    SCOPED_TRACE(name_of(team_options));
    for (const Form form : {Form::automatic, Form::discrete}) {
      team::run_team(team_options, [&](Team& team) {
        const exec::Stream stream(team.device());
        const auto cuts = shared_out(static_cast<std::uint64_t>(team.size()), team.size());
        memory::GlobalArray<std::uint64_t> pots(team, cuts, 1, memory::Placement::device);
        memory::GlobalArray<std::uint64_t> done(team, cuts, 1, memory::Placement::device);
        const std::uint64_t jobs = 100;
        exec::copy(stream, pots.local_data(), &jobs, sizeof jobs);
        exec::fill_bytes(stream, done.local_data(), 0, sizeof jobs);
        stream.synchronize();
        TaskQueue<PotFunction::Task> queue(team, {});
        const PotFunction function{pots.view(), done.view(), team.rank(), team.size()};
        using W = std::conditional_t<kIsCuda<TypeParam>, exec::Warp, exec::Serial>;
        const QueueReport report = schedule::run<TypeParam, W>(team, stream, queue, function, form);
        // Every job that was handed out went around to its end, whenever the run ended.
        std::uint64_t handed_out = 0, ran = 0;
        for (const std::uint64_t left : pots.to_host(team, stream)) handed_out += jobs - left;
        for (const std::uint64_t count : done.to_host(team, stream)) ran += count;
        const auto ranks = static_cast<std::uint64_t>(team.size());
        EXPECT_EQ(ran, ranks + handed_out * (ranks + 1));
        EXPECT_EQ(report.tasks, ran);
        EXPECT_GE(handed_out, 1u);
        team.barrier();
      });
    }
  }
}

/// What idle() holds is pushed, and run, whenever the run ends and however long the push takes.
TYPED_TEST_P(ScheduleTest, WhatTheIdleFunctionHoldsIsNotLost) {
  for (const TeamOptions& team_options : this->small_teams()) {
    SCOPED_TRACE(name_of(team_options));
    for (const Form form : {Form::automatic, Form::discrete}) {
      for (const std::uint64_t pause : {0, 500'000}) {
        for (int repeat = 0; repeat < (pause == 0 ? random_runs(40) : 3); ++repeat) {
          team::run_team(team_options, [&](Team& team) {
            const exec::Stream stream(team.device());
            const auto cuts = shared_out(static_cast<std::uint64_t>(team.size()), team.size());
            memory::GlobalArray<std::uint64_t> pots(team, cuts, 1, memory::Placement::device);
            memory::GlobalArray<std::uint64_t> done(team, cuts, 1, memory::Placement::device);
            const std::uint64_t jobs = 20;
            exec::copy(stream, pots.local_data(), &jobs, sizeof jobs);
            exec::fill_bytes(stream, done.local_data(), 0, sizeof jobs);
            stream.synchronize();
            QueueOptions options;
            options.threads_per_processor = threads_per_processor<HeldPotFunction>();
            TaskQueue<HeldPotFunction::Task> queue(team, options);
            const HeldPotFunction function{pots.view(), done.view(), team.rank(), pause};
            using W = std::conditional_t<kIsCuda<TypeParam>, exec::Warp, exec::Serial>;
            const QueueReport report =
                schedule::run<TypeParam, W>(team, stream, queue, function, form);
            std::uint64_t handed_out = 0, ran = 0;
            for (const std::uint64_t left : pots.to_host(team, stream)) handed_out += jobs - left;
            for (const std::uint64_t count : done.to_host(team, stream)) ran += count;
            EXPECT_EQ(ran, static_cast<std::uint64_t>(team.size()) + handed_out);
            EXPECT_EQ(report.tasks, ran);
            EXPECT_GE(handed_out, 1u);
            team.barrier();
          });
        }
      }
    }
  }
}

TYPED_TEST_P(ScheduleTest, APushToNoRankIsNamed) {
  for (const TeamOptions& team_options : this->small_teams()) {
    SCOPED_TRACE(name_of(team_options));
    for (const int stray : {team_options.ranks, -1, 1000}) {
      for (const bool in_list : {false, true}) {
        SCOPED_TRACE(in_list ? "in a list" : "by itself");
        EXPECT_THAT(
            [&] {
              team::run_team(team_options, [&](Team& team) {
                const exec::Stream stream(team.device());
                using W = std::conditional_t<kIsCuda<TypeParam>, exec::Warp, exec::Serial>;
                QueueOptions options;
                options.fetch = 1;
                options.push_batch = 3 * StrayFunction::kList;
                options.threads_per_processor = threads_per_processor<StrayFunction>();
                TaskQueue<StrayFunction::Task> queue(team, options);
                const StrayFunction function{team.rank(), team.size(), stray, in_list};
                (void)schedule::run<TypeParam, W>(team, stream, queue, function);
                ADD_FAILURE() << "rank " << team.rank() << " did not notice";
              });
            },
            ::testing::ThrowsMessage<UsageError>(
                ::testing::HasSubstr("pushed to rank " + std::to_string(stray) + ",")));
      }
    }
  }
}

TYPED_TEST_P(ScheduleTest, OptionsThatCannotBe) {
  const TeamOptions one{kIsCuda<TypeParam> ? exec::DeviceKind::cuda : exec::DeviceKind::cpu, 1, 1};
  const auto expect_error = [&](auto change, const std::string& says) {
    SCOPED_TRACE(says);
    QueueOptions options;
    change(options);
    EXPECT_THAT(
        [&] {
          team::run_team(one, [&](Team& team) { const TaskQueue<int> queue(team, options); });
        },
        ::testing::ThrowsMessage<UsageError>(::testing::HasSubstr(says)));
  };
  expect_error([](QueueOptions& o) { o.local_capacity = 0; }, "local queue of 0");
  expect_error([](QueueOptions& o) { o.receive_capacity = 0; }, "receive queue of 0");
  expect_error([](QueueOptions& o) { o.spill_capacity = 0; }, "spill of 0");
  expect_error([](QueueOptions& o) { o.local_capacity = ~std::uint64_t{0}; }, "from 1 to 2^40");
  expect_error([](QueueOptions& o) { o.batch = 0; }, "batch of 0");
  expect_error([](QueueOptions& o) { o.batch = 70000; }, "batch of 70000");
  expect_error([](QueueOptions& o) { o.fetch = 0; }, "fetch of 0");
  expect_error([](QueueOptions& o) { o.push_batch = 0; }, "pushes of 0 tasks");
  expect_error([](QueueOptions& o) { o.threads_per_processor = 2049; }, "2049 threads");
  expect_error([](QueueOptions& o) { o.slow_bandwidth = -1.0; }, "slowed link of -1");
  expect_error([](QueueOptions& o) { o.levels = 0; }, "0 levels");
  expect_error([](QueueOptions& o) { o.levels = 9; }, "9 levels");
  expect_error([](QueueOptions& o) { o.delta = 0.0; }, "delta");
  QueueOptions huge;
  huge.local_capacity = std::uint64_t{1} << 40;
  EXPECT_THROW(team::run_team(one, [&](Team& team) { const TaskQueue<double> queue(team, huge); }),
               MemoryError);
}

TYPED_TEST_P(ScheduleTest, RandomRunsWithPauses) {
  const std::vector<TeamOptions> teams = this->small_teams();
  std::mt19937_64 random(testing_support::random_seed(1));
  for (int run = 0; run < random_runs(300); ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    QueueOptions options = this->small_options();
    options.local_capacity = std::uint64_t{1} << random() % 10;
    options.receive_capacity = std::uint64_t{1} << random() % 10;
    options.spill_capacity = std::uint64_t{1} << random() % 8;
    options.fetch = 1 + static_cast<std::uint32_t>(random() % 40);
    options.levels = random() % 2 == 0 ? 1 : 1 + static_cast<std::uint32_t>(random() % 8);
    options.delta = random() % 2 == 0 ? 1.0 : 2.5;
    options.gather = random() % 2 == 0 ? Gather::never : Gather::always;
    options.batch = 1 + static_cast<std::uint32_t>(random() % options.receive_capacity);
    options.wait = static_cast<std::uint32_t>(random() % 20);
    options.injected_delay_nanoseconds = random() % 3 == 0 ? 0 : 1u << random() % 17;
    this->expect_tree(teams[random() % teams.size()], options,
                      {random() % 20, 1 + static_cast<std::uint32_t>(random() % 8),
                       random() % 2 == 0, random() % 3 == 0},
                      random() % 4 == 0 ? Form::discrete : Form::automatic);
  }
}

REGISTER_TYPED_TEST_SUITE_P(ScheduleTest, RunsEveryTaskOnce, InRounds, InSlicesOfTime,
                            ARankThatBeginsAfterTheSlice, RanksApart, WithoutAnyTask,
                            FullRingsLoseNothing, MoreSeedsThanRoom, OneCallThatPushesMoreThanRoom,
                            Priorities, WorkersHoldWhatTheyFind, GatheredMessages,
                            GatheringSendsFewerMessages, FewMessagesOfABusyRankAreSent,
                            SpilledTasksHaveTheirTurn, TheIdleFunctionMakesWork,
                            WhatTheIdleFunctionHoldsIsNotLost, APushToNoRankIsNamed,
                            OptionsThatCannotBe, RandomRunsWithPauses);

}  // namespace warren::schedule
