// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <thread>

#include "warren/core/trace.hpp"

#include "schedule/schedule_cases.hpp"

namespace warren::schedule {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, ScheduleTest, exec::Cpu);

/// Tasks go round for ever; one of them throws.
struct ThrowingFunction {
  using Task = std::uint64_t;
  int rank = 0;
  int ranks = 1;
  std::uint64_t fatal = 0;

  std::uint64_t seeds() const { return 3; }
  template <class W, class C>
  void seed(const W& worker, C& context, std::uint64_t i) const {
    context.push(worker, true, rank, i * 1'000'000);
  }
  template <class W, class C>
  void operator()(const W& worker, C& context, bool, const Task& task) const {
    if (task == fatal) throw std::out_of_range("the fatal task");
    context.push(worker, true, static_cast<int>(task % static_cast<Task>(ranks)), task + 1);
  }
};

TEST(ScheduleFailure, ATaskThatThrowsEndsTheTeam) {
  for (const auto& [ranks, threads] : {std::pair{1, 1}, {1, 3}, {2, 5}, {4, 4}}) {
    for (const Form form : {Form::persistent, Form::discrete}) {
      const double begin = now_seconds();
      EXPECT_THAT(([&, ranks = ranks, threads = threads] {
                    team::run_team({exec::DeviceKind::cpu, ranks, threads}, [&](Team& team) {
                      const exec::Stream stream(team.device());
                      TaskQueue<ThrowingFunction::Task> queue(team, {});
                      const ThrowingFunction function{team.rank(), team.size(), 300};
                      (void)run<exec::Cpu, exec::Serial>(team, stream, queue, function, form);
                    });
                  }),
                  ::testing::ThrowsMessage<std::out_of_range>("the fatal task"));
      EXPECT_LT(now_seconds() - begin, 5.0);
    }
  }
}

TEST(ScheduleFailure, AnAbortEndsARunThatWouldNot) {
  for (const Form form : {Form::persistent, Form::discrete}) {
    EXPECT_THAT(
        [&] {
          team::run_team({exec::DeviceKind::cpu, 3, 3}, [&](Team& team) {
            const exec::Stream stream(team.device());
            TaskQueue<ThrowingFunction::Task> queue(team, {});
            std::thread killer;
            if (team.rank() == 1) {
              killer = std::thread([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                team.abort("enough");
              });
            }
            try {
              (void)run<exec::Cpu, exec::Serial>(
                  team, stream, queue, ThrowingFunction{team.rank(), team.size(), ~0ull}, form);
              ADD_FAILURE() << "an endless run ended";
            } catch (...) {
              if (killer.joinable()) killer.join();
              throw;
            }
          });
        },
        ::testing::ThrowsMessage<TeamError>(::testing::HasSubstr("enough")));
  }
}

}  // namespace
}  // namespace warren::schedule
