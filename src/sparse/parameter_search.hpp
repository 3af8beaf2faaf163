// SPDX-License-Identifier: Apache-2.0
// Looking for the best values of several parameters by few measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace warren::sparse {

/// Of each parameter, which of its values: they are numbered from 0 in their order.
using ParameterPlace = std::vector<std::size_t>;

struct FoundPlace {
  ParameterPlace place;
  double cost = 0.0;
};

/// The place of least cost that `tries` measurements find, from `start` on, whose cost is known.
/// `sizes`: how many values each parameter has. No place is measured twice.
///
/// MGG's order (section 6): one parameter after the other, each moved up or down while that lowers
/// the cost; then the retreat: the first one takes the value next to its best while the last one
/// moves the other way. Unlike there a parameter is first moved by two values at a time, so that
/// one bad value does not end the search, then by one towards the better side; and all is done
/// again, until nothing is left to try beside the best or the tries are used up.
[[nodiscard]] FoundPlace search_parameters(
    std::span<const std::size_t> sizes, const FoundPlace& start, std::uint32_t tries,
    const std::function<double(const ParameterPlace&)>& cost);

}  // namespace warren::sparse
