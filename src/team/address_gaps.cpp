// SPDX-License-Identifier: Apache-2.0
#include "team/address_gaps.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace warren::team {

std::optional<std::uint64_t> AddressGaps::take(std::uint64_t bytes, std::uint64_t unit) {
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const auto [first, size] = *gap;
    const std::uint64_t skipped = rounded_up(first, unit) - first;
    if (skipped > size || bytes > size - skipped) continue;
    const std::uint64_t begin = first + skipped, end = begin + bytes;
    // Nothing can fail once the map is changed.
    if (end < first + size) gaps_.emplace(end, first + size - end);
    if (skipped > 0)
      gap->second = skipped;
    else
      gaps_.erase(gap);
    return begin;
  }
  return std::nullopt;
}

void AddressGaps::give(std::uint64_t first, std::uint64_t bytes) noexcept {
  const auto after = gaps_.upper_bound(first);
  // Joined with the gap before, the one after, or both: only alone it takes memory of its own.
  const bool joins_after = after != gaps_.end() && after->first == first + bytes;
  if (joins_after) bytes += after->second;
  if (after != gaps_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == first) {
      before->second += bytes;
      if (joins_after) gaps_.erase(after);
      return;
    }
  }
  try {
    if (joins_after) {
      auto node = gaps_.extract(after);
      node.key() = first;
      node.mapped() = bytes;
      gaps_.insert(std::move(node));
    } else {
      gaps_.emplace(first, bytes);
    }
  } catch (const std::bad_alloc&) {
    // No memory to note the gap: it stays one that nobody uses.
  }
}

std::uint64_t AddressGaps::longest() const noexcept {
  std::uint64_t longest = 0;
  for (const auto& [first, size] : gaps_) longest = std::max(longest, size);
  return longest;
}

}  // namespace warren::team
