// SPDX-License-Identifier: Apache-2.0
// How far a call's work has come: those who work count, and whoever waits for them looks.
#pragma once

#include <atomic>
#include <cstdint>

namespace warren {

/// What several threads have done of what they are to do. All functions may be called from any
/// thread.
class ProgressCount {
 public:
  /// There are so many more to be done. `unit`: of what, in the plural; of static lifetime.
  void expect(const char* unit, std::uint64_t more) noexcept {
    unit_.store(unit, std::memory_order_relaxed);
    total_.fetch_add(more, std::memory_order_relaxed);
  }
  /// So many more are done.
  void advance(std::uint64_t more) noexcept { done_.fetch_add(more, std::memory_order_relaxed); }

  /// nullptr where nothing is counted.
  [[nodiscard]] const char* unit() const noexcept { return unit_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t done() const noexcept {
    return done_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t total() const noexcept {
    return total_.load(std::memory_order_relaxed);
  }

  /// Of this thread's work; nullptr where nobody looks.
  [[nodiscard]] static ProgressCount* current() noexcept;

 private:
  std::atomic<const char*> unit_{nullptr};
  std::atomic<std::uint64_t> done_{0}, total_{0};
};

/// While it lives this thread's work is counted there.
class CountsProgress {
 public:
  explicit CountsProgress(ProgressCount* count) noexcept;
  ~CountsProgress();
  CountsProgress(const CountsProgress&) = delete;
  CountsProgress& operator=(const CountsProgress&) = delete;

 private:
  ProgressCount* before_;
};

/// Of this thread's work, where somebody looks.
inline void expect_progress(const char* unit, std::uint64_t more) noexcept {
  if (ProgressCount* const count = ProgressCount::current()) count->expect(unit, more);
}
inline void advance_progress(std::uint64_t more) noexcept {
  if (ProgressCount* const count = ProgressCount::current()) count->advance(more);
}

}  // namespace warren
