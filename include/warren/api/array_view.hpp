// SPDX-License-Identifier: Apache-2.0
// What callers give to calls: elements in host memory, or on a GPU, where they are read without a
// way over the host.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "warren/api/array.hpp"

namespace warren {

/// `size()` elements of type T that the caller has, one after the other; matrices row by row. They
/// stay the caller's, who neither frees nor writes them before the call has returned. Of a call on
/// several ranks, or on another device, each rank copies what it needs.
template <class T>
class ArrayView {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ArrayView() = default;
  /// In host memory: a span, a vector, an array.
  template <class Range>
  requires(std::convertible_to<const Range&, std::span<const T>> &&
           !std::same_as<Range, ArrayView> && !std::same_as<Range, Array<T>>)
      ArrayView(const Range& values)  // NOLINT(google-explicit-constructor)
      : ArrayView(std::span<const T>(values), 0) {}
  /// A result, where it is.
  ArrayView(const Array<T>& values)  // NOLINT(google-explicit-constructor)
      : data_(values.gpu() >= 0 ? values.gpu_data() : values.data()),
        size_(values.size()),
        gpu_(values.gpu()) {}
  /// In the memory of GPU number `gpu`. `stream` (a cudaStream_t; nullptr: the default one) is that
  /// on which they are written: the GPU's work of the call begins when the stream has come to its
  /// end, for which the caller does not wait.
  ArrayView(const T* data, std::uint64_t size, int gpu, void* stream)
      : data_(data), size_(size), gpu_(gpu), stream_(stream) {}

  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// -1: in host memory.
  [[nodiscard]] int gpu() const noexcept { return gpu_; }
  [[nodiscard]] bool is_on_gpu() const noexcept { return gpu_ >= 0; }
  [[nodiscard]] void* stream() const noexcept { return stream_; }
  /// Elements [first, first + count).
  [[nodiscard]] ArrayView part(std::uint64_t first, std::uint64_t count) const {
    ArrayView some = *this;
    some.data_ += first;
    some.size_ = count;
    return some;
  }
  /// The elements, which are in host memory.
  [[nodiscard]] std::span<const T> host() const noexcept { return {data_, size_}; }

 private:
  ArrayView(std::span<const T> values, int /*one overload more*/)
      : data_(values.data()), size_(values.size()) {}

  const T* data_ = nullptr;
  std::uint64_t size_ = 0;
  int gpu_ = -1;
  void* stream_ = nullptr;
};

/// Numbers of rows or of vertices, of 32 or 64 bits, with a sign or without. Otherwise as
/// ArrayView.
class IdsView {
 public:
  IdsView() = default;
  template <class T>
  requires(std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8))
      IdsView(const ArrayView<T>& ids)  // NOLINT(google-explicit-constructor)
      : bytes_(reinterpret_cast<const unsigned char*>(ids.data()), ids.size() * sizeof(T),
               ids.gpu(), ids.stream()),
        width_(sizeof(T)),
        is_signed_(std::is_signed_v<T>) {}
  template <class Range>
  requires(std::integral<typename Range::value_type>&&
               std::convertible_to<const Range&, ArrayView<typename Range::value_type>>)
      IdsView(const Range& ids)  // NOLINT(google-explicit-constructor)
      : IdsView(ArrayView<typename Range::value_type>(ids)) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_.size() / width_; }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] bool is_on_gpu() const noexcept { return bytes_.is_on_gpu(); }
  [[nodiscard]] int gpu() const noexcept { return bytes_.gpu(); }
  /// Of a number: 4 or 8.
  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
  [[nodiscard]] bool is_signed() const noexcept { return is_signed_; }
  [[nodiscard]] const ArrayView<unsigned char>& bytes() const noexcept { return bytes_; }
  [[nodiscard]] IdsView part(std::uint64_t first, std::uint64_t count) const {
    IdsView some = *this;
    some.bytes_ = bytes_.part(first * width_, count * width_);
    return some;
  }

 private:
  ArrayView<unsigned char> bytes_;
  std::uint32_t width_ = 8;
  bool is_signed_ = false;
};

}  // namespace warren
