// SPDX-License-Identifier: Apache-2.0
// The calling thread's current GPU, which belongs to the program: other libraries go by it.
#pragma once

namespace warren::exec {

/// Puts the calling thread's current GPU back at the end of a scope. Threads of warren's own need
/// none.
class KeepCurrentDevice {
 public:
  KeepCurrentDevice() noexcept;
  ~KeepCurrentDevice();
  KeepCurrentDevice(const KeepCurrentDevice&) = delete;
  KeepCurrentDevice& operator=(const KeepCurrentDevice&) = delete;

 private:
  int index_;  ///< -1: unknown.
};

}  // namespace warren::exec
