// SPDX-License-Identifier: Apache-2.0
// Equal shares of a total.
#pragma once

#include <cstdint>

namespace warren::graph::detail {

/// p total / parts, rounded down, without overflow.
[[nodiscard]] constexpr std::uint64_t share(std::uint64_t total, int p, int parts) {
  const auto whole = static_cast<std::uint64_t>(parts);
  const auto part = static_cast<std::uint64_t>(p);
  return total / whole * part + total % whole * part / whole;
}

}  // namespace warren::graph::detail
