// SPDX-License-Identifier: Apache-2.0
// Gather and scatter on one plain array, one row after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace warren::reference {

template <class T>
std::vector<T> gather(const std::vector<T>& table, std::uint64_t width,
                      const std::vector<std::uint64_t>& indices) {
  std::vector<T> out;
  for (const std::uint64_t row : indices) {
    for (std::uint64_t column = 0; column < width; ++column) {
      out.push_back(row < table.size() / width ? table[row * width + column] : T{});
    }
  }
  return out;
}

template <class T>
void scatter(std::vector<T>& table, std::uint64_t width, const std::vector<std::uint64_t>& indices,
             const std::vector<T>& rows) {
  for (std::uint64_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= table.size() / width) continue;
    for (std::uint64_t column = 0; column < width; ++column)
      table[indices[i] * width + column] = rows[i * width + column];
  }
}

}  // namespace warren::reference
