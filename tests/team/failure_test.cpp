// SPDX-License-Identifier: Apache-2.0
// Failing ranks on the CPU, where a step itself may throw.
#include <atomic>
#include <thread>

#include "warren/exec/atomic.hpp"

#include "team/failure_cases.hpp"

namespace warren::team {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, FailureTest, exec::Cpu);

namespace {

/// Reads the memory of all ranks in every step; one thread of one rank throws in step `bad_step`.
struct ThrowingProgram : ToyProgram {
  struct State {
    std::uint64_t step = 0;
  };
  memory::GlobalView<std::uint64_t> table;
  std::uint64_t bad_step = 0;
  bool is_bad = false;

  template <class Grid>
  void step(Grid& grid, const State& state) const {
    std::uint64_t sum = 0;
    grid.template for_each<exec::Thread>(
        table.rows(), [&](const auto&, std::uint64_t row) { sum += table.at(row); });
    if (is_bad && state.step == bad_step && grid.block() == grid.blocks() - 1)
      throw std::out_of_range("a bad step");
    grid.sum(0, sum);
  }
  static State next(const State& state, const Sums&) { return {state.step + 1}; }
  static bool finished(const State&) { return false; }
};

TEST(Failure, AStepThrows) {
  for (const int ranks : {1, 2, 3}) {
    for (std::uint64_t round = 0; round < 60; ++round) {
      const double begin = now_seconds();
      EXPECT_THAT(
          [&] {
            run_team({exec::DeviceKind::cpu, ranks, 2 * ranks}, [&](Team& team) {
              const exec::Stream stream(team.device());
              std::vector<std::uint64_t> cuts;
              for (int q = 0; q <= team.size(); ++q)
                cuts.push_back(static_cast<std::uint64_t>(q) * 2000);
              // Freed while the exception passes: the other ranks must have stopped reading by
              // then.
              memory::GlobalArray<std::uint64_t> table(team, cuts, 1, memory::Placement::device);
              std::fill_n(table.local_data(), table.local_size(), std::uint64_t{1});
              ThrowingProgram program;
              program.table = table.view();
              program.bad_step = round % 7;
              program.is_bad = team.rank() == team.size() - 1;
              (void)run_program<exec::Cpu>(team, stream, program, {});
            });
          },
          ::testing::ThrowsMessage<std::out_of_range>("a bad step"));
      EXPECT_LT(now_seconds() - begin, kSoon);
    }
  }
}

TEST(Failure, ARankFailsWhileOthersReadItsMemory) {
  constexpr std::uint64_t kRows =
      3'000'000;  // Large enough for memory that goes back to the system at once.
  for (int round = 0; round < 10; ++round) {
    EXPECT_THROW(run_team({exec::DeviceKind::cpu, 3, 3},
                          [&](Team& team) {
                            std::vector<std::uint64_t> cuts;
                            for (std::uint64_t q = 0; q <= 3; ++q) cuts.push_back(q * kRows);
                            memory::GlobalArray<std::uint32_t> table(team, cuts, 1,
                                                                     memory::Placement::device);
                            std::fill_n(table.local_data(), table.local_size(), 1u);
                            team.barrier();
                            if (team.rank() == 1) throw std::out_of_range("rank 1");
                            std::uint64_t sum = 0;
                            for (std::uint64_t row = 0; row < 3 * kRows; ++row)
                              sum += table.view().at(row);
                            EXPECT_EQ(sum, 3 * kRows);
                            team.barrier();
                          }),
                 std::out_of_range);
  }
  EXPECT_LT(exec::memory_use(exec::Device::cpu(1)).current, kRows);
}

TEST(Failure, AnAbortWithoutAnExceptionIsReported) {
  EXPECT_THAT(
      [] {
        run_team({exec::DeviceKind::cpu, 3, 3}, [](Team& team) {
          if (team.rank() == 1) team.abort("no more");
        });
      },
      ::testing::ThrowsMessage<TeamError>("rank 1 failed: no more"));
}

TEST(Failure, OthersAreToldWhoFailedAndWhy) {
  std::atomic<int> told{0};
  EXPECT_THROW(run_team({exec::DeviceKind::cpu, 4, 4},
                        [&](Team& team) {
                          if (team.rank() == 2) throw UsageError("nonsense");
                          try {
                            for (;;) team.barrier();
                          } catch (const TeamError& error) {
                            if (std::string(error.what()) == "rank 2 failed: nonsense") ++told;
                            EXPECT_THROW(team.check(), TeamError);
                            EXPECT_EQ(exec::atomic_load(*team.abort_flag()), 1u);
                            throw;
                          }
                        }),
               UsageError);
  EXPECT_EQ(told, 3);
}

/// One step of very many tasks.
struct EndlessStep : ToyProgram {
  struct State {
    bool is_done = false;
  };
  std::atomic<std::uint64_t>* begun = nullptr;
  template <class Grid>
  void step(Grid& grid, const State& /*state*/) const {
    grid.template for_each<exec::Thread>(std::uint64_t{1} << 60, [&](const auto&, std::uint64_t) {
      begun->fetch_add(1);
      begun->notify_all();
    });
  }
  static State next(const State& /*state*/, const Sums& /*sums*/) { return {true}; }
  static bool finished(const State& state) { return state.is_done; }
};

TEST(Failure, AStepOfManyTasksEndsWithTheTeam) {
  for (const int threads : {1, 2}) {
    for (const int ranks : {1, 2}) {
      std::atomic<std::uint64_t> begun{0};
      std::atomic<bool> has_ended{false};
      Team* first = nullptr;
      std::thread ending([&] {
        begun.wait(0);
        first->abort("enough");
        has_ended = true;
        has_ended.notify_all();
      });
      EXPECT_THROW(run_team({exec::DeviceKind::cpu, ranks, threads * ranks},
                            [&](Team& team) {
                              if (team.rank() == 0) first = &team;
                              team.barrier();
                              EndlessStep program;
                              program.begun = &begun;
                              try {
                                (void)run_program<exec::Cpu>(team, exec::Stream(team.device()),
                                                             program, EndlessStep::State{});
                              } catch (const TeamError&) {
                                has_ended.wait(false);  // Who ends a team still has it meanwhile.
                                throw;
                              }
                            }),
                   TeamError);
      ending.join();
    }
  }
}

}  // namespace
}  // namespace warren::team
