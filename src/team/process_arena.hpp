// SPDX-License-Identifier: Apache-2.0
// The memory that a rank of a team of processes gives to arrays: its part of what all processes
// have at the same addresses, so that pointers which ranks show each other hold everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "warren/exec/memory.hpp"

#include "team/address_gaps.hpp"

namespace warren::team {

/// Blocks of an arena, the first gap that is large enough first. Addresses are plenty; pages of
/// large blocks go back to the system when the block does.
class ProcessArena : public exec::MemoryResource {
 public:
  /// `has_ended`: once it is not 0 nothing is given back or given twice, since ranks that have not
  /// seen the end yet may still be reading.
  ProcessArena(std::byte* base, std::uint64_t bytes, const std::uint32_t* has_ended);

  /// Also what is pinned elsewhere: on the CPU that is plain memory, which ranks read as well.
  [[nodiscard]] bool gives(exec::MemoryKind kind) const override {
    return kind != exec::MemoryKind::host;
  }
  /// Throws MemoryError where no gap is large enough.
  [[nodiscard]] void* allocate(const exec::Device& device, std::uint64_t bytes) override;
  void deallocate(const exec::Device& device, void* pointer, std::uint64_t bytes) noexcept override;

  /// The same in whole pages, which may be pinned.
  [[nodiscard]] void* allocate_pages(std::uint64_t bytes);
  void deallocate_pages(void* pointer, std::uint64_t bytes) noexcept;

 private:
  [[nodiscard]] std::byte* take(std::uint64_t bytes, std::uint64_t unit);
  void give(void* pointer, std::uint64_t bytes, std::uint64_t unit) noexcept;

  std::byte* base_;
  std::uint64_t bytes_;
  const std::uint32_t* has_ended_;
  std::mutex mutex_;
  AddressGaps gaps_;
};

}  // namespace warren::team
