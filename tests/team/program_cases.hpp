// SPDX-License-Identifier: Apache-2.0
// BSP programs on teams of all sizes.
#pragma once

#include "support/backends.hpp"
#include "team/toy_programs.hpp"

namespace warren::team {

using testing_support::is_small;
using testing_support::name_of;
using testing_support::teams;

template <class Backend>
class ProgramTest : public testing_support::OnBackend<Backend> {
 protected:
  static void expect_hash(const TeamOptions& options, std::uint64_t tasks, std::uint64_t steps,
                          int runs = 3) {
    SCOPED_TRACE(name_of(options) + ", " + std::to_string(tasks) + " tasks, " +
                 std::to_string(steps) + " steps");
    const std::uint64_t expected =
        HashProgram::expected(static_cast<std::uint64_t>(options.ranks), tasks, steps);
    run_team(options, [&](Team& team) {
      const exec::Stream stream(team.device());
      HashProgram program;
      program.rank = static_cast<std::uint64_t>(team.rank());
      program.tasks = tasks;
      HashProgram::State initial;
      initial.last = steps;
      initial.tasks = tasks;
      initial.ranks = static_cast<std::uint64_t>(team.size());
      for (int run = 0; run < runs; ++run) {
        const HashProgram::State last = run_program<Backend>(team, stream, program, initial);
        EXPECT_EQ(last.step, steps);
        EXPECT_EQ(last.salt, expected) << "rank " << team.rank() << ", run " << run;
      }
    });
  }
};
TYPED_TEST_SUITE_P(ProgramTest);

TYPED_TEST_P(ProgramTest, SumsDecideTheNextStep) {
  for (const TeamOptions& options : teams<TypeParam>()) {
    this->expect_hash(options, 0, 3);
    this->expect_hash(options, 1, 3);
    this->expect_hash(options, 5000, 20);
  }
}

TYPED_TEST_P(ProgramTest, NoSteps) {
  for (const TeamOptions& options : teams<TypeParam>()) this->expect_hash(options, 100, 0);
}

TYPED_TEST_P(ProgramTest, ThousandsOfSteps) {
  for (const TeamOptions& options : teams<TypeParam>())
    this->expect_hash(options, 9, is_small() ? 200 : 2000, 1);
}

/// Kernels that leave after each step, after some, and on one rank before the others.
TYPED_TEST_P(ProgramTest, KernelsInSlicesOfTime) {
  for (TeamOptions options : teams<TypeParam>()) {
    for (const std::uint64_t slice : {1, 30'000, 1'000'000'000}) {
      options.slice_nanoseconds = slice;
      this->expect_hash(options, 0, 3);
      this->expect_hash(options, 5000, is_small() ? 50 : 500);
    }
  }
}

TYPED_TEST_P(ProgramTest, WritesAreSeenAfterTheBarrier) {
  constexpr std::uint64_t kWords = 3000;
  constexpr std::uint64_t kSteps = 200;
  for (const TeamOptions& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    run_team(options, [&](Team& team) {
      const exec::Stream stream(team.device());
      std::vector<std::uint64_t> pairs, ones;
      for (int q = 0; q <= team.size(); ++q) {
        pairs.push_back(static_cast<std::uint64_t>(q) * 2);
        ones.push_back(static_cast<std::uint64_t>(q));
      }
      memory::GlobalArray<std::uint64_t> letters(team, pairs, kWords, memory::Placement::device);
      memory::GlobalArray<std::uint32_t> counters(team, ones, 1, memory::Placement::device);
      exec::fill_bytes(stream, counters.local_data(), 0, sizeof(std::uint32_t));
      MailProgram program;
      program.letters = letters.view();
      program.counters = counters.view();
      program.words = kWords;
      MailProgram::State initial;
      initial.last = kSteps;
      const MailProgram::State last = run_program<TypeParam>(team, stream, program, initial);
      EXPECT_EQ(last.errors, 0u);
      const auto expected =
          static_cast<std::uint32_t>(kSteps * 64 * static_cast<std::uint64_t>(team.size()));
      for (const std::uint32_t count : counters.to_host(team, stream)) EXPECT_EQ(count, expected);
      team.barrier();
    });
  }
}

TYPED_TEST_P(ProgramTest, BlocksHaveScratch) {
  for (const TeamOptions& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    run_team(options, [&](Team& team) {
      const exec::Stream stream(team.device());
      const ScratchProgram::State last = run_program<TypeParam>(team, stream, ScratchProgram{}, {});
      EXPECT_EQ(last.errors, 0u);
      EXPECT_GE(last.blocks, static_cast<std::uint64_t>(team.size()));
    });
  }
}

TYPED_TEST_P(ProgramTest, Clusters) {
  for (const TeamOptions& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    run_team(options, [&](Team& team) {
      const exec::Stream stream(team.device());
      EXPECT_EQ(run_program<TypeParam>(team, stream, ClusterProgram{}, {}).errors, 0u);
    });
  }
}

TYPED_TEST_P(ProgramTest, OtherLoops) {
  for (const TeamOptions& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    run_team(options, [&](Team& team) {
      const exec::Stream stream(team.device());
      for (const std::uint64_t tasks : {0, 1, 7, 1000, 100'003}) {
        LoopsProgram program;
        program.tasks = tasks;
        EXPECT_EQ(run_program<TypeParam>(team, stream, program, {}).errors, 0u)
            << tasks << " tasks";
      }
    });
  }
}

TYPED_TEST_P(ProgramTest, AStepHasAnyNumberOfLoops) {
  for (const TeamOptions& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    run_team(options, [&](Team& team) {
      const exec::Stream stream(team.device());
      for (const std::uint64_t tasks : {0, 1, 7, 1000}) {
        ManyLoopsProgram program;
        program.tasks = tasks;
        EXPECT_EQ(run_program<TypeParam>(team, stream, program, {}).errors, 0u)
            << tasks << " tasks";
      }
    });
  }
}

REGISTER_TYPED_TEST_SUITE_P(ProgramTest, SumsDecideTheNextStep, NoSteps, ThousandsOfSteps,
                            KernelsInSlicesOfTime, WritesAreSeenAfterTheBarrier, BlocksHaveScratch,
                            Clusters, OtherLoops, AStepHasAnyNumberOfLoops);

}  // namespace warren::team
