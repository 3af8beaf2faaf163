// SPDX-License-Identifier: Apache-2.0
#include "warren/exec/dry_run.hpp"

#include <algorithm>

#include "warren/core/error.hpp"
#include "warren/exec/launch.hpp"

namespace warren::exec {
namespace {

// No process has memory at an address as high.
constexpr std::uint64_t kNowhere = std::uint64_t{1} << 60;

// A sum that is larger stays there.
constexpr std::uint64_t kAll = ~std::uint64_t{0};

thread_local DryRun* dry_run = nullptr;

}  // namespace

bool detail::is_dry() noexcept { return dry_run != nullptr; }

DryRun::DryRun(const Device& like) : like_(like) {
  require(dry_run == nullptr, "a thread has one dry run at a time");
  dry_run = this;
}

DryRun::~DryRun() { dry_run = nullptr; }

DryRun* DryRun::current() noexcept { return dry_run; }

bool DryRun::gave(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer) >= kNowhere;
}

void* DryRun::take(MemoryKind kind, std::uint64_t bytes) {
  constexpr std::uint64_t kAlign = 256;
  if (counts(kind)) {
    if (__builtin_add_overflow(use_.current, bytes, &use_.current)) use_.current = kAll;
    use_.peak = std::max(use_.peak, use_.current);
  }
  // Of what no device has, addresses may come again.
  given_ = (given_ + kAlign - 1) / kAlign * kAlign % kNowhere;
  void* const pointer = reinterpret_cast<void*>(kNowhere + given_);
  given_ += bytes % kNowhere;
  return pointer;
}

void DryRun::give_back(MemoryKind kind, std::uint64_t bytes) noexcept {
  if (counts(kind) && use_.current != kAll) use_.current -= std::min(bytes, use_.current);
}

const Device& sizes_of(const Device& device) noexcept {
  return dry_run == nullptr ? device : dry_run->like();
}

}  // namespace warren::exec
