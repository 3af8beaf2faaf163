// SPDX-License-Identifier: Apache-2.0
// What products on tensor cores are made of: words of two 16-bit numbers. The product itself is a
// collective of warps, multiply_add() of Tile<32> and of CpuBlock.
//
// D += A B, where A is 16 x 16 and B 16 x 8 numbers of type T (Half or BFloat16) and D 16 x 8
// floats. Lane 4 g + t holds
//   a[0], a[1]: A's rows g and g + 8 in columns 2 t and 2 t + 1 (the first in the low half),
//   a[2], a[3]: the same rows in columns 2 t + 8 and 2 t + 9,
//   b[0], b[1]: B's column g in rows 2 t and 2 t + 1, and in rows 2 t + 8 and 2 t + 9,
//   d[0], d[1]: D's row g in columns 2 t and 2 t + 1,
//   d[2], d[3]: D's row g + 8 in the same
// (mma.m16n8k16 in the PTX ISA's manual). Products are exact; they are added to D in float, in an
// order and with a rounding that the hardware fixes: the same operands give the same bits on one
// kind of GPU. Before compute capability 8.0 it is two products of half the size (Half), or
// arithmetic in float without tensor cores (BFloat16).
#pragma once

#include <cstdint>
#include <type_traits>

#include "warren/exec/half.hpp"

namespace warren::exec {

/// Four of the eight bytes of `low` (0 to 3) and `high` (4 to 7): hexadecimal digit i of `which` is
/// the one that becomes byte i.
WARREN_HD inline std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high,
                                             std::uint32_t which) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, which);
#else
  const std::uint64_t all = low | std::uint64_t{high} << 32;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 32; i += 8) {
    const std::uint64_t byte = all >> (which >> (i / 2) & 7u) * 8 & 0xffu;
    result |= static_cast<std::uint32_t>(byte) << i;
  }
  return result;
#endif
}

/// The value, which a GPU's compiler then keeps rather than makes anew where it is used.
template <class V>
WARREN_HD V made_once(V value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(V) == 8) {
    asm("" : "+l"(value));
  } else {
    asm("" : "+r"(value));
  }
#endif
  return value;
}

}  // namespace warren::exec
