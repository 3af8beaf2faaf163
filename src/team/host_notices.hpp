// SPDX-License-Identifier: Apache-2.0
// What hosts tell each other beside the work: that the team has ended, and why; that the user has
// been told; that a rank has left. Every rank hears for itself; of each host one rank speaks.
//
// Where ranks of several hosts fail at once, the first host's cause counts: a host tells the user
// of its own only when all hosts before it have said that they have none.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "warren/core/types.hpp"

#include "team/fixed_text.hpp"
#include "team/hosts.hpp"
#include "team/process_control.hpp"

namespace warren::team {

class HostNotices {
 public:
  HostNotices(Hosts& hosts, ProcessControl& control) : hosts_(hosts), control_(control) {}

  /// Hears what has come, and says what there is to say. By any thread, at any time.
  void tend() noexcept;
  /// While this rank waits for others: throws TeamError where the team has ended, or ends it where
  /// one that is waited for has left.
  void look();

  /// Whether this host may tell the user why the team has ended. Waits a second at the longest.
  [[nodiscard]] bool may_tell() noexcept;
  /// Until all hosts know of the end, or a second has passed.
  void await_others() noexcept;

  /// Says that this rank has left, and waits until all ranks of other hosts have.
  void leave() noexcept;

 private:
  enum class Kind : std::uint32_t { end, knows, told, left };
  struct Notice {
    Kind kind = Kind::end;
    std::int32_t host = 0;  ///< The sender's.
    std::int32_t failed_rank = -1;
    std::uint32_t is_lost = 0;
    std::int32_t status = 0;  ///< Told.
    FixedText<sizeof(ProcessControl::cause)> cause;
  };

  [[nodiscard]] Notice notice(Kind kind) const noexcept;
  void take(const Notice& heard, int from) noexcept;
  /// To the ranks of all other hosts.
  void tell_all(const Notice& said) noexcept;
  [[nodiscard]] bool is_own_end() const noexcept {
    return control_.ended_by.load() == control_.host;
  }
  /// Calls tend() until is_done(), a second at the longest.
  template <class F>
  void tend_until(F&& is_done) noexcept;

  Hosts& hosts_;
  ProcessControl& control_;
  std::array<std::atomic<bool>, kMaxRanks> has_left_{};  ///< Ranks of other hosts.
  std::atomic<std::int64_t> missed_since_{0};  ///< When a rank that has left was first waited for.
  // MPI may read them at any later time: the process's end frees them.
  Notice end_, told_, left_;
  std::array<Notice, kMaxRanks> answers_;
};

}  // namespace warren::team
