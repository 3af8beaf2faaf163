// SPDX-License-Identifier: Apache-2.0
// BSP programs small enough to be computed by hand.
#pragma once

#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

namespace warren::team {

/// What every toy program has.
struct ToyProgram {
  static constexpr std::uint32_t kThreadsPerBlock = 128;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
};

/// Adds up a hash of (task, salt) over the tasks of all ranks; the sum is the salt of the next
/// step. One wrong sum shows for ever.
struct HashProgram : ToyProgram {
  struct State {
    std::uint64_t step = 0;
    std::uint64_t last = 0;
    std::uint64_t salt = 1;
    std::uint64_t tasks = 0;
    std::uint64_t ranks = 0;
  };
  std::uint64_t rank = 0;
  std::uint64_t tasks = 0;

  WARREN_HD static std::uint64_t hash(std::uint64_t task, std::uint64_t salt) {
    return (task + 1) * (salt | 1) % 1'000'003;
  }
  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    std::uint64_t sum = 0;
    std::uint64_t count = 0;
    grid.template for_each<exec::Thread>(tasks, [&](const auto&, std::uint64_t task) {
      sum += hash(rank * tasks + task, state.salt);
      ++count;
    });
    // A second loop of the same step, over warps: every task is seen once, by whichever lane is
    // first.
    std::uint64_t warps = 0;
    grid.template for_each<exec::Warp>(tasks / 3, [&](const auto& worker, std::uint64_t) {
      if (worker.lane() == 0) ++warps;
    });
    grid.sum(0, sum);
    grid.sum(1, count);
    grid.sum(2, warps);
    grid.sum(6, grid.block() == 0 ? count + 1 : count);
  }
  WARREN_HD static State next(const State& state, const Sums& sums) {
    State later = state;
    later.step = state.step + 1;
    later.salt = sums[0] % 1'000'033;
    if (sums[1] != later.ranks * later.tasks) later.salt = 0;
    if (sums[2] != later.ranks * (later.tasks / 3)) later.salt = 0;
    if (sums[3] + sums[4] + sums[5] != 0) later.salt = 0;
    if (sums[6] < sums[1]) later.salt = 0;
    return later;
  }
  WARREN_HD static bool finished(const State& state) { return state.step == state.last; }

  /// The salt after `steps`, sequentially.
  static std::uint64_t expected(std::uint64_t ranks, std::uint64_t tasks, std::uint64_t steps) {
    std::uint64_t salt = 1;
    for (std::uint64_t step = 0; step < steps; ++step) {
      std::uint64_t sum = 0;
      for (std::uint64_t task = 0; task < ranks * tasks; ++task) sum += hash(task, salt);
      salt = sum % 1'000'033;
    }
    return salt;
  }
};

/// In every step each rank writes a row of its right neighbour and adds to the rows of all ranks,
/// and in the next step looks at what it was written and added itself: whatever the barrier did not
/// make visible is counted as an error.
struct MailProgram : ToyProgram {
  struct State {
    std::uint64_t step = 0;
    std::uint64_t last = 0;
    std::uint64_t errors = 0;
  };
  memory::GlobalView<std::uint64_t>
      letters;  // Two rows of `words` for each rank, by parity of the step.
  memory::GlobalView<std::uint32_t> counters;  // One row of one element for each rank.
  std::uint64_t words = 0;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    const auto me = static_cast<std::uint64_t>(letters.rank);
    const auto ranks = static_cast<std::uint64_t>(letters.ranks);
    const std::uint64_t right = (me + 1) % ranks;
    const std::uint64_t left = (me + ranks - 1) % ranks;
    std::uint64_t errors = 0;
    grid.template for_each<exec::Thread>(words, [&](const auto&, std::uint64_t i) {
      letters.at(right * 2 + state.step % 2, i) = me << 48 | state.step << 24 | i;
      if (state.step == 0) return;
      const std::uint64_t before = state.step - 1;
      if (letters.at(me * 2 + before % 2, i) != (left << 48 | before << 24 | i)) ++errors;
    });
    grid.template for_each<exec::Thread>(
        ranks * 64, [&](const auto&, std::uint64_t i) { counters.atomic_add(i / 64, 1u); });
    grid.sum(0, errors);
  }
  WARREN_HD static State next(const State& state, const Sums& sums) {
    return {state.step + 1, state.last, state.errors + sums[0]};
  }
  WARREN_HD static bool finished(const State& state) { return state.step == state.last; }
};

/// The lanes of every block reverse numbers in the block's scratch.
struct ScratchProgram : ToyProgram {
  static constexpr std::uint32_t kScratchBytes = kThreadsPerBlock * sizeof(std::uint32_t);
  struct State {
    std::uint64_t step = 0;
    std::uint64_t errors = 0;
    std::uint64_t blocks = 0;
  };
  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    const auto block = grid.block_worker();
    auto* words = block.template scratch<std::uint32_t>();
    const auto salt = static_cast<std::uint32_t>(grid.block() * 1000 + state.step);
    words[block.lane()] = block.lane() + salt;
    block.sync();
    const std::uint32_t other = words[block.size() - 1 - block.lane()];
    grid.sum(0, other == block.size() - 1 - block.lane() + salt ? 0 : 1);
    grid.sum(1, block.lane() == 0 ? 1 : 0);
    block.sync();
  }
  WARREN_HD static State next(const State& state, const Sums& sums) {
    return {state.step + 1, state.errors + sums[0], sums[1]};
  }
  WARREN_HD static bool finished(const State& state) { return state.step == 20; }
};

/// Blocks of a cluster read each other's scratch.
struct ClusterProgram : ToyProgram {
  static constexpr std::uint32_t kScratchBytes = 16;
  static constexpr std::uint32_t kClusterBlocks = 4;
  struct State {
    std::uint64_t step = 0;
    std::uint64_t errors = 0;
  };
  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    const auto block = grid.block_worker();
    auto* word = block.template scratch<std::uint32_t>();
    const auto value_of = [&](std::uint32_t id) {
      return static_cast<std::uint32_t>(id * 1000 + state.step);
    };
    if (block.lane() == 0) *word = value_of(grid.block());
    grid.cluster_sync();
    const std::uint32_t peer = (grid.cluster_rank() + 1) % grid.cluster_blocks();
    const bool is_right =
        *grid.cluster_peer(word, peer) == value_of(grid.block() - grid.cluster_rank() + peer);
    grid.sum(0, is_right ? 0 : 1);
    grid.sum(1, grid.cluster_rank() == grid.block() % grid.cluster_blocks() ? 0 : 1);
    grid.cluster_sync();
  }
  WARREN_HD static State next(const State& state, const Sums& sums) {
    return {state.step + 1, state.errors + sums[0] + sums[1]};
  }
  WARREN_HD static bool finished(const State& state) { return state.step == 20; }
};

/// The loops besides for_each: prepared a task ahead, and over the tasks of one block.
struct LoopsProgram : ToyProgram {
  struct State {
    std::uint64_t step = 0;
    std::uint64_t errors = 0;
  };
  std::uint64_t tasks = 0;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    const std::uint64_t salt = state.step + 1;
    std::uint64_t wrong = 0;
    std::uint64_t ahead = 0;
    grid.template for_each_ahead<exec::Warp>(
        tasks, [&](const auto&, std::uint64_t task) { return task * salt; },
        [&](const auto& worker, std::uint64_t task, std::uint64_t held) {
          if (worker.lane() != 0) return;
          ++ahead;
          if (held != task * salt) ++wrong;
        });
    std::uint64_t inside = 0;
    grid.template block_for_each<exec::Tile<8>>(tasks, [&](const auto& worker, std::uint64_t) {
      if (worker.lane() == 0) ++inside;
    });
    grid.sum(0, wrong);
    grid.sum(1, ahead);
    grid.sum(2, inside);
    grid.sum(3, grid.block_worker().lane() == 0 ? tasks : 0);
    grid.sum(4, grid.block() == 0 && grid.block_worker().lane() == 0 ? tasks : 0);
  }
  WARREN_HD static State next(const State& state, const Sums& sums) {
    const bool is_right = sums[0] == 0 && sums[1] == sums[4] && sums[2] == sums[3];
    return {state.step + 1, state.errors + (is_right ? 0u : 1u)};
  }
  WARREN_HD static bool finished(const State& state) { return state.step == 10; }
};

/// A step of more loops than a grid has tickets for: each visits its tasks once, the last of them
/// loose where the loop is claimed.
struct ManyLoopsProgram : ToyProgram {
  static constexpr std::uint64_t kLoops = 70;
  struct State {
    std::uint64_t step = 0;
    std::uint64_t errors = 0;
  };
  std::uint64_t tasks = 0;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State&) const {
    std::uint64_t tasks_seen = 0;
    std::uint64_t ids_seen = 0;
    const auto see = [&](const auto& worker, std::uint64_t task) {
      if (worker.lane() != 0) return;
      ++tasks_seen;
      ids_seen += task + 1;
    };
    for (std::uint64_t loop = 0; loop < kLoops; ++loop) {
      grid.template for_each<exec::Warp>(tasks, see);
      grid.template for_each_claimed<exec::Warp>(tasks, see, tasks / 3);
    }
    const bool is_first = grid.block() == 0 && grid.block_worker().lane() == 0;
    grid.sum(0, tasks_seen);
    grid.sum(1, ids_seen);
    grid.sum(2, is_first ? 2 * kLoops * tasks : 0);
    grid.sum(3, is_first ? kLoops * tasks * (tasks + 1) : 0);
  }
  WARREN_HD static State next(const State& state, const Sums& sums) {
    const bool is_right = sums[0] == sums[2] && sums[1] == sums[3];
    return {state.step + 1, state.errors + (is_right ? 0u : 1u)};
  }
  WARREN_HD static bool finished(const State& state) { return state.step == 5; }
};

/// Never ends.
struct EndlessProgram : ToyProgram {
  struct State {
    std::uint64_t step = 0;
  };
  template <class Grid>
  WARREN_HD void step(Grid& grid, const State&) const {
    grid.sum(0, 1);
  }
  WARREN_HD static State next(const State& state, const Sums&) { return {state.step + 1}; }
  WARREN_HD static bool finished(const State&) { return false; }
};

}  // namespace warren::team
