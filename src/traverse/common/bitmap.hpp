// SPDX-License-Identifier: Apache-2.0
// Bitmaps over vertices, 32 to a word.
#pragma once

#include <bit>

#include "warren/core/types.hpp"
#include "warren/exec/atomic.hpp"

namespace warren::traverse {

using BitmapWord = std::uint32_t;
inline constexpr std::uint32_t kWordBits = 32;

[[nodiscard]] WARREN_HD inline std::uint64_t bitmap_words(std::uint64_t bits) {
  return (bits + kWordBits - 1) / kWordBits;
}
[[nodiscard]] WARREN_HD inline BitmapWord bit_of(Vertex v) {
  return BitmapWord{1} << (v % kWordBits);
}

/// Whether the bit is set, in a bitmap that nobody writes meanwhile.
[[nodiscard]] WARREN_HD inline bool test_bit(const BitmapWord* words, Vertex v) {
  return (words[v / kWordBits] & bit_of(v)) != 0;
}

/// The same where others may set it meanwhile: a stale answer has to be corrected later.
[[nodiscard]] WARREN_HD inline bool test_bit_maybe_stale(const BitmapWord* words, Vertex v) {
  return (exec::load_maybe_stale(words[v / kWordBits]) & bit_of(v)) != 0;
}

/// Sets the bit; true if this call did it.
WARREN_HD inline bool claim_bit(BitmapWord* words, Vertex v) {
  BitmapWord& word = words[v / kWordBits];
  if ((exec::atomic_load(word) & bit_of(v)) != 0) return false;
  return (exec::atomic_or(word, bit_of(v)) & bit_of(v)) == 0;
}

/// The bits of word `index` that stand for vertices in [first, last).
[[nodiscard]] WARREN_HD inline BitmapWord range_mask(std::uint64_t index, std::uint64_t first,
                                                     std::uint64_t last) {
  const std::uint64_t low = index * kWordBits;
  BitmapWord mask = ~BitmapWord{0};
  if (first > low) mask &= first - low >= kWordBits ? 0u : ~BitmapWord{0} << (first - low);
  if (last < low + kWordBits)
    mask &= last <= low ? 0u : ~BitmapWord{0} >> (kWordBits - (last - low));
  return mask;
}

/// Calls f(bit) for every bit of the word that is set, from the lowest on. For the CPU.
template <class F>
void for_each_bit(BitmapWord word, F&& f) {
  for (; word != 0; word &= word - 1) f(static_cast<std::uint32_t>(std::countr_zero(word)));
}

struct BitOr {
  WARREN_HD BitmapWord operator()(BitmapWord a, BitmapWord b) const { return a | b; }
};

}  // namespace warren::traverse
