// SPDX-License-Identifier: Apache-2.0
// Atomic operations with order and scope, the same on the CPU (std::atomic_ref) and on GPUs
// (cuda::atomic_ref). Use system scope only where another device or the host takes part: device
// scope is much cheaper. What a block's threads have in their shared memory is for block scope
// alone: GPUs' kernels rely on it.
#pragma once

#include <atomic>
#include <type_traits>

#include "warren/core/types.hpp"

#if defined(__CUDACC__)
#include <cuda/atomic>
#endif

namespace warren::exec {

enum class Scope { block, device, system };
enum class Order { relaxed, acquire, release, acq_rel };

namespace detail {

#if defined(__CUDACC__)
template <Order O>
inline constexpr cuda::std::memory_order kCudaOrder =
    O == Order::relaxed   ? cuda::std::memory_order_relaxed
    : O == Order::acquire ? cuda::std::memory_order_acquire
    : O == Order::release ? cuda::std::memory_order_release
                          : cuda::std::memory_order_acq_rel;
template <Scope S>
inline constexpr cuda::thread_scope kCudaScope = S == Scope::block    ? cuda::thread_scope_block
                                                 : S == Scope::device ? cuda::thread_scope_device
                                                                      : cuda::thread_scope_system;
#endif

template <Order O>
inline constexpr std::memory_order kStdOrder = O == Order::relaxed   ? std::memory_order_relaxed
                                               : O == Order::acquire ? std::memory_order_acquire
                                               : O == Order::release ? std::memory_order_release
                                                                     : std::memory_order_acq_rel;

#if defined(__CUDA_ARCH__)
/// Sums and extremes of 64 bits that are known to lie in global memory. Where that is not known,
/// the compiler adds a loop for shared memory, which has no such operations, and waits for each
/// result to know whether to enter it: several in flight would follow one another, and those whose
/// result nobody wants would be waited for.
template <Scope S, class T>
inline constexpr bool kIsGlobalWord = (S != Scope::block) && std::is_integral_v<T> &&
                                      (sizeof(T) == 8);

#define WARREN_ATOM(how, what)                              \
  asm volatile("atom." how ".global." what " %0, [%1], %2;" \
               : "=l"(old)                                  \
               : "l"(at), "l"(value)                        \
               : "memory")
#define WARREN_REDUCTION(how) \
  asm volatile("red." how ".global.add.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
#define WARREN_ATOM_IN_ORDER(scope, what)     \
  if constexpr (O == Order::relaxed) {        \
    WARREN_ATOM("relaxed." scope, what);      \
  } else if constexpr (O == Order::acquire) { \
    WARREN_ATOM("acquire." scope, what);      \
  } else if constexpr (O == Order::release) { \
    WARREN_ATOM("release." scope, what);      \
  } else {                                    \
    WARREN_ATOM("acq_rel." scope, what);      \
  }
#define WARREN_GLOBAL_WORD(name, what)                            \
  template <Order O, Scope S, class T>                            \
  __device__ T name(T& location, T given) {                       \
    const std::uint64_t at = __cvta_generic_to_global(&location); \
    const auto value = static_cast<std::uint64_t>(given);         \
    std::uint64_t old;                                            \
    if constexpr (S == Scope::device) {                           \
      WARREN_ATOM_IN_ORDER("gpu", what)                           \
    } else {                                                      \
      WARREN_ATOM_IN_ORDER("sys", what)                           \
    }                                                             \
    return static_cast<T>(old);                                   \
  }
WARREN_GLOBAL_WORD(global_add, "add.u64")
WARREN_GLOBAL_WORD(global_min_unsigned, "min.u64")
WARREN_GLOBAL_WORD(global_min_signed, "min.s64")
WARREN_GLOBAL_WORD(global_max_unsigned, "max.u64")
WARREN_GLOBAL_WORD(global_max_signed, "max.s64")
#undef WARREN_GLOBAL_WORD

/// A sum that nobody is told.
template <Order O, Scope S, class T>
__device__ void global_store_add(T& location, T given) {
  static_assert(O == Order::relaxed || O == Order::release);
  const std::uint64_t at = __cvta_generic_to_global(&location);
  const auto value = static_cast<std::uint64_t>(given);
  if constexpr (O == Order::release && S == Scope::device) {
    WARREN_REDUCTION("release.gpu")
  } else if constexpr (O == Order::release) {
    WARREN_REDUCTION("release.sys")
  } else if constexpr (S == Scope::device) {
    WARREN_REDUCTION("relaxed.gpu")
  } else {
    WARREN_REDUCTION("relaxed.sys")
  }
}
#undef WARREN_REDUCTION
#undef WARREN_ATOM_IN_ORDER
#undef WARREN_ATOM
#endif

}  // namespace detail

// One function a verb; `O` is the memory order, `S` the set of threads it is seen by.
#if defined(__CUDA_ARCH__)
#define WARREN_ATOMIC_REF(T, S, location) cuda::atomic_ref<T, detail::kCudaScope<S>>(location)
#define WARREN_ATOMIC_ORDER(O) detail::kCudaOrder<O>
#else
#define WARREN_ATOMIC_REF(T, S, location) std::atomic_ref<T>(location)
#define WARREN_ATOMIC_ORDER(O) detail::kStdOrder<O>
#endif

template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD T atomic_load(const T& location) {
  return WARREN_ATOMIC_REF(T, S, const_cast<T&>(location)).load(WARREN_ATOMIC_ORDER(O));
}
/// Reads what others change meanwhile, where any value since the last barrier will do: a GPU may
/// take it from a first-level cache, which hot words profit from.
template <class T>
WARREN_HD T load_maybe_stale(const T& location) {
#if defined(__CUDA_ARCH__)
  return location;
#else
  return atomic_load(location);
#endif
}
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD void atomic_store(T& location, T value) {
  WARREN_ATOMIC_REF(T, S, location).store(value, WARREN_ATOMIC_ORDER(O));
}
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD T atomic_add(T& location, T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (detail::kIsGlobalWord<S, T>) return detail::global_add<O, S>(location, value);
#endif
  return WARREN_ATOMIC_REF(T, S, location).fetch_add(value, WARREN_ATOMIC_ORDER(O));
}
/// atomic_add() whose result nobody wants (C++26's store_add): a GPU waits for no answer.
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD void atomic_store_add(T& location, T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (detail::kIsGlobalWord<S, T>) {
    detail::global_store_add<O, S>(location, value);
    return;
  }
#endif
  (void)atomic_add<O, S>(location, value);
}
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD T atomic_or(T& location, T value) {
  return WARREN_ATOMIC_REF(T, S, location).fetch_or(value, WARREN_ATOMIC_ORDER(O));
}
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD bool atomic_compare_exchange(T& location, T& expected, T desired) {
  return WARREN_ATOMIC_REF(T, S, location)
      .compare_exchange_strong(expected, desired, WARREN_ATOMIC_ORDER(O),
                               WARREN_ATOMIC_ORDER(Order::relaxed));
}
/// Stores the smaller of the old and the given value; returns the old one.
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD T atomic_min(T& location, T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (detail::kIsGlobalWord<S, T>) {
    if constexpr (std::is_signed_v<T>) return detail::global_min_signed<O, S>(location, value);
    return detail::global_min_unsigned<O, S>(location, value);
  }
  return WARREN_ATOMIC_REF(T, S, location).fetch_min(value, WARREN_ATOMIC_ORDER(O));
#else
  T old = atomic_load<Order::relaxed, S>(location);
  while (value < old && !atomic_compare_exchange<O, S>(location, old, value)) {
  }
  return old;
#endif
}
/// Stores the larger of the old and the given value; returns the old one.
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD T atomic_max(T& location, T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (detail::kIsGlobalWord<S, T>) {
    if constexpr (std::is_signed_v<T>) return detail::global_max_signed<O, S>(location, value);
    return detail::global_max_unsigned<O, S>(location, value);
  }
  return WARREN_ATOMIC_REF(T, S, location).fetch_max(value, WARREN_ATOMIC_ORDER(O));
#else
  T old = atomic_load<Order::relaxed, S>(location);
  while (old < value && !atomic_compare_exchange<O, S>(location, old, value)) {
  }
  return old;
#endif
}
template <Order O = Order::relaxed, Scope S = Scope::device, class T>
WARREN_HD T atomic_exchange(T& location, T value) {
  return WARREN_ATOMIC_REF(T, S, location).exchange(value, WARREN_ATOMIC_ORDER(O));
}

#undef WARREN_ATOMIC_REF
#undef WARREN_ATOMIC_ORDER

}  // namespace warren::exec
