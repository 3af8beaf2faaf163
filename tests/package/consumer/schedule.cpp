// SPDX-License-Identifier: Apache-2.0
// Tasks that go around three ranks, each passing on one less.
#include "warren/schedule.hpp"

#include <cstdlib>
#include <iostream>

#include "warren/device/tasks.hpp"

using namespace warren;

struct Around {
  using Task = std::uint64_t;
  int rank, ranks;

  [[nodiscard]] WARREN_HD std::uint64_t seeds() const { return rank == 0 ? 1 : 0; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    context.push(worker, worker.lane() == 0, rank, Task{99});
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& left) const {
    context.push(worker, active && left > 0, (rank + 1) % ranks, left - 1);
  }
};

int main() {
  int status = EXIT_SUCCESS;
  team::run_team({exec::DeviceKind::cpu, 3, 3}, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    schedule::TaskQueue<Around::Task> queue(team, {});
    const schedule::QueueReport report = schedule::run<exec::Cpu, exec::Serial>(
        team, stream, queue, Around{team.rank(), team.size()});
    if (team.rank() != 0) return;
    std::cout << report.tasks << " tasks\n";
    if (report.tasks != 100) status = EXIT_FAILURE;
  });
  return status;
}
