// SPDX-License-Identifier: Apache-2.0
// What the ranks of a team of processes tell each other, in memory that all of a host have: the
// barrier, how the team ended, and a place for each rank's values. Waiting is by futexes that are
// not private to a process: std::atomic's own wait() is.
//
// Ranks are numbered here from 0 on each host, but for those that messages name.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include <sched.h>

#include "warren/core/types.hpp"

#include "team/gpu_arena.hpp"

namespace warren::team {

struct ProcessControl {
  /// Values that one barrier adds up.
  static constexpr std::size_t kSumsAtOnce = 16;
  /// Blocks of GPUs that wait for others to close them.
  static constexpr std::size_t kGone = 64;

  struct alignas(128) Slot {
    std::atomic<std::uint32_t> has_left{0};
    std::int32_t process = 0;
    std::int32_t rank = 0;  ///< Its number in the team.
    cpu_set_t cpus{};
    const void* pointer = nullptr;
    ShownBlock shown;  ///< Where ranks run on GPUs, of what `pointer` points to.
    /// The numbers of blocks that are wanted no more, in turn, and how many of these each of the
    /// other ranks has closed.
    std::array<std::uint64_t, kGone> gone{};
    std::atomic<std::uint64_t> gone_count{0};
    std::array<std::atomic<std::uint64_t>, kMaxRanks> closed{};
    const std::byte* staging = nullptr;
    std::array<std::uint64_t, kMaxRanks> first{};  ///< Of what is for each rank, in `staging`.
    std::array<std::uint64_t, kMaxRanks> bytes{};
    std::uint64_t sums[2][kSumsAtOnce] = {};  ///< By parity of the sum.
  };

  std::int32_t ranks = 0;      ///< Of this host.
  std::int32_t all_ranks = 0;  ///< Of all hosts.
  std::int32_t host = 0;       ///< This one's number.
  alignas(128) std::atomic<std::uint32_t> arrived{0};
  alignas(128) std::atomic<std::uint32_t> generation{0};
  alignas(128) std::uint32_t has_ended = 0;  ///< Kernels look at it as well.
  std::atomic<std::uint32_t> is_caused{0};   ///< Somebody writes the cause, or has.
  std::int32_t failed_rank = -1;
  std::uint32_t cause_length = 0;
  std::array<char, 2000> cause{};
  std::atomic<std::uint32_t> is_lost{0};      ///< The cause is a process that has gone.
  std::atomic<std::uint32_t> is_telling{0};   ///< Somebody tells the user why, or has.
  std::atomic<std::int32_t> told_status{-1};  ///< Once that is done: its exit status.
  // Between hosts (HostNotices).
  std::atomic<std::int32_t> ended_by{-1};      ///< The host whose cause is known here.
  std::atomic<std::uint32_t> must_yield{0};    ///< A host before this one has a cause of its own.
  std::atomic<std::uint32_t> is_end_sent{0};   ///< Some rank of this host does, or has.
  std::atomic<std::uint32_t> is_told_sent{0};  ///< The same of the exit status.
  std::array<std::atomic<std::uint32_t>, kMaxRanks> knows_end{};  ///< By host: it has said so.
  std::array<Slot, kMaxRanks> slots{};

  [[nodiscard]] Slot& of(int rank) { return slots[static_cast<std::size_t>(rank)]; }

  /// Ends the team. The first one's message is the cause, cut where it is long. `rank`: its number
  /// in the team; `by`: the host that says so, -1: this one. True: this is the cause.
  bool end(int rank, const std::string& message, int by = -1) noexcept;
  [[nodiscard]] bool is_over() const noexcept;
  /// Throws TeamError with the cause, where the team has ended.
  void check() const;
  [[nodiscard]] std::string text() const;

  /// Returns when all ranks have called. Throws TeamError where the team has ended, or a rank has
  /// left.
  void barrier(int rank);
  /// Wakes who waits at the barrier, to look again.
  void wake_all() noexcept;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace warren::team
