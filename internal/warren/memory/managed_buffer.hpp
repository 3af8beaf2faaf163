// SPDX-License-Identifier: Apache-2.0
// An owned array in managed memory.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "warren/core/error.hpp"
#include "warren/exec/managed.hpp"
#include "warren/exec/memory.hpp"
#include "warren/memory/host_device.hpp"

namespace warren::memory {

/// What a GPU that reads a managed page gets.
enum class ManagedPages {
  move,  ///< The page: it is nowhere else then.
  copy   ///< A copy, beside the host's: from the first return_to_host() on.
};

/// `size` elements of T, not initialised, whose pages go where they are touched; see
/// exec/managed.hpp. Moves, never copies silently.
template <class T>
class ManagedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ManagedBuffer() = default;
  /// For kernels of `device`, a GPU. Throws UsageError where there is no managed memory,
  /// MemoryError where it would take more than half of what the device has free.
  ManagedBuffer(const exec::Device& device, std::uint64_t size,
                ManagedPages pages = ManagedPages::move)
      : device_(device),
        size_(size),
        pages_(pages),
        data_(static_cast<T*>(exec::allocate_managed(device, exec::bytes_of(size, sizeof(T))))) {}
  ~ManagedBuffer() { exec::deallocate_managed(device_, data_, bytes()); }
  ManagedBuffer(ManagedBuffer&& other) noexcept
      : device_(other.device_),  // NOLINT(performance-move-constructor-init)
        size_(std::exchange(other.size_, 0)),
        pages_(other.pages_),
        data_(std::exchange(other.data_, nullptr)) {}
  ManagedBuffer& operator=(ManagedBuffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(size_, other.size_);
    std::swap(pages_, other.pages_);
    std::swap(data_, other.data_);
    return *this;
  }
  ManagedBuffer(const ManagedBuffer&) = delete;
  ManagedBuffer& operator=(const ManagedBuffer&) = delete;

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] const exec::Device& device() const noexcept { return device_; }

  /// All pages into host memory, where the only copy is then. Synchronises `stream`.
  void return_to_host(const exec::Stream& stream) {
    exec::return_to_host(stream, data_, bytes());
    if (pages_ == ManagedPages::copy) exec::copy_pages_on_read(device_, data_, bytes());
  }

 private:
  exec::Device device_ = detail::host_device();
  std::uint64_t size_ = 0;
  ManagedPages pages_ = ManagedPages::move;
  T* data_ = nullptr;
};

}  // namespace warren::memory
