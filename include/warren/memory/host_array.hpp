// SPDX-License-Identifier: Apache-2.0
// Large arrays in plain host memory: owned and page mapped, or a window of something else that is
// kept alive (a mapped file). Copies share the elements.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "warren/exec/memory.hpp"
#include "warren/memory/host_device.hpp"

namespace warren::memory {

template <class T>
class HostArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  HostArray() = default;
  /// `size` elements, zero for large arrays by the system's grace but not to be relied upon. Throws
  /// MemoryError.
  explicit HostArray(std::uint64_t size) : size_(size) {
    if (size == 0) return;
    auto block = std::make_shared<Block>(exec::bytes_of(size, sizeof(T)));
    data_ = static_cast<T*>(block->pointer);
    block_ = block.get();
    owner_ = std::move(block);
  }
  HostArray(std::uint64_t size, T value) : HostArray(size) {
    for (std::uint64_t i = 0; i < size; ++i) data_[i] = value;
  }
  /// A window of memory that `owner` keeps alive. Must not be written where `owner` says so.
  HostArray(T* data, std::uint64_t size, std::shared_ptr<void> owner)
      : data_(data), size_(size), owner_(std::move(owner)) {}

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::uint64_t i) noexcept {
    assert(i < size_);
    return data_[i];
  }
  const T& operator[](std::uint64_t i) const noexcept {
    assert(i < size_);
    return data_[i];
  }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data_, size_}; }

  /// Drops the tail and gives its memory back (of a window: only drops the tail). Not for arrays
  /// whose elements are shared.
  void shrink(std::uint64_t size) {
    assert(size <= size_);
    if (block_ != nullptr) block_->shrink(size * sizeof(T));
    size_ = size;
  }

 private:
  struct Block {
    explicit Block(std::uint64_t bytes_asked);
    ~Block();
    void shrink(std::uint64_t new_bytes);
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    void* pointer;
    std::uint64_t bytes;  // As allocated.
    std::uint64_t held;   // As left by shrink().
  };

  T* data_ = nullptr;
  std::uint64_t size_ = 0;
  Block* block_ = nullptr;  // In owner_; nullptr for windows.
  std::shared_ptr<void> owner_;
};

template <class T>
HostArray<T>::Block::Block(std::uint64_t bytes_asked)
    : pointer(exec::allocate(detail::host_device(), exec::MemoryKind::host, bytes_asked)),
      bytes(bytes_asked),
      held(bytes_asked) {}
template <class T>
HostArray<T>::Block::~Block() {
  exec::deallocate(detail::host_device(), exec::MemoryKind::host, pointer, bytes, held);
}
template <class T>
void HostArray<T>::Block::shrink(std::uint64_t new_bytes) {
  exec::shrink(detail::host_device(), exec::MemoryKind::host, pointer, bytes, held, new_bytes);
  held = new_bytes;
}

}  // namespace warren::memory
