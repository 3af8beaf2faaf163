// SPDX-License-Identifier: Apache-2.0
// What stands out among values of all vertices: the largest ones, and the largest components.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/core/types.hpp"

namespace warren {

/// The vertices of the largest values, at most `most` of those that `counts(v)` says are to be
/// looked at, ties by vertex. O(n).
template <class T, class Counts>
[[nodiscard]] std::vector<Vertex> largest_values(std::span<const T> values, std::size_t most,
                                                 Counts&& counts) {
  std::vector<Vertex> order;
  for (std::size_t v = 0; v < values.size(); ++v) {
    if (counts(static_cast<Vertex>(v))) order.push_back(static_cast<Vertex>(v));
  }
  const std::size_t kept = std::min(most, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [&](Vertex a, Vertex b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(kept);
  return order;
}
template <class T>
[[nodiscard]] std::vector<Vertex> largest_values(std::span<const T> values, std::size_t most) {
  return largest_values(values, most, [](Vertex /*v*/) { return true; });
}

/// Vertices of a component, and its label.
using ComponentSize = std::pair<std::uint64_t, Vertex>;
/// The largest of the components that `labels` name, as ComponentsResult::label, at most `most`,
/// ties by label. O(n). Throws UsageError for a label that is no vertex: arrays of results may have
/// been written.
[[nodiscard]] inline std::vector<ComponentSize> largest_components(std::span<const Vertex> labels,
                                                                   std::size_t most) {
  std::vector<std::uint64_t> sizes(labels.size(), 0);
  for (const Vertex label : labels) {
    require(label < sizes.size(),
            "the labels of the result were changed: one of them is no vertex");
    ++sizes[label];
  }
  std::vector<ComponentSize> largest;
  for (const Vertex label : largest_values(std::span<const std::uint64_t>(sizes), most,
                                           [&](Vertex v) { return sizes[v] > 0; }))
    largest.emplace_back(sizes[label], label);
  return largest;
}

}  // namespace warren
