// SPDX-License-Identifier: Apache-2.0
// Where long work of the host may be ended. Whoever calls says how it is known that the call has
// been ended (InterruptPoints); what works for it asks between two parts (interrupt_point()). The
// thread pool asks before every piece of a loop, in all its threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

namespace warren {

/// While it lives interrupt_point() of this thread asks, and of the threads of a pool that work for
/// it. Where there is one within another both are asked.
class InterruptPoints {
 public:
  /// `ask` is called about twenty times a second, by this thread alone, and throws where the call
  /// has been ended; the threads that help it throw after that.
  explicit InterruptPoints(const std::function<void()>& ask) noexcept;
  /// `check` is called once `flag` is not 0, by any of the threads, and throws what ends the call.
  InterruptPoints(const std::uint32_t& flag, const std::function<void()>& check) noexcept;
  ~InterruptPoints();
  InterruptPoints(const InterruptPoints&) = delete;
  InterruptPoints& operator=(const InterruptPoints&) = delete;

  /// This thread's; nullptr where it has none, or an exception is on its way: what takes things
  /// down is not ended.
  [[nodiscard]] static InterruptPoints* current() noexcept;

 private:
  friend class HelpsInterrupted;
  friend void interrupt_point();

  /// Throws where the call has been ended. `may_ask`: this is the thread whose points they are.
  void check(bool may_ask);

  const std::function<void()>& ask_;
  const std::uint32_t* flag_ = nullptr;
  std::atomic<bool> has_ended_{false};  ///< What was asked has thrown.
  InterruptPoints* before_;
  bool was_helping_;
};

/// While it lives this thread works for the one whose points are given; nullptr: for none.
class HelpsInterrupted {
 public:
  explicit HelpsInterrupted(InterruptPoints* points) noexcept;
  ~HelpsInterrupted();
  HelpsInterrupted(const HelpsInterrupted&) = delete;
  HelpsInterrupted& operator=(const HelpsInterrupted&) = delete;

 private:
  InterruptPoints* before_;
  bool was_helping_;
};

/// Throws what ends the call, where it has been ended: Interrupted of who asked for it, TeamError
/// of a rank whose team has ended. Costs nanoseconds: to be called between parts of the work that
/// take microseconds or more, as long as they do not take a tenth of a second.
void interrupt_point();

/// body(begin, end) over [first, last) in order, in pieces between which the call may be ended.
template <class Body>
void in_pieces(std::uint64_t first, std::uint64_t last, std::uint64_t piece, Body&& body) {
  for (std::uint64_t begin = first; begin < last;) {
    interrupt_point();
    const std::uint64_t end = begin + std::min(piece, last - begin);
    body(begin, end);
    begin = end;
  }
}

/// interrupt_point() at one of 4096 calls: for loops whose turns take nanoseconds.
class SeldomInterruptPoint {
 public:
  void operator()() {
    constexpr std::uint32_t kTurns = 4096;
    if (++calls_ % kTurns == 0) interrupt_point();
  }

 private:
  std::uint32_t calls_ = 0;
};

}  // namespace warren
