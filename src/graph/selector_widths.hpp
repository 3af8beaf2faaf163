// SPDX-License-Identifier: Apache-2.0
// Which four widths make the numbers of a graph shortest, and which of the four a number takes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "warren/graph/compressed.hpp"

namespace warren::graph {

inline constexpr std::uint32_t kSelectors = 4;
/// Numbers by their bit length, 0 to 32.
using LengthCounts = std::array<std::uint64_t, 33>;
/// By class of degree.
using GapHistogram = std::array<LengthCounts, kDegreeClasses>;

inline void add(GapHistogram& total, const GapHistogram& more) {
  for (std::uint32_t c = 0; c < kDegreeClasses; ++c) {
    for (std::size_t bits = 0; bits < total[c].size(); ++bits) total[c][bits] += more[c][bits];
  }
}

/// The smallest of four widths, the last of which is the largest, that holds a number.
class SelectorChoice {
 public:
  SelectorChoice() = default;
  explicit SelectorChoice(SelectorWidths widths) {
    for (std::uint32_t bits = 0; bits < selector_.size(); ++bits) {
      std::uint32_t s = 0;
      while (s + 1 < kSelectors && selected_width(widths, s) < bits) ++s;
      selector_[bits] = static_cast<std::uint8_t>(s);
      width_[bits] = static_cast<std::uint8_t>(selected_width(widths, s));
    }
  }
  [[nodiscard]] std::uint32_t selector_for(std::uint32_t number) const {
    return selector_[static_cast<std::size_t>(std::bit_width(number))];
  }
  [[nodiscard]] std::uint32_t width_for(std::uint32_t number) const {
    return width_[static_cast<std::size_t>(std::bit_width(number))];
  }

 private:
  std::array<std::uint8_t, 33> selector_{};
  std::array<std::uint8_t, 33> width_{};
};

/// The widths, ascending, with which the numbers counted take the fewest bits in all; the last one
/// holds the largest. Of equally good ones the smallest. All 0 where nothing was counted.
[[nodiscard]] inline SelectorWidths choose_widths(const LengthCounts& counts) {
  std::uint32_t largest = 0;
  for (std::uint32_t bits = 0; bits < counts.size(); ++bits) {
    if (counts[bits] != 0) largest = bits;
  }
  // bits[s][w]: of all numbers of at most w bits with s + 1 widths, the largest being w.
  std::array<std::array<std::uint64_t, 33>, kSelectors> bits{};
  std::array<std::array<std::uint32_t, 33>, kSelectors> width_before{};
  std::uint64_t numbers = 0;
  for (std::uint32_t w = 0; w <= largest; ++w) bits[0][w] = (numbers += counts[w]) * w;
  for (std::uint32_t s = 1; s < kSelectors; ++s) {
    for (std::uint32_t w = 0; w <= largest; ++w) {
      bits[s][w] = bits[s - 1][w];
      width_before[s][w] = w;
      std::uint64_t above = 0;  // Numbers of more than v bits.
      for (std::uint32_t v = w; v-- > 0;) {
        above += counts[v + 1];
        const std::uint64_t candidate = bits[s - 1][v] + above * w;
        if (candidate < bits[s][w]) {
          bits[s][w] = candidate;
          width_before[s][w] = v;
        }
      }
    }
  }
  SelectorWidths chosen = 0;
  std::uint32_t width = largest;
  for (std::uint32_t s = kSelectors; s-- > 0;) {
    chosen |= width << 8 * s;
    width = width_before[s][width];
  }
  return chosen;
}

[[nodiscard]] inline std::array<SelectorWidths, kDegreeClasses> choose_widths(
    const GapHistogram& counts) {
  std::array<SelectorWidths, kDegreeClasses> widths{};
  for (std::uint32_t c = 0; c < kDegreeClasses; ++c) widths[c] = choose_widths(counts[c]);
  return widths;
}

}  // namespace warren::graph
