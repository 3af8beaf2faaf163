// SPDX-License-Identifier: Apache-2.0
// Texts of the exceptions.
#include "warren/core/error.hpp"

#include <array>

#include <fmt/format.h>

namespace warren {

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

MemoryError::MemoryError(const std::string& where, std::uint64_t bytes_asked,
                         std::uint64_t bytes_free, const std::string& cure)
    : Error(fmt::format("not enough memory on {}: {} bytes asked ({}), {} bytes free ({}){}{}",
                        where, bytes_asked, human_bytes(bytes_asked), bytes_free,
                        human_bytes(bytes_free), cure.empty() ? "" : "; ", cure)),
      bytes_asked_(bytes_asked),
      bytes_free_(bytes_free) {}

}  // namespace warren
