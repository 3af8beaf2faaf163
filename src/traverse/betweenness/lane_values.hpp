// SPDX-License-Identifier: Apache-2.0
// A number for each of eight searches that go on together on the CPU: lanes of SIMD registers of
// the baseline's width, and masks of lanes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace warren::traverse {

/// A bit for each lane.
using LaneMask = std::uint8_t;
inline constexpr std::uint32_t kLaneCount = 8;

/// f(lane) for every lane of a mask.
template <class F>
void for_each_lane(LaneMask lanes, F&& f) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    f(static_cast<std::uint32_t>(std::countr_zero(rest)));
}

class LaneValues {
 public:
  double operator[](std::uint32_t lane) const { return pair_[lane / 2][lane % 2]; }

  /// Adds a row of kLaneCount values.
  void add(const double* row) {
    for (std::uint32_t i = 0; i < kPairs; ++i) {
      Pair theirs;
      std::memcpy(&theirs, row + std::size_t{2} * i, sizeof theirs);
      pair_[i] += theirs;
    }
  }
  /// The same of some lanes.
  void add(const double* row, LaneMask lanes) {
    for (std::uint32_t i = 0; i < kPairs; ++i) {
      Words theirs;
      std::memcpy(&theirs, row + std::size_t{2} * i, sizeof theirs);
      pair_[i] += reinterpret_cast<Pair>(theirs & kWanted[lanes >> 2 * i & 3]);
    }
  }

 private:
  using Pair [[gnu::vector_size(2 * sizeof(double))]] = double;
  using Words [[gnu::vector_size(2 * sizeof(double))]] = std::int64_t;
  static constexpr std::uint32_t kPairs = kLaneCount / 2;
  static constexpr Words kWanted[4] = {{0, 0}, {-1, 0}, {0, -1}, {-1, -1}};

  Pair pair_[kPairs] = {};
};

}  // namespace warren::traverse
