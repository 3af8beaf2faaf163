// SPDX-License-Identifier: Apache-2.0
// Sums over the columns of each head of a row, by a worker for the row. On a GPU lanes read 16
// bytes each where the lanes of a head are a power of two, and hand sums to each other; anywhere
// else a head's columns are gone through one by one.
//
// What is done is a body over rows of T:
//
//   load<N>(at)                  what is read of N columns, `at` from the matrices' beginning
//   sum(loaded, column)          their part of the two sums; `column` of heads x width
//   done(row, head, sums)        called once for a head
//   kSpreads                     whether there is
//   spread(at, row, head, column, loaded, sums)
//                                called for all columns, with the head's sums
#pragma once

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "learn/rows/row_pass.hpp"

namespace warren::learn::detail {

struct HeadShape {
  std::uint64_t heads, width, stride;
  /// Lanes that have a head's columns, 16 bytes of a row each; 0: columns go one by one.
  std::uint32_t together = 0;

  /// For rows of T, `stride` apart, of matrices at these addresses.
  template <class T>
  [[nodiscard]] static HeadShape of(std::uint64_t heads, std::uint64_t width, std::uint64_t stride,
                                    std::initializer_list<const void*> matrices) {
    constexpr std::uint64_t kN = 16 / sizeof(T);
    constexpr std::uint64_t kLanes = 32;
    HeadShape shape{heads, width, stride};
    std::uintptr_t addresses = 0;
    for (const void* matrix : matrices) addresses |= reinterpret_cast<std::uintptr_t>(matrix);
    if (stride % kN != 0 || addresses % 16 != 0) return shape;
    // Of one head alone, lanes behind its last column go along.
    const std::uint64_t lanes = heads == 1 ? std::bit_ceil(stride / kN) : width / kN;
    if ((heads == 1 || width % kN == 0) && std::has_single_bit(lanes) && lanes <= kLanes)
      shape.together = static_cast<std::uint32_t>(lanes);
    return shape;
  }
};

struct TwoSums {
  float first = 0.0f, second = 0.0f;
};

/// N numbers from `from[column]` on, 0 from `end` on.
template <std::uint32_t N>
WARREN_HD Floats<N> load_below(const float* from, std::uint64_t column, std::uint64_t end) {
  Floats<N> values;
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) values.at[i] = column + i < end ? from[column + i] : 0.0f;
  return values;
}

template <class T, class W, class Body>
WARREN_HD void each_head(const W& worker, const HeadShape& shape, std::uint64_t row,
                         const Body& body) {
  const std::uint64_t at = row * shape.stride;
  if constexpr (requires { worker.shuffle_xor(0.0f, 1u); }) {
    if (shape.together != 0) {
      static_assert(W::size() == 32, "HeadShape shares a head out among a warp's lanes");
      constexpr std::uint32_t kN = 16 / sizeof(T);
      const auto width = static_cast<std::uint32_t>(shape.width);
      const auto columns = static_cast<std::uint32_t>(shape.heads) * width;
      for (std::uint32_t first = 0; first < columns; first += worker.size() * kN) {
        const std::uint32_t column = first + worker.lane() * kN;
        const bool is_active = column < columns;
        const std::uint32_t head = shape.heads == 1 ? 0 : column / width;
        const auto loaded = body.template load<kN>(at + (is_active ? column : 0));
        TwoSums sums;
        if (is_active) sums = body.sum(loaded, column);
        for (std::uint32_t step = 1; step < shape.together; step *= 2) {
          sums.first += worker.shuffle_xor(sums.first, step);
          sums.second += worker.shuffle_xor(sums.second, step);
        }
        if (!is_active) continue;
        if (worker.lane() % shape.together == 0) body.done(row, head, sums);
        if constexpr (Body::kSpreads) body.spread(at + column, row, head, column, loaded, sums);
      }
      return;
    }
  }
  for (std::uint64_t head = 0; head < shape.heads; ++head) {
    const std::uint64_t first = head * shape.width;
    TwoSums sums;
    worker.for_each(shape.width, [&](std::uint64_t c) {
      const TwoSums part = body.sum(body.template load<1>(at + first + c), first + c);
      sums.first += part.first;
      sums.second += part.second;
    });
    sums.first = worker.reduce(sums.first, exec::Plus{});
    sums.second = worker.reduce(sums.second, exec::Plus{});
    if (worker.lane() == 0) body.done(row, head, sums);
    if constexpr (Body::kSpreads) {
      worker.for_each(shape.width, [&](std::uint64_t c) {
        const std::uint64_t from = at + first + c;
        body.spread(from, row, head, first + c, body.template load<1>(from), sums);
      });
    }
  }
}

}  // namespace warren::learn::detail
