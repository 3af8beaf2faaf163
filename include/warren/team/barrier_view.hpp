// SPDX-License-Identifier: Apache-2.0
// The memory of the barrier inside persistent kernels: across the blocks of one device, and across
// the devices of a team. A barrier also adds up a few counters over all blocks of all ranks, since
// what follows a barrier is nearly always a decision about them.
#pragma once

#include <cstdint>
#include <memory>

#include "warren/core/types.hpp"

namespace warren::team {

/// Counters that one barrier adds up.
inline constexpr std::uint32_t kSums = 7;
/// Loops of a step whose tasks any block may take.
inline constexpr std::uint32_t kTickets = 4;

/// A counter and the barrier that it belongs to. Written and read as one word of 16 bytes: whoever
/// sees the step sees the value, without a fence between the two.
struct alignas(16) SumMessage {
  std::uint64_t value;
  std::uint64_t step;
};
/// What one rank sends another at a team-wide barrier: one cache line.
struct alignas(128) StepMessage {
  static constexpr std::uint32_t kSlots = 8;
  SumMessage sums[kSlots];
};
static_assert(kSums < StepMessage::kSlots, "the last slot says whose slice of time is over");

/// Owned by one rank, on its device. Zero at first; a run leaves `arrived`, `sums` and `tickets`
/// zero again.
struct BarrierState {
  alignas(128) std::uint32_t arrived;        ///< Blocks of this device at the barrier.
  alignas(128) std::uint32_t generation;     ///< Barriers passed; kAborted when the team has ended.
  alignas(128) std::uint64_t sums[kSums];    ///< Being added up.
  alignas(128) std::uint64_t totals[kSums];  ///< Of the last barrier, over the team.
  alignas(128) std::uint64_t tickets[kTickets];  ///< Tasks taken in the step's loops.
  alignas(
      128) std::uint64_t slice_end;  ///< When the kernel is to leave the GPU, if it is in slices.
  std::uint32_t is_over;             ///< Since the last barrier, on some rank: all leave.
  alignas(128) std::uint64_t steps;  ///< Team-wide barriers passed, over all runs.
  alignas(128) StepMessage messages[2][kMaxRanks];  ///< By parity of the step, from each rank.
  /// Peers write here to wake their links; nobody reads it. Adjacent lines lie behind different
  /// links.
  struct alignas(128) Line {
    std::uint32_t word;
  };
  static constexpr std::uint32_t kDoorLines = 512;
  Line door[kDoorLines];

  static constexpr std::uint32_t kAborted = 0xffffffffu;
};

/// Enters the kernel: every rank's state as this rank's device addresses it.
struct BarrierView {
  static constexpr std::size_t kResultBytes = 1024;

  BarrierState* states[kMaxRanks] = {};
  const std::uint32_t* abort_flag = nullptr;
  void* result = nullptr;               ///< Pinned: where a run leaves its last state.
  std::uint64_t slice_nanoseconds = 0;  ///< Team::slice_nanoseconds().
  int rank = 0;
  int ranks = 1;

  [[nodiscard]] WARREN_HD BarrierState& mine() const { return *states[rank]; }
};

class BarrierMemory;

}  // namespace warren::team
