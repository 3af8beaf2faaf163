// SPDX-License-Identifier: Apache-2.0
// One rank fails while the others wait for it, in every way in which ranks wait: run_team() must
// throw that rank's exception soon.
#pragma once

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "warren/core/trace.hpp"

#include "support/backends.hpp"
#include "team/toy_programs.hpp"

namespace warren::team {

using testing_support::kIsCuda;
using testing_support::name_of;

/// Seconds, with room for a machine that is busy with other things.
inline constexpr double kSoon = 15.0;

/// Runs `work` on all ranks but the last, which throws, at once or when the others have begun to
/// wait.
template <class Work>
void expect_failure(const TeamOptions& options, Work&& work) {
  for (const int delay : {0, 100}) {
    SCOPED_TRACE(name_of(options) + ", failing after " + std::to_string(delay) + " ms");
    const double begin = now_seconds();
    try {
      run_team(options, [&](Team& team) {
        if (team.rank() != team.size() - 1) {
          work(team);
          ADD_FAILURE() << "rank " << team.rank() << " did not notice that the team has ended";
          return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        throw std::out_of_range("the last rank is out of range");
      });
      ADD_FAILURE() << "no exception";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "the last rank is out of range");
    }
    EXPECT_LT(now_seconds() - begin, kSoon);
  }
}

/// Teams of several ranks.
template <class Backend>
std::vector<TeamOptions> teams_that_wait() {
  std::vector<TeamOptions> several;
  for (const TeamOptions& options : testing_support::teams<Backend>()) {
    if (options.ranks > 1) several.push_back(options);
  }
  return several;
}

template <class Backend>
class FailureTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(FailureTest);

TYPED_TEST_P(FailureTest, WhileOthersWaitInABarrier) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    expect_failure(options, [](Team& team) { team.barrier(); });
  }
}

TYPED_TEST_P(FailureTest, WhileOthersWaitInAnExchange) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    expect_failure(options, [](Team& team) { (void)team.all_gather(team.rank()); });
  }
}

TYPED_TEST_P(FailureTest, WhileOthersWaitInASum) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    expect_failure(options, [](Team& team) {
      std::uint64_t values[3] = {1, 2, 3};
      team.sum(values);
    });
  }
}

TYPED_TEST_P(FailureTest, WhileOthersStartAProgram) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    expect_failure(options, [](Team& team) {
      const exec::Stream stream(team.device());
      (void)run_program<TypeParam>(team, stream, EndlessProgram{}, {});
    });
  }
}

TYPED_TEST_P(FailureTest, WhileOthersMakeAGlobalArray) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    expect_failure(options, [](Team& team) {
      const std::vector<std::uint64_t> cuts(static_cast<std::size_t>(team.size()) + 1, 0);
      const memory::GlobalArray<int> array(team, cuts, 3, memory::Placement::device);
    });
  }
}

TYPED_TEST_P(FailureTest, WhileOthersWaitInADeviceCollective) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    const double begin = now_seconds();
    EXPECT_THROW(run_team(options,
                          [&](Team& team) {
                            const exec::Stream stream(team.device());
                            memory::Buffer<float> values(team.device(), 100'000);
                            const auto reduce = [&] {
                              team.all_reduce(stream, values.data(), values.data(), values.size(),
                                              DataType::float32, ReduceOp::sum);
                              stream.synchronize();
                            };
                            reduce();
                            if (team.rank() == 0) throw std::out_of_range("rank 0");
                            reduce();
                            // Over NCCL the wait on the stream may end before the next call says
                            // so.
                            team.barrier();
                            ADD_FAILURE() << "rank " << team.rank()
                                          << " did not notice that the team has ended";
                          }),
                 std::out_of_range);
    EXPECT_LT(now_seconds() - begin, 2 * kSoon) << "(making communicators included)";
  }
}

TYPED_TEST_P(FailureTest, AnAbortEndsARunningProgram) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    double aborted = 0.0;
    EXPECT_THAT(
        [&] {
          run_team(options, [&](Team& team) {
            const exec::Stream stream(team.device());
            std::thread killer;
            if (team.rank() == 0) {
              killer = std::thread([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(300));
                aborted = now_seconds();
                team.abort("enough");
              });
            }
            try {
              (void)run_program<TypeParam>(team, stream, EndlessProgram{}, {});
              ADD_FAILURE() << "an endless program ended";
            } catch (...) {
              if (killer.joinable()) killer.join();
              throw;
            }
          });
        },
        ::testing::ThrowsMessage<TeamError>(::testing::HasSubstr("rank 0 failed: enough")));
    EXPECT_LT(now_seconds() - aborted, kSoon);
  }
}

TYPED_TEST_P(FailureTest, TheNextTeamIsNotTouched) {
  for (const TeamOptions& options : teams_that_wait<TypeParam>()) {
    EXPECT_THROW(
        run_team(options,
                 [](Team& team) { throw std::runtime_error(std::to_string(team.rank())); }),
        std::runtime_error);
    run_team(options, [](Team& team) { EXPECT_EQ(team.all_reduce(1, exec::Plus{}), team.size()); });
  }
}

REGISTER_TYPED_TEST_SUITE_P(FailureTest, WhileOthersWaitInABarrier, WhileOthersWaitInAnExchange,
                            WhileOthersWaitInASum, WhileOthersStartAProgram,
                            WhileOthersMakeAGlobalArray, WhileOthersWaitInADeviceCollective,
                            AnAbortEndsARunningProgram, TheNextTeamIsNotTouched);

}  // namespace warren::team
