// SPDX-License-Identifier: Apache-2.0
// Where work of the calling thread may be ended: long loops of the host ask whoever called.
#pragma once

#include <functional>

namespace warren {

/// While it lives interrupt_point() of this thread calls `ask`.
class InterruptPoints {
 public:
  explicit InterruptPoints(const std::function<void()>& ask) noexcept;
  ~InterruptPoints();
  InterruptPoints(const InterruptPoints&) = delete;
  InterruptPoints& operator=(const InterruptPoints&) = delete;

 private:
  const std::function<void()>* before_;
};

/// About twenty times a second, where this thread has InterruptPoints, calls what they ask, and
/// throws what that throws. To be called between parts of the work that take milliseconds.
void interrupt_point();

}  // namespace warren
