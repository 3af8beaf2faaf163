// SPDX-License-Identifier: Apache-2.0
// A worker's scratch memory as what it is on a GPU: block-shared memory, whose accesses are shorter
// where the compiler knows of it. A pointer that came through other memory has lost that.
#pragma once

#include "warren/exec/atomic.hpp"

namespace warren::exec {

/// `object`, which lies in a worker's scratch memory (as asked for at the launch).
template <class T>
[[nodiscard]] WARREN_HD T& in_block_scratch(T& object) {
#if defined(__CUDA_ARCH__)
  extern __shared__ __align__(16) unsigned char block_scratch[];
  return *reinterpret_cast<T*>(block_scratch + (__cvta_generic_to_shared(&object) -
                                                __cvta_generic_to_shared(block_scratch)));
#else
  return object;
#endif
}

/// Adds to a counter that lies there (and was reached by in_block_scratch()); the sum before.
[[nodiscard]] WARREN_HD inline std::uint32_t add_in_scratch(std::uint32_t& counter,
                                                            std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return atomicAdd_block(&counter, value);
#else
  return atomic_add<Order::relaxed, Scope::block>(counter, value);
#endif
}

}  // namespace warren::exec
