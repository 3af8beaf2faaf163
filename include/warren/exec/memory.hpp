// SPDX-License-Identifier: Apache-2.0
// Raw memory of a device: taking it, giving it back, copying, filling, and an account of how much
// is and was held. The typed owners that everything else uses are in warren/memory.
#pragma once

#include <cstdint>
#include <memory>

#include "warren/exec/device.hpp"
#include "warren/exec/stream.hpp"

namespace warren::exec {

enum class MemoryKind {
  device,  ///< The device's own memory; on the CPU, plain host memory.
  pinned,  ///< Host memory that GPUs read and write directly; on the CPU, plain host memory.
  host     ///< Plain host memory.
};

/// Where memory of MemoryKind::device comes from in place of the driver, or of the system on the
/// CPU: another library's pool, say. Chosen for a device (Device::with_memory()), or for all of the
/// process that name none (set_memory_resource()). Functions are called by any thread.
class MemoryResource {
 public:
  virtual ~MemoryResource() = default;
  /// `bytes`, more than 0, of the device's memory, aligned to 256 bytes, that any stream may use at
  /// once. nullptr where there is too little.
  [[nodiscard]] virtual void* allocate(const Device& device, std::uint64_t bytes) = 0;
  /// Takes a block back, which nothing uses any more.
  virtual void deallocate(const Device& device, void* pointer, std::uint64_t bytes) noexcept = 0;
  /// Whether it gives memory of this kind. On the CPU, where all kinds are plain host memory, a
  /// resource may give what is pinned elsewhere as well; host memory is always the system's.
  [[nodiscard]] virtual bool gives(MemoryKind kind) const { return kind == MemoryKind::device; }
  /// The same of host memory that the GPUs read and write directly, for a resource of GPUs that
  /// gives memory of that kind.
  [[nodiscard]] virtual void* allocate_pinned(const Device& /*device*/, std::uint64_t /*bytes*/) {
    return nullptr;
  }
  virtual void deallocate_pinned(const Device& /*device*/, void* /*pointer*/,
                                 std::uint64_t /*bytes*/) noexcept {}
  /// Bytes of the device's memory that it holds, nobody uses, and it would give at once: they count
  /// as free in free_memory().
  [[nodiscard]] virtual std::uint64_t unused(const Device& /*device*/) { return 0; }
};
/// Blocks that are taken from here on, on devices of this kind that have no resource of their own
/// (Device::with_memory()), are the resource's; nullptr: the driver's, or the system's. Every block
/// goes back to who gave it, which is kept until then.
void set_memory_resource(DeviceKind kind, std::shared_ptr<MemoryResource> resource);

/// The driver's stream-ordered pools (cudaMallocFromPoolAsync) as a resource: blocks that come back
/// stay with it, so that the next one of a like size takes microseconds and asks the driver for
/// nothing. Serves every GPU, each by a pool of its own, made at its first block; GPUs that reach
/// each other's memory reach its blocks. `kept_bytes`: what a pool holds of unused memory when the
/// device is waited for; the rest goes back to the driver, and so does all where a block finds no
/// room. Throws UsageError without a GPU; allocate() throws it on a GPU whose driver has no pools.
[[nodiscard]] std::shared_ptr<MemoryResource> pool_resource(
    std::uint64_t kept_bytes = ~std::uint64_t{0});

/// Takes `bytes` of memory, aligned to 256 bytes or better and not initialised; nullptr for 0
/// bytes. From the device's resource where it has one that gives this kind, else from the process's
/// (set_memory_resource()), else from the driver, or the system. Large host blocks are page mapped
/// with huge pages advised. Throws MemoryError, naming device, bytes asked and bytes free.
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

/// The GPU whose memory `pointer` is in; -1: memory of the host, pinned or not. Throws DeviceError.
[[nodiscard]] int gpu_of(const void* pointer);

/// Bytes taken through allocate(): now, and the most since the last reset.
struct MemoryUse {
  std::uint64_t current = 0;
  std::uint64_t peak = 0;
};
/// Of one device's own memory; for the CPU, and for pinned memory, of the host's.
[[nodiscard]] MemoryUse memory_use(const Device& device);
void reset_peak(const Device& device);

/// Bytes that the device has, and has left, as warren may believe: within its limit. What the
/// device's resource, or else the process's, holds unused counts as left.
[[nodiscard]] std::uint64_t total_memory(const Device& device);
[[nodiscard]] std::uint64_t free_memory(const Device& device);

/// What warren may believe the device's memory to be (0: all of it): allocations past it fail as if
/// the device were full.
void set_memory_limit(const Device& device, std::uint64_t bytes);

}  // namespace warren::exec
