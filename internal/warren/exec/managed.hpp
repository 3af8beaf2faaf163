// SPDX-License-Identifier: Apache-2.0
// Managed memory: one address for the host and all GPUs, whose pages move to whichever touches
// them. Slow beside everything else here; for comparisons with it. A program that holds more of it
// than a card has free can hang that card, so that a process gives out no more than half.
#pragma once

#include <cstdint>

#include "warren/exec/stream.hpp"

namespace warren::exec {

/// Bytes that may be taken for `device` now: half of what it has free, less what is managed for it
/// already. 0 on the CPU, and for GPUs whose kernels cannot wait for pages.
[[nodiscard]] std::uint64_t managed_room(const Device& device);
/// Bytes managed for `device` now.
[[nodiscard]] std::uint64_t managed_use(const Device& device);

/// Takes `bytes`, in pages of their own and not initialised; nullptr for 0 bytes. Throws UsageError
/// where there is no managed memory, MemoryError past managed_room().
[[nodiscard]] void* allocate_managed(const Device& device, std::uint64_t bytes);
/// Gives it back. No kernel may be using it. Never throws.
void deallocate_managed(const Device& device, void* pointer, std::uint64_t bytes) noexcept;

/// From now on a GPU that reads a page makes a copy of its own, and the host keeps the page; a
/// write takes all other copies away. Holds until return_to_host().
void copy_pages_on_read(const Device& device, void* pointer, std::uint64_t bytes);
/// Moves all pages into host memory, where the only copy is then. Synchronises `stream`.
void return_to_host(const Stream& stream, void* pointer, std::uint64_t bytes);

}  // namespace warren::exec
