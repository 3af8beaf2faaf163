// SPDX-License-Identifier: Apache-2.0
// Running code that works on a device for the memory that it asks for alone.
#pragma once

#include <cstdint>

#include "warren/exec/device.hpp"
#include "warren/exec/memory.hpp"

namespace warren::exec {

/// As long as it is there, this thread's calls for devices of the CPU take no memory and do no
/// work: allocate() counts, and gives addresses that are nobody's (reading or writing there ends
/// the process); launches, copies, fills, dense products and sorts return at once. Code whose host
/// side looks at no result can then be run for what it would hold, without holding it. Memory of
/// MemoryKind::host stays real. Work must be enqueued by this thread; what it took may be given
/// back later. One at a time for each thread.
class DryRun {
 public:
  /// For what `like` would hold: what has other sizes on GPUs has them if it is one (sizes_of()).
  /// Throws UsageError within another dry run.
  explicit DryRun(const Device& like);
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  /// Of the device's own memory, in bytes as they were asked for; what is more than 64 bits hold
  /// stays at the largest number.
  [[nodiscard]] MemoryUse use() const noexcept { return use_; }
  [[nodiscard]] const Device& like() const noexcept { return like_; }

  /// This thread's; nullptr where there is none.
  [[nodiscard]] static DryRun* current() noexcept;

  /// For allocate() and deallocate().
  [[nodiscard]] void* take(MemoryKind kind, std::uint64_t bytes);
  void give_back(MemoryKind kind, std::uint64_t bytes) noexcept;
  /// Whether a dry run gave this address.
  [[nodiscard]] static bool gave(const void* pointer) noexcept;

 private:
  /// On the CPU pinned memory is plain memory, too.
  [[nodiscard]] bool counts(MemoryKind kind) const {
    return kind == MemoryKind::device || !like_.is_cuda();
  }

  Device like_;
  MemoryUse use_;
  std::uint64_t given_ = 0;
};

/// The device whose sizes memory for `device` is taken by: within a dry run the one that it is for,
/// else `device`.
[[nodiscard]] const Device& sizes_of(const Device& device) noexcept;

}  // namespace warren::exec
