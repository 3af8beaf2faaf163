// SPDX-License-Identifier: Apache-2.0
// A sort by the digits of degrees, the least significant first.
#include "graph/falling_degree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

#include "warren/core/interrupt_point.hpp"

namespace warren::graph::detail {

std::vector<Vertex> by_falling_degree(const Graph& graph) {
  constexpr int kDigitBits = 11;
  constexpr std::uint64_t kMask = (std::uint64_t{1} << kDigitBits) - 1;
  constexpr std::uint64_t kSortedAtOnce = std::uint64_t{1} << 20;
  const std::uint64_t n = graph.vertices;
  std::uint64_t most = 0;
  std::vector<Vertex> order(n), sorted(n);
  in_pieces(0, n, kSortedAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      most = std::max<std::uint64_t>(most, graph.degree(static_cast<Vertex>(v)));
      order[v] = static_cast<Vertex>(v);
    }
  });
  const auto bits = static_cast<int>(std::bit_width(most));
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    // Falling: what has the largest digit comes first.
    const auto digit = [&](Vertex v) { return kMask - (graph.degree(v) >> shift & kMask); };
    std::array<std::uint64_t, kMask + 2> place{};
    in_pieces(0, n, kSortedAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) ++place[digit(order[i]) + 1];
    });
    std::partial_sum(place.begin(), place.end(), place.begin());
    in_pieces(0, n, kSortedAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) sorted[place[digit(order[i])]++] = order[i];
    });
    order.swap(sorted);
  }
  return order;
}

}  // namespace warren::graph::detail
