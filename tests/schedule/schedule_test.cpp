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

/// Rank 0 is in a seed() that pushes without end, and spills, when rank 1 fails.
struct FloodedFunction {
  using Task = std::uint64_t;
  int rank = 0;

  std::uint64_t seeds() const { return 1; }
  template <class W, class C>
  void seed(const W& worker, C& context, std::uint64_t) const {
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      throw std::out_of_range("rank 1 fails");
    }
    for (int i = 0; i < 300'000; ++i) context.push(worker, true, 1, Task{0});
  }
  template <class W, class C>
  void operator()(const W&, C&, bool, const Task&) const {}
};

TEST(ScheduleFailure, AFailureEndsARankThatPushesMoreThanRoom) {
  const double begin = now_seconds();
  EXPECT_ANY_THROW(team::run_team({exec::DeviceKind::cpu, 2, 2}, [&](Team& team) {
    const exec::Stream stream(team.device());
    TaskQueue<FloodedFunction::Task> queue(team, {});
    (void)run<exec::Cpu, exec::Serial>(team, stream, queue, FloodedFunction{team.rank()});
  }));
  EXPECT_LT(now_seconds() - begin, 20.0);
}

/// A writer that waits for places which nobody will free is let go when the team ends.
TEST(ScheduleFailure, AWriterThatWaitsForPlacesSeesTheEnd) {
  const exec::Device device = exec::Device::cpu(1);
  const exec::Stream stream(device);
  const detail::Rings<std::uint64_t> rings(device, 1, 1, kSegmentTasks);
  rings.clear(stream);
  stream.synchronize();
  std::uint32_t abort_flag = 0;
  const RingView<std::uint64_t> ring = rings.view(0, 0, &abort_flag);
  EXPECT_EQ(ring.reserve(kSegmentTasks, 0), 0u);
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    exec::atomic_store<Order::relaxed, Scope::system>(abort_flag, 1u);
  });
  EXPECT_EQ(ring.reserve(1, 0), RingView<std::uint64_t>::kNoPlace);
  killer.join();
}

/// The way from 0 to 1 is slow, the way back is not; 2 is far from all; a copy of 25 microseconds
/// is not slow yet.
TEST(ScheduleLinks, SlowOnesAreFoundInWhatWasMeasured) {
  const std::vector<exec::Device> devices(3, exec::Device::cpu(1));
  const double microseconds[3][3] = {{900.0, 26.0, 80.0}, {25.0, 0.0, 80.0}, {90.0, 25.5, 1.0}};
  std::vector<team::Link> table;
  for (const auto& row : microseconds) {
    for (const double each : row) table.push_back({10.0, each});
  }
  const team::Links links(devices, table, std::vector<team::Link>(3));
  EXPECT_EQ(slow_links(links, 0), 0b110u);
  EXPECT_EQ(slow_links(links, 1), 0b100u);
  EXPECT_EQ(slow_links(links, 2), 0b011u);
}

TEST(ScheduleLinks, GatheredAsAsked) {
  team::run_team({exec::DeviceKind::cpu, 3, 3}, [](Team& team) {
    const std::uint32_t me = 1u << static_cast<unsigned>(team.rank());
    EXPECT_EQ(slow_links(team, Gather::always), 0b111u & ~me);
    EXPECT_EQ(slow_links(team, Gather::never), 0u);
    EXPECT_EQ(slow_links(team, Gather::measured), 0u) << "CPUs have one memory";
  });
  team::run_team({exec::DeviceKind::cpu, 1, 1},
                 [](Team& team) { EXPECT_EQ(slow_links(team, Gather::always), 0u); });
}

}  // namespace
}  // namespace warren::schedule
