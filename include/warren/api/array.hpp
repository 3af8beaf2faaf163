// SPDX-License-Identifier: Apache-2.0
// What calls tell of all vertices. Where a call ran on GPUs its values stay on one of them until
// they are asked for in host memory, and can be handed to other libraries where they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace warren {
namespace api {

class ArrayMemory;

/// Bytes of `memory` in the host's; copied there by the first call of any thread, in at most the
/// time of that copy. Throws DeviceError, MemoryError.
[[nodiscard]] void* on_host(ArrayMemory& memory);
/// nullptr where they are in host memory alone.
[[nodiscard]] void* on_gpu(const ArrayMemory& memory) noexcept;
/// Work that is put on `stream` (a cudaStream_t, which outlives the memory) may use it: what takes
/// its place waits for that. For the default stream nobody need ask.
void used_on(ArrayMemory& memory, void* stream);
/// -1 where they are in host memory alone.
[[nodiscard]] int gpu_of(const ArrayMemory& memory) noexcept;

}  // namespace api

/// `size()` elements, one after the other. Copies share them; they live as long as the last copy,
/// whatever becomes of the session and the graph. Reading them is safe from any thread.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  Array() = default;
  Array(std::shared_ptr<api::ArrayMemory> memory, std::uint64_t size)
      : memory_(std::move(memory)), size_(size) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// The elements in host memory, as long as a copy of this lives. Throws DeviceError and
  /// MemoryError, where they have to be copied there.
  [[nodiscard]] std::span<const T> host() const {
    if (size_ == 0) return {};
    return {static_cast<const T*>(api::on_host(*memory_)), size_};
  }
  [[nodiscard]] const T* data() const { return host().data(); }
  [[nodiscard]] const T* begin() const { return host().data(); }
  [[nodiscard]] const T* end() const { return begin() + size_; }
  [[nodiscard]] const T& operator[](std::uint64_t i) const { return host()[i]; }
  operator std::span<const T>() const { return host(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] std::vector<T> to_vector() const { return {begin(), end()}; }

  /// The number of the GPU that has the elements; -1: they are in host memory alone.
  [[nodiscard]] int gpu() const noexcept { return size_ == 0 ? -1 : api::gpu_of(*memory_); }
  /// The elements in that GPU's memory, complete when the call returned; nullptr: in host memory.
  [[nodiscard]] const T* gpu_data() const noexcept {
    return size_ == 0 ? nullptr : static_cast<const T*>(api::on_gpu(*memory_));
  }

  /// Work that the caller puts on `stream` of that GPU (a cudaStream_t, which outlives this) may
  /// read the elements, until the last copy of this goes: their memory is used again only after
  /// that work. The default stream's need not be named.
  void used_on(void* stream) const {
    if (size_ > 0) api::used_on(*memory_, stream);
  }

  /// For the parts of the library.
  [[nodiscard]] const std::shared_ptr<api::ArrayMemory>& memory() const { return memory_; }

  /// The same elements, whatever they are in.
  template <std::ranges::sized_range R>
  friend bool operator==(const Array& a, const R& b) {
    return std::ranges::equal(a.host(), b);
  }

 private:
  std::shared_ptr<api::ArrayMemory> memory_;
  std::uint64_t size_ = 0;
};

}  // namespace warren
