// SPDX-License-Identifier: Apache-2.0
// Rows on their way to tensor cores through shared memory: copies that nobody waits for before they
// are asked to, and loads of what lies there in the order in which tensor cores take it
// (tensor_cores.hpp). Copies of lanes side by side in a row are whole lines. Loads of eight rows at
// once take one turn if their 16 bytes lie in different banks: rows are to be an odd number of 16
// bytes apart.
//
// On the CPU, and on GPUs older than compute capability 8.0, a copy is done at once.
#pragma once

#include <cstdint>
#include <cstring>

#include "warren/core/types.hpp"
#include "warren/exec/tensor_cores.hpp"

namespace warren::exec {

/// Whether copies go on beside the kernel (cp.async, of compute capability 8.0 and later).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WARREN_COPIES_BEHIND 1
#else
#define WARREN_COPIES_BEHIND 0
#endif

/// An address in memory that a worker's lanes share, of one register on a GPU.
class SharedPlace {
 public:
#if defined(__CUDA_ARCH__)
  WARREN_HD explicit SharedPlace(void* data, std::uint32_t bytes = 0)
      : at_(made_once(static_cast<std::uint32_t>(__cvta_generic_to_shared(data)) + bytes)) {}
#else
  WARREN_HD explicit SharedPlace(void* data, std::uint32_t bytes = 0)
      : at_(static_cast<unsigned char*>(data) + bytes) {}
#endif
  WARREN_HD SharedPlace operator+(std::uint32_t bytes) const {
    SharedPlace result = *this;
    result.at_ += bytes;
    return result;
  }
  [[nodiscard]] WARREN_HD auto get() const { return at_; }

 private:
#if defined(__CUDA_ARCH__)
  std::uint32_t at_;
#else
  unsigned char* at_;
#endif
};

#if defined(__CUDA_ARCH__) && !WARREN_COPIES_BEHIND
namespace detail {
/// Writes kBytes through registers.
template <std::uint32_t kBytes>
__device__ void store_shared(SharedPlace to, const std::uint32_t (&words)[4]) {
  if constexpr (kBytes == 16) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to.get()), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  } else {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to.get()), "r"(words[0]), "r"(words[1])
                 : "memory");
  }
}
template <std::uint32_t kBytes>
__device__ void copy_now(SharedPlace to, const void* from, bool is_there) {
  std::uint32_t words[4] = {};
  if (is_there) {
    if constexpr (kBytes == 16) {
      const uint4 read = *static_cast<const uint4*>(from);
      words[0] = read.x, words[1] = read.y, words[2] = read.z, words[3] = read.w;
    } else {
      const uint2 read = *static_cast<const uint2*>(from);
      words[0] = read.x, words[1] = read.y;
    }
  }
  store_shared<kBytes>(to, words);
}
}  // namespace detail
#endif

/// Begins to copy kBytes (8 or 16, aligned to as many) from a GPU's global memory.
template <std::uint32_t kBytes>
WARREN_HD void copy_behind(SharedPlace to, const void* from) {
  static_assert(kBytes == 8 || kBytes == 16);
#if WARREN_COPIES_BEHIND
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to.get()),
               "l"(__cvta_generic_to_global(from)), "n"(kBytes)
               : "memory");
#elif defined(__CUDA_ARCH__)
  detail::copy_now<kBytes>(to, from, true);
#else
  std::memcpy(to.get(), from, kBytes);
#endif
}

/// The same, or zeros where there is nothing to copy; `from` is an address nevertheless.
template <std::uint32_t kBytes>
WARREN_HD void copy_or_clear(SharedPlace to, const void* from, bool is_there) {
  static_assert(kBytes == 8 || kBytes == 16);
#if WARREN_COPIES_BEHIND
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to.get()),
               "l"(__cvta_generic_to_global(from)), "n"(kBytes), "r"(is_there ? kBytes : 0u)
               : "memory");
#elif defined(__CUDA_ARCH__)
  detail::copy_now<kBytes>(to, from, is_there);
#else
  if (is_there) {
    std::memcpy(to.get(), from, kBytes);
  } else {
    std::memset(to.get(), 0, kBytes);
  }
#endif
}

/// What this thread has begun to copy since the last call is a group, which may be empty.
WARREN_HD inline void end_copies() {
#if WARREN_COPIES_BEHIND
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all of this thread's groups but the last kLeft are there. Other lanes see them after
/// a sync().
template <std::uint32_t kLeft>
WARREN_HD void wait_for_copies() {
#if WARREN_COPIES_BEHIND
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

/// Four matrices of 8 x 8 numbers of 16 bits, by all lanes of a warp: lane 8 i + r has the place of
/// row r of matrix i, 16 bytes, and lane 4 g + t gets the i-th's numbers in row g and columns 2 t
/// and 2 t + 1 in words[i], the first in the low half; kIsTransposed: those in column g and rows 2
/// t and 2 t + 1. (ldmatrix in the PTX ISA's manual.)
template <bool kIsTransposed, class W>
WARREN_HD void load_tiles([[maybe_unused]] const W& worker, SharedPlace row,
                          std::uint32_t (&words)[4]) {
#if defined(__CUDA_ARCH__)
  if constexpr (kIsTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(row.get())
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(row.get())
                 : "memory");
  }
#else
  const unsigned char* rows[32];
  worker.gather_all(static_cast<const unsigned char*>(row.get()), rows);
  const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      const std::uint32_t r = kIsTransposed ? 2 * t + half : g;
      const std::uint32_t column = kIsTransposed ? g : 2 * t + half;
      std::uint16_t number = 0;
      std::memcpy(&number, rows[i * 8 + r] + column * sizeof number, sizeof number);
      words[i] = half == 0 ? number : words[i] | std::uint32_t{number} << 16;
    }
  }
#endif
}

#undef WARREN_COPIES_BEHIND

}  // namespace warren::exec
