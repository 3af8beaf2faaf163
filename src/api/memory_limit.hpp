// SPDX-License-Identifier: Apache-2.0
// What warren believes devices and the host to have, for the time of a call.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warren/exec/memory.hpp"
#include "warren/team/team.hpp"

namespace warren::api {

/// Bytes of memory that this process holds, whoever took them.
[[nodiscard]] std::uint64_t resident_memory();

/// The host has `bytes`, of which what the process holds besides warren's own arrays is taken. 0:
/// what it has.
class HostMemoryLimit {
 public:
  explicit HostMemoryLimit(std::uint64_t bytes);
  ~HostMemoryLimit();
  HostMemoryLimit(const HostMemoryLimit&) = delete;
  HostMemoryLimit& operator=(const HostMemoryLimit&) = delete;

  /// What is left of so many bytes for warren's arrays, all of them: at least 1.
  [[nodiscard]] static std::uint64_t for_arrays(std::uint64_t bytes);

 private:
  bool is_set_;
};

/// What a rank's device has. On the CPU that is the host: the smaller of the two holds.
class MemoryLimit {
 public:
  MemoryLimit(team::Team& team, std::uint64_t bytes, std::uint64_t host_bytes)
      : team_(team), is_set_(bytes != 0), host_bytes_(host_bytes) {
    if (!is_set_) return;
    if (!team.device().is_cuda() && host_bytes != 0)
      bytes = std::min(bytes, HostMemoryLimit::for_arrays(host_bytes));
    exec::set_memory_limit(team.device(), bytes);
  }
  ~MemoryLimit() {
    if (!is_set_) return;
    const bool stays = !team_.device().is_cuda() && host_bytes_ != 0;
    exec::set_memory_limit(team_.device(), stays ? HostMemoryLimit::for_arrays(host_bytes_) : 0);
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// Ranks may share a device: none ends the limit before all have done their work. Collective.
  void finish() {
    if (is_set_) team_.barrier();
  }

 private:
  team::Team& team_;
  bool is_set_;
  std::uint64_t host_bytes_;
};

}  // namespace warren::api
