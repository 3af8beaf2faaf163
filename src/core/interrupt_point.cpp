// SPDX-License-Identifier: Apache-2.0
#include "warren/core/interrupt_point.hpp"

#include <chrono>
#include <utility>

namespace warren {
namespace {

thread_local const std::function<void()>* asked_here = nullptr;
thread_local std::chrono::steady_clock::time_point asked_last;

}  // namespace

InterruptPoints::InterruptPoints(const std::function<void()>& ask) noexcept
    : before_(std::exchange(asked_here, &ask)) {}
InterruptPoints::~InterruptPoints() { asked_here = before_; }

void interrupt_point() {
  if (asked_here == nullptr) return;
  constexpr std::chrono::milliseconds kPeriod{50};
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_last < kPeriod) return;
  asked_last = now;
  (*asked_here)();
}

}  // namespace warren
