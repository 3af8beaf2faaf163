// SPDX-License-Identifier: Apache-2.0
// Kernels that exercise every function of a worker, for all kinds of workers.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"

#include "reference/worker.hpp"

namespace warren::exec {

/// A lane's value in task `task`.
WARREN_HD inline std::uint32_t lane_value(std::uint64_t task, std::uint32_t lane) {
  return static_cast<std::uint32_t>((task * 977 + lane * 131 + 5) % 1013);
}

/// Calls all collectives, twice in a row, with a scratch of one word for each lane.
struct WorkerKernel {
  reference::LaneResults* results;  // One for each task and lane.
  std::uint32_t* loops;             // How often index i was visited, by two loops of each task.
  std::uint64_t loop_count;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint32_t lane = worker.lane();
    std::uint32_t* words = worker.template scratch<std::uint32_t>();
    reference::LaneResults mine{};
    for (int turn = 0; turn < 2; ++turn) {
      const std::uint32_t value = lane_value(task, lane);
      words[lane] = value;
      worker.sync();
      mine.lane = lane;
      mine.size = worker.size();
      mine.sum = worker.reduce(value, Plus{});
      mine.minimum = worker.reduce(words[worker.size() - 1 - lane], Minimum{});
      mine.maximum = worker.reduce(value, Maximum{});
      mine.before = worker.exclusive_scan(value);
      mine.float_before = worker.exclusive_scan(static_cast<float>(value) * 0.25f);
      mine.third = worker.broadcast(value, 2 % worker.size());
      mine.any = worker.any(value % 7 == 0) ? 1u : 0u;
      mine.count = worker.count(value % 3 == 0);
      mine.last_before = worker.last_before(value % 3 == 0);
      mine.wide_sum = worker.reduce(std::uint64_t{value} << 30, Plus{});
      worker.sync();
    }
    results[task * worker.size() + lane] = mine;
    worker.for_each(loop_count, [&](std::uint64_t i) { atomic_add(loops[i], 1u); });
    worker.template for_each_ahead<3>(
        loop_count, [](std::uint64_t i) { return 3 * i + 1; },
        [&](std::uint64_t i, std::uint64_t loaded) {
          if (loaded == 3 * i + 1) atomic_add(loops[i], 1u);
        });
  }
};

/// Lane l of task t brings expand_count(t, l) items; every item must come exactly once, with all
/// lanes in step.
WARREN_HD inline std::uint32_t expand_count(std::uint64_t task, std::uint32_t lane) {
  const auto mixed = static_cast<std::uint32_t>((task * 31 + lane * 17) % 23);
  return mixed < 10 ? 0u : mixed == 22 ? 300u : mixed - 9;  // Many have none, few have many.
}

struct ExpandKernel {
  static constexpr std::uint32_t kMostItems = 512;
  std::uint32_t* visits;      // [task][owner][item]
  std::uint32_t* mismatches;  // Lanes that were not in step, or items that do not exist.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    worker.expand(expand_count(task, worker.lane()),
                  [&](bool is_active, std::uint32_t owner, std::uint32_t item) {
                    // A collective inside: hangs or miscounts unless all lanes are here.
                    const std::uint32_t active = worker.count(is_active);
                    if (active == 0) atomic_add(*mismatches, 1u);
                    if (!is_active) return;
                    if (owner >= worker.size() || item >= expand_count(task, owner)) {
                      atomic_add(*mismatches, 1u);
                      return;
                    }
                    atomic_add(visits[(task * worker.size() + owner) * kMostItems + item], 1u);
                  });
  }
};

}  // namespace warren::exec
