// SPDX-License-Identifier: Apache-2.0
#include "warren/core/mapped_ranges.hpp"

#include <mutex>
#include <type_traits>

namespace warren {
namespace {

/// There from the start, and never destroyed: a signal may come at any time.
struct Ranges {
  std::mutex mutex;
  MappedRange* first = nullptr;
};
constinit Ranges ranges;
static_assert(std::is_trivially_destructible_v<Ranges>);

}  // namespace

MappedRange::MappedRange(const void* data, std::uint64_t bytes, const char* path) noexcept
    : first_(reinterpret_cast<std::uintptr_t>(data)), bytes_(bytes), path_(path) {
  const std::scoped_lock lock(ranges.mutex);
  next_ = ranges.first;
  ranges.first = this;
}

MappedRange::~MappedRange() {
  const std::scoped_lock lock(ranges.mutex);
  MappedRange** at = &ranges.first;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

const char* mapped_file_at(const void* address) noexcept {
  const auto byte = reinterpret_cast<std::uintptr_t>(address);
  const std::scoped_lock lock(ranges.mutex);
  for (const MappedRange* range = ranges.first; range != nullptr; range = range->next_) {
    if (byte - range->first_ < range->bytes_) return range->path_;
  }
  return nullptr;
}

}  // namespace warren
