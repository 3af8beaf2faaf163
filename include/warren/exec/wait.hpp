// SPDX-License-Identifier: Apache-2.0
// Waiting inside kernels: stepping back between two looks at memory that others change, and a
// clock.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"

#if !defined(__CUDA_ARCH__)
#include <chrono>
#include <thread>
#endif

namespace warren::exec {

/// Lets others run before the next look: there are often more CPU ranks than cores, and on a GPU a
/// spinning warp takes issue slots from those that work.
WARREN_HD inline void back_off([[maybe_unused]] std::uint32_t nanoseconds = 64) {
#if defined(__CUDA_ARCH__)
  __nanosleep(nanoseconds);
#else
  std::this_thread::yield();
#endif
}

/// Nanoseconds of a clock that all threads of a device share.
WARREN_HD inline std::uint64_t clock_nanoseconds() {
#if defined(__CUDA_ARCH__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
#endif
}

}  // namespace warren::exec
