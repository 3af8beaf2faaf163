// SPDX-License-Identifier: Apache-2.0
#include "team/process_arena.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <sys/mman.h>

#include "warren/core/error.hpp"

namespace warren::team {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
/// Blocks of this size and more begin with a huge page, and leave no pages behind.
constexpr std::uint64_t kLarge = 2 * kHugePage;

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
std::uint64_t unit_of(std::uint64_t bytes) { return bytes < kLarge ? kAlignment : kHugePage; }

}  // namespace

ProcessArena::ProcessArena(std::byte* base, std::uint64_t bytes, const std::uint32_t* has_ended)
    : base_(base), bytes_(bytes), has_ended_(has_ended), gaps_{{0, bytes}} {}

void* ProcessArena::allocate(const exec::Device& /*device*/, std::uint64_t bytes) {
  const std::uint64_t unit = unit_of(bytes);
  const std::uint64_t taken = bytes <= bytes_ ? rounded(bytes, unit) : bytes;
  std::uint64_t longest = 0;
  const std::scoped_lock lock(mutex_);
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const auto [first, size] = *gap;
    const std::uint64_t skipped = rounded(first, unit) - first;
    longest = std::max(longest, size);
    if (skipped > size || taken > size - skipped) continue;
    const std::uint64_t begin = first + skipped, end = begin + taken;
    // Nothing can fail once the map is changed.
    if (end < first + size) gaps_.emplace(end, first + size - end);
    if (skipped > 0)
      gap->second = skipped;
    else
      gaps_.erase(gap);
    if (bytes >= kLarge) (void)madvise(base_ + begin, taken, MADV_HUGEPAGE);
    return base_ + begin;
  }
  throw MemoryError("the memory that ranks share", bytes, longest,
                    fmt::format("each rank has {} of addresses for it: a limit on those (ulimit "
                                "-v) makes them few",
                                human_bytes(bytes_)));
}

void ProcessArena::deallocate(const exec::Device& /*device*/, void* pointer,
                              std::uint64_t bytes) noexcept {
  if (__atomic_load_n(has_ended_, __ATOMIC_ACQUIRE) != 0) return;
  std::uint64_t first = static_cast<std::uint64_t>(static_cast<std::byte*>(pointer) - base_);
  std::uint64_t size = rounded(bytes, unit_of(bytes));
  if (bytes >= kLarge) (void)madvise(pointer, size, MADV_REMOVE);
  const std::scoped_lock lock(mutex_);
  const auto after = gaps_.upper_bound(first);
  // Joined with the gap before, the one after, or both: only alone it takes memory of its own.
  const bool joins_after = after != gaps_.end() && after->first == first + size;
  if (joins_after) size += after->second;
  if (after != gaps_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == first) {
      before->second += size;
      if (joins_after) gaps_.erase(after);
      return;
    }
  }
  try {
    if (joins_after) {
      auto node = gaps_.extract(after);
      node.key() = first;
      node.mapped() = size;
      gaps_.insert(std::move(node));
    } else {
      gaps_.emplace(first, size);
    }
  } catch (const std::bad_alloc&) {
    // No memory to note the gap: it stays one that nobody uses.
  }
}

}  // namespace warren::team
