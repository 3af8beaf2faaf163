// SPDX-License-Identifier: Apache-2.0
// The memory of results, and how ranks fill it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "warren/api/array.hpp"
#include "warren/exec/device.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/memory/host_array.hpp"
#include "warren/team/team.hpp"

namespace warren::api {

/// Bytes in host memory, on a GPU, or both. Memory of GPUs is kept for the next result of the same
/// size: taking it and giving it back waits for the whole GPU.
class ArrayMemory {
 public:
  /// On a GPU in its own memory, or where that is full in host memory that it writes to; on the CPU
  /// in host memory. Throws MemoryError.
  ArrayMemory(const exec::Device& device, std::uint64_t bytes);
  ~ArrayMemory();
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;

  /// What the device's ranks write to.
  [[nodiscard]] void* data() const noexcept;
  [[nodiscard]] void* on_host();
  [[nodiscard]] void* on_gpu() const noexcept { return block_.data(); }
  [[nodiscard]] int gpu() const noexcept {
    return block_.size() > 0 ? block_.device().index() : -1;
  }
  /// Only in host memory from now on, where the caller may write. For who has the only copy.
  [[nodiscard]] void* move_to_host();

 private:
  std::mutex mutex_;
  std::uint64_t bytes_;
  memory::Buffer<std::byte> block_;   ///< Of a GPU.
  memory::Buffer<std::byte> pinned_;  ///< Which it writes to.
  memory::HostArray<std::byte> host_;
};

/// Frees the memory that is kept for later results.
void drop_kept_blocks() noexcept;

/// A result's elements, while the ranks of a call fill them in.
template <class T>
class Output {
 public:
  explicit Output(std::uint64_t size) : size_(size) {}

  /// Takes the memory, on the rank that calls.
  void start(const exec::Device& device) {
    memory_ = std::make_shared<ArrayMemory>(device, exec::bytes_of(size_, sizeof(T)));
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_->data()); }
  [[nodiscard]] bool is_on_gpu() const { return memory_->gpu() >= 0; }

  [[nodiscard]] Array<T> take() { return {std::move(memory_), size_}; }
  [[nodiscard]] std::shared_ptr<ArrayMemory> take_memory() { return std::move(memory_); }
  /// All elements `value`, in host memory.
  [[nodiscard]] static Output of(std::uint64_t size, T value) {
    Output made(size);
    made.memory_ =
        std::make_shared<ArrayMemory>(exec::Device::cpu(1), exec::bytes_of(size, sizeof(T)));
    std::ranges::fill(made.on_host(), value);
    return made;
  }
  /// The elements in host memory, to be changed before take().
  [[nodiscard]] std::span<T> on_host() {
    if (size_ == 0) return {};
    return {static_cast<T*>(memory_->move_to_host()), size_};
  }

 private:
  std::uint64_t size_;
  std::shared_ptr<ArrayMemory> memory_;
};

/// `write(to...)` puts this rank's elements [first, first + count) into memory of its device, for
/// each of the outputs, and returns when they are there. Collective.
template <class Write, class... T>
void fill_range(team::Team& team, std::uint64_t first, std::uint64_t count, Write&& write,
                Output<T>&... outputs) {
  const exec::Device& device = team.device();
  const bool is_first = team.rank() == 0;
  if (is_first) (outputs.start(device), ...);
  // Which says that they are there, too.
  bool can_write = true;
  const auto reach = [&](void* data) {
    can_write = team.share(is_first ? data : nullptr).front() != nullptr && can_write;
  };
  if (team.size() > 1) (reach(is_first ? outputs.data() : nullptr), ...);
  if (count == 0) return;
  if (is_first || can_write || !(outputs.is_on_gpu() && ...)) {
    write((outputs.data() + first)...);
    return;
  }
  // Made here, and then sent to the GPU that has all.
  const exec::Stream stream(device);
  const auto send = [&](const memory::Buffer<T>&... parts) {
    write(parts.data()...);
    (exec::copy(stream, outputs.data() + first, parts.data(), parts.bytes()), ...);
    stream.synchronize();
  };
  send(memory::Buffer<T>(device, count)...);
}

/// The same with a value for each vertex of the rank's shard.
template <class Write, class... T>
void fill(team::Team& team, const graph::Shard& shard, Write&& write, Output<T>&... outputs) {
  fill_range(team, shard.out.first, shard.out.count, std::forward<Write>(write), outputs...);
}

}  // namespace warren::api
