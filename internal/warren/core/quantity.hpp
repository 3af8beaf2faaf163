// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and the middle of several.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warren {

/// "1,234,567".
[[nodiscard]] std::string thousands(std::uint64_t value);
/// "1.23 G": four characters of digits and a decimal prefix, to be followed by a unit.
[[nodiscard]] std::string with_prefix(double value);
/// "1.23 ms".
[[nodiscard]] std::string duration(double seconds);
/// "1 edge", "2,000 edges".
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& one,
                                  const std::string& many);
/// "12.3 %".
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

/// The middle of `values` by size; 0 for none.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace warren
