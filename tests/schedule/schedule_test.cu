// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "warren/core/trace.hpp"

#include "schedule/schedule_cases.hpp"

namespace warren::schedule {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, ScheduleTest, exec::Cuda);

namespace {

enum class Fault { trap, access };

/// Tasks go round for ever; one of them does what a GPU does not survive.
struct FaultyFunction {
  using Task = std::uint64_t;
  int rank = 0;
  int ranks = 1;
  Fault fault = Fault::trap;
  std::uint64_t* nowhere = nullptr;

  WARREN_HD std::uint64_t seeds() const { return 3; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t i) const {
    context.push(worker, worker.lane() == 0, rank, i * 1'000'000);
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
#if defined(__CUDA_ARCH__)
    if (active && task == 300) {
      if (fault == Fault::trap) __trap();
      exec::atomic_store(*nowhere, task);
    }
#endif
    context.push(worker, active, static_cast<int>(task % static_cast<Task>(ranks)), task + 1);
  }
};

/// Runs it; the process ends with 0 if that ended in a DeviceError.
void run_to_the_fault(Fault fault, Form form) {
  const double begin = now_seconds();
  try {
    team::run_team({exec::DeviceKind::cuda, exec::cuda_device_count(), 1}, [&](Team& team) {
      const exec::Stream stream(team.device());
      TaskQueue<FaultyFunction::Task> queue(team, {});
      const FaultyFunction function{team.rank(), team.size(), fault,
                                    reinterpret_cast<std::uint64_t*>(std::uintptr_t{64})};
      (void)run<exec::Cuda, exec::Warp>(team, stream, queue, function, form);
    });
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "DeviceError after %s: %s\n",
                 now_seconds() - begin < 30.0 ? "a moment" : "too long", error.what());
    std::_Exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "another error: %s\n", error.what());
  }
  std::_Exit(1);
}

// The device is lost to the process after such an error, so that each happens in a process of its
// own.
TEST(ScheduleCudaDeathTest, ATaskThatTrapsEndsTheTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const Form form : {Form::persistent, Form::discrete}) {
    EXPECT_EXIT(run_to_the_fault(Fault::trap, form), ::testing::ExitedWithCode(0),
                "DeviceError after a moment: .*cuda:");
  }
}

TEST(ScheduleCudaDeathTest, ATaskThatWritesNowhereEndsTheTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const Form form : {Form::persistent, Form::discrete}) {
    EXPECT_EXIT(run_to_the_fault(Fault::access, form), ::testing::ExitedWithCode(0),
                "DeviceError after a moment: .*cuda:.*illegal memory access");
  }
}

/// Rings have room for so many threads and no more.
TEST(ScheduleCuda, AQueueForFewerThreadsIsRefused) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  team::run_team({exec::DeviceKind::cuda, 1, 1}, [&](Team& team) {
    const exec::Stream stream(team.device());
    QueueOptions options;
    options.threads_per_processor = threads_per_processor<TreeFunction>() - 1;
    TaskQueue<TreeFunction::Task> queue(team, options);
    EXPECT_THAT(([&] { (void)run<exec::Cuda, exec::Warp>(team, stream, queue, TreeFunction{}); }),
                ::testing::ThrowsMessage<UsageError>(::testing::HasSubstr("512")));
  });
}

}  // namespace
}  // namespace warren::schedule
