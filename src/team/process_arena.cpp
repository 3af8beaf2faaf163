// SPDX-License-Identifier: Apache-2.0
#include "team/process_arena.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/mman.h>

#include "warren/core/error.hpp"
#include "warren/core/page.hpp"

namespace warren::team {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
/// Blocks of this size and more begin with a huge page, and leave no pages behind.
constexpr std::uint64_t kLarge = 2 * kHugePage;

std::uint64_t unit_of(std::uint64_t bytes, std::uint64_t least) {
  return bytes < kLarge ? least : kHugePage;
}

}  // namespace

ProcessArena::ProcessArena(std::byte* base, std::uint64_t bytes, const std::uint32_t* has_ended)
    : base_(base), bytes_(bytes), has_ended_(has_ended), gaps_(bytes) {}

std::byte* ProcessArena::take(std::uint64_t bytes, std::uint64_t unit) {
  const std::scoped_lock lock(mutex_);
  if (bytes <= bytes_) {
    if (const auto first = gaps_.take(rounded_up(bytes, unit), unit)) return base_ + *first;
  }
  throw MemoryError("the memory that ranks share", bytes, gaps_.longest(),
                    fmt::format("each rank has {} of addresses for it: a limit on those (ulimit "
                                "-v) makes them few",
                                human_bytes(bytes_)));
}

void ProcessArena::give(void* pointer, std::uint64_t bytes, std::uint64_t unit) noexcept {
  if (__atomic_load_n(has_ended_, __ATOMIC_ACQUIRE) != 0) return;
  const std::uint64_t size = rounded_up(bytes, unit);
  if (bytes >= kLarge) (void)madvise(pointer, size, MADV_REMOVE);
  const std::scoped_lock lock(mutex_);
  gaps_.give(static_cast<std::uint64_t>(static_cast<std::byte*>(pointer) - base_), size);
}

void* ProcessArena::allocate(const exec::Device& /*device*/, std::uint64_t bytes) {
  std::byte* const pointer = take(bytes, unit_of(bytes, kAlignment));
  if (bytes >= kLarge) (void)madvise(pointer, rounded_up(bytes, kHugePage), MADV_HUGEPAGE);
  return pointer;
}

void ProcessArena::deallocate(const exec::Device& /*device*/, void* pointer,
                              std::uint64_t bytes) noexcept {
  give(pointer, bytes, unit_of(bytes, kAlignment));
}

void* ProcessArena::allocate_pages(std::uint64_t bytes) {
  return take(bytes, unit_of(bytes, bytes_of_page()));
}

void ProcessArena::deallocate_pages(void* pointer, std::uint64_t bytes) noexcept {
  give(pointer, bytes, unit_of(bytes, bytes_of_page()));
}

}  // namespace warren::team
