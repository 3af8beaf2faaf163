// SPDX-License-Identifier: Apache-2.0
#include "warren/core/interrupt_point.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "warren/core/error.hpp"

namespace warren {
namespace {

struct Here {
  InterruptPoints* points = nullptr;
  bool is_helping = false;  ///< They are another thread's.
};

thread_local Here here;
thread_local std::chrono::steady_clock::time_point asked_last;

}  // namespace

InterruptPoints::InterruptPoints(const std::function<void()>& ask) noexcept
    : ask_(ask),
      before_(std::exchange(here.points, this)),
      was_helping_(std::exchange(here.is_helping, false)) {}

InterruptPoints::InterruptPoints(const std::uint32_t& flag,
                                 const std::function<void()>& check) noexcept
    : InterruptPoints(check) {
  flag_ = &flag;
}

InterruptPoints::~InterruptPoints() { here = {before_, was_helping_}; }

InterruptPoints* InterruptPoints::current() noexcept {
  return here.points == nullptr || std::uncaught_exceptions() > 0 ? nullptr : here.points;
}

void InterruptPoints::check(bool may_ask) {
  if (before_ != nullptr) before_->check(may_ask && !was_helping_);
  if (flag_ != nullptr) {
    if (__atomic_load_n(flag_, __ATOMIC_ACQUIRE) != 0 && std::uncaught_exceptions() == 0) ask_();
    return;
  }
  if (!may_ask) {
    if (has_ended_.load(std::memory_order_relaxed) && std::uncaught_exceptions() == 0)
      throw Error("the call was interrupted");  // The thread that asked throws the reason.
    return;
  }
  constexpr std::chrono::milliseconds kPeriod{50};
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_last < kPeriod || std::uncaught_exceptions() > 0) return;
  asked_last = now;
  try {
    ask_();
  } catch (...) {
    has_ended_.store(true, std::memory_order_relaxed);
    throw;
  }
}

HelpsInterrupted::HelpsInterrupted(InterruptPoints* points) noexcept
    : before_(std::exchange(here.points, points)),
      was_helping_(std::exchange(here.is_helping, true)) {}

HelpsInterrupted::~HelpsInterrupted() { here = {before_, was_helping_}; }

void interrupt_point() {
  if (here.points != nullptr) here.points->check(!here.is_helping);
}

}  // namespace warren
