// SPDX-License-Identifier: Apache-2.0
// What the gather benchmark runs on a device besides gather itself: filling tables, drawing row
// numbers, and the gather written by hand.
#pragma once

#include <cstdint>

#include "warren/exec/launch.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::bench {

WARREN_HD inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x7fb5d329728ea185ull;
  x ^= x >> 27;
  x *= 0x81dadef4bc2dd44dull;
  return x ^ x >> 33;
}

/// words[i] = mix(first + i).
struct FillWords {
  std::uint32_t* words;
  std::uint64_t first;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    words[i] = static_cast<std::uint32_t>(mix(first + i));
  }
};

/// indices[i]: a random row number.
struct DrawRows {
  std::uint64_t* indices;
  std::uint64_t rows;
  std::uint64_t seed;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    indices[i] = mix(seed + i) % rows;
  }
};

template <class Backend>
void fill_words(const exec::Stream& stream, std::uint32_t* words, std::uint64_t count,
                std::uint64_t first) {
  exec::launch<Backend, exec::Thread>(stream, count, FillWords{words, first});
}
template <class Backend>
void draw_rows(const exec::Stream& stream, std::uint64_t* indices, std::uint64_t count,
               std::uint64_t rows, std::uint64_t seed) {
  exec::launch<Backend, exec::Thread>(stream, count, DrawRows{indices, rows, seed});
}

/// The same as memory::gather, for rows of 64, 128, 512 or 2048 bytes, which all exist.
template <class Backend>
void gather_by_hand(const exec::Stream& stream, const memory::GlobalView<std::uint32_t>& table,
                    const std::uint64_t* indices, std::uint64_t count, std::uint32_t* out);

#if WARREN_HAS_CUDA
extern template void fill_words<exec::Cuda>(const exec::Stream&, std::uint32_t*, std::uint64_t,
                                            std::uint64_t);
extern template void draw_rows<exec::Cuda>(const exec::Stream&, std::uint64_t*, std::uint64_t,
                                           std::uint64_t, std::uint64_t);
template <>
void gather_by_hand<exec::Cuda>(const exec::Stream&, const memory::GlobalView<std::uint32_t>&,
                                const std::uint64_t*, std::uint64_t, std::uint32_t*);
#endif
template <>
void gather_by_hand<exec::Cpu>(const exec::Stream&, const memory::GlobalView<std::uint32_t>&,
                               const std::uint64_t*, std::uint64_t, std::uint32_t*);

}  // namespace warren::bench
