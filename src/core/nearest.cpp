// SPDX-License-Identifier: Apache-2.0
// Distances are by optimal string alignment (Damerau, CACM 1964; Wagner and Fischer, JACM 1974).
#include "warren/core/nearest.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace warren {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of prefixes of a: the one in work, and the two before it.
  std::vector<std::size_t> row(b.size() + 1), before(b.size() + 1), earlier;
  std::iota(before.begin(), before.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, before[j] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], earlier[j - 2] + 1);
    }
    earlier = before;
    std::swap(before, row);
  }
  return before[b.size()];
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kShortestPrefix = 3;
  if (word.size() < 2) return "";
  const std::string* nearest = nullptr;
  std::size_t least = 1 + word.size() / 4;
  for (const std::string& name : names) {
    const bool is_begun = word.size() >= kShortestPrefix && name.starts_with(word);
    const std::size_t distance = is_begun ? 0 : edit_distance(word, name);
    // Every character replaced is another word.
    if (distance > least || distance >= std::min(word.size(), name.size())) continue;
    if (nearest != nullptr && distance == least) continue;
    nearest = &name;
    least = distance;
  }
  return nearest == nullptr ? "" : fmt::format("; did you mean \"{}\"?", *nearest);
}

}  // namespace warren
