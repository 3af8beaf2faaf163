// SPDX-License-Identifier: Apache-2.0
// Raw memory of a device: taking it, giving it back, copying, filling, and an account of how much
// is and was held. The typed owners that everything else uses are in warren/memory.
#pragma once

#include <cstdint>

#include "warren/exec/device.hpp"
#include "warren/exec/stream.hpp"

namespace warren::exec {

enum class MemoryKind {
  device,  ///< The device's own memory; on the CPU, plain host memory.
  pinned,  ///< Host memory that GPUs read and write directly; on the CPU, plain host memory.
  host     ///< Plain host memory.
};

/// Takes `bytes` of memory, aligned to 256 bytes or better and not initialised; nullptr for 0
/// bytes. Large host blocks are page mapped with huge pages advised. Throws MemoryError, naming
/// device, bytes asked and bytes free.
[[nodiscard]] void* allocate(const Device& device, MemoryKind kind, std::uint64_t bytes);
/// Bytes of `count` elements; the largest number of bytes, which no device has, where the product
/// is larger.
[[nodiscard]] constexpr std::uint64_t bytes_of(std::uint64_t count, std::uint64_t size) noexcept {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? ~std::uint64_t{0} : bytes;
}
/// Gives it back: `bytes` as allocated, `held` as left by shrink(). Never throws.
void deallocate(const Device& device, MemoryKind kind, void* pointer, std::uint64_t bytes,
                std::uint64_t held) noexcept;
inline void deallocate(const Device& device, MemoryKind kind, void* pointer,
                       std::uint64_t bytes) noexcept {
  deallocate(device, kind, pointer, bytes, bytes);
}
/// Gives the pages past `kept` of a host block of `bytes`, of which `held` were still held, back to
/// the system. Other kinds keep all they have. The address stays valid up to `kept`.
void shrink(const Device& device, MemoryKind kind, void* pointer, std::uint64_t bytes,
            std::uint64_t held, std::uint64_t kept) noexcept;

/// Copies between any two memories (devices, pinned, host) in stream order; on the CPU at once.
void copy(const Stream& stream, void* target, const void* source, std::uint64_t bytes);
/// Sets every byte, in stream order; on the CPU at once.
void fill_bytes(const Stream& stream, void* target, int value, std::uint64_t bytes);

/// Bytes taken through allocate(): now, and the most since the last reset.
struct MemoryUse {
  std::uint64_t current = 0;
  std::uint64_t peak = 0;
};
/// Of one device's own memory; for the CPU, and for pinned memory, of the host's.
[[nodiscard]] MemoryUse memory_use(const Device& device);
void reset_peak(const Device& device);

/// Bytes that the device has, and has left, as warren may believe: within its limit.
[[nodiscard]] std::uint64_t total_memory(const Device& device);
[[nodiscard]] std::uint64_t free_memory(const Device& device);

/// What warren may believe the device's memory to be (0: all of it): allocations past it fail as if
/// the device were full.
void set_memory_limit(const Device& device, std::uint64_t bytes);

}  // namespace warren::exec
