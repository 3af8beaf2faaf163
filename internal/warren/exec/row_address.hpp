// SPDX-License-Identifier: Apache-2.0
// Addresses of a table's rows.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"

namespace warren::exec {

/// `base` + index x bytes, in a GPU's global memory. There it is one instruction (IMAD.WIDE) as the
/// sum's two halves; of mad.wide the assembler makes a product and two additions.
template <class Byte>
WARREN_HD Byte* row_address(Byte* base, std::uint32_t index, std::uint32_t bytes) {
  static_assert(sizeof(Byte) == 1);
#if defined(__CUDA_ARCH__)
  const auto whole = reinterpret_cast<std::uintptr_t>(base);
  std::uint32_t low, high;
  asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, %5;"
      : "=&r"(low), "=r"(high)
      : "r"(index), "r"(bytes), "r"(static_cast<std::uint32_t>(whole)),
        "r"(static_cast<std::uint32_t>(whole >> 32)));
  return static_cast<Byte*>(__cvta_global_to_generic(std::uintptr_t{high} << 32 | low));
#else
  return base + std::uint64_t{index} * bytes;
#endif
}

/// The pointer, to a GPU's global memory, which its compiler then keeps rather than makes anew
/// where it is used.
template <class V>
WARREN_HD V* kept_pointer(V* pointer) {
#if defined(__CUDA_ARCH__)
  auto whole = reinterpret_cast<std::uintptr_t>(pointer);
  asm("" : "+l"(whole));
  return static_cast<V*>(__cvta_global_to_generic(whole));
#else
  return pointer;
#endif
}

}  // namespace warren::exec
