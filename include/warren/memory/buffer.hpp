// SPDX-License-Identifier: Apache-2.0
// An owned array on a device, in pinned host memory, or in plain host memory.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"
#include "warren/memory/host_device.hpp"

namespace warren::memory {

using exec::MemoryKind;

/// `size` elements of T, not initialised. Moves, never copies silently.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// Throws MemoryError: device, bytes asked, bytes free.
  Buffer(const exec::Device& device, MemoryKind kind, std::uint64_t size)
      : device_(device),
        kind_(kind),
        size_(size),
        data_(static_cast<T*>(exec::allocate(device, kind, exec::bytes_of(size, sizeof(T))))) {}
  Buffer(const exec::Device& device, std::uint64_t size)
      : Buffer(device, MemoryKind::device, size) {}
  ~Buffer() { reset(); }
  /// What was moved from is empty, and still knows its device.
  Buffer(Buffer&& other) noexcept
      : device_(other.device_),  // NOLINT(performance-move-constructor-init)
        kind_(other.kind_),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      device_ = other.device_;
      kind_ = other.kind_;
      size_ = std::exchange(other.size_, 0);
      data_ = std::exchange(other.data_, nullptr);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] MemoryKind kind() const noexcept { return kind_; }
  [[nodiscard]] const exec::Device& device() const noexcept { return device_; }

  /// Gives the memory back now.
  void reset() noexcept {
    exec::deallocate(device_, kind_, data_, size_ * sizeof(T));
    data_ = nullptr;
    size_ = 0;
  }
  /// Element-wise copies in `stream`'s order. The span must stay alive until the stream has passed.
  void upload(const exec::Stream& stream, std::span<const T> values, std::uint64_t first = 0) {
    require(first <= size_ && values.size() <= size_ - first, "upload past the end of a buffer");
    exec::copy(stream, data_ + first, values.data(), values.size_bytes());
  }
  void download(const exec::Stream& stream, std::span<T> values, std::uint64_t first = 0) const {
    require(first <= size_ && values.size() <= size_ - first, "download past the end of a buffer");
    exec::copy(stream, values.data(), data_ + first, values.size_bytes());
  }
  /// The elements in host memory. Synchronises `stream`.
  [[nodiscard]] std::vector<T> to_host(const exec::Stream& stream) const {
    std::vector<T> values(size_);
    download(stream, values);
    stream.synchronize();
    return values;
  }

 private:
  exec::Device device_ = detail::host_device();
  MemoryKind kind_ = MemoryKind::device;
  std::uint64_t size_ = 0;
  T* data_ = nullptr;
};

/// The memory of a buffer that grows to `size` elements where it has fewer: it is then empty, and
/// the stream is synchronised, since what is enqueued may still use it.
template <class T>
T* at_least(const exec::Stream& stream, Buffer<T>& buffer, std::uint64_t size) {
  if (buffer.size() < size) {
    stream.synchronize();
    buffer.reset();
    buffer = Buffer<T>(stream.device(), size);
  }
  return buffer.data();
}

}  // namespace warren::memory
