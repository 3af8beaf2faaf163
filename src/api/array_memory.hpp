// SPDX-License-Identifier: Apache-2.0
// The memory of results, and how ranks fill it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

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
  /// What is in host memory already.
  explicit ArrayMemory(memory::HostArray<std::byte> host)
      : bytes_(host.size()), host_(std::move(host)) {}
  ~ArrayMemory();
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;

  /// What the device's ranks write to.
  [[nodiscard]] void* data() const noexcept;
  [[nodiscard]] void* on_host();
  /// For readers outside of the library: from then on somebody may read it on the default stream.
  [[nodiscard]] void* on_gpu() const noexcept {
    is_shown_ = true;
    return block_.data();
  }
  [[nodiscard]] int gpu() const noexcept {
    return block_.size() > 0 ? block_.device().index() : -1;
  }
  /// See warren::api::used_on().
  void used_on(void* stream);
  /// Only in host memory from now on, where the caller may write. For who has the only copy.
  [[nodiscard]] void* move_to_host();

 private:
  /// Leaves the block to later results, once nobody reads it any more.
  void give_back() noexcept;

  std::mutex mutex_;
  std::uint64_t bytes_;
  mutable std::atomic<bool> is_shown_{false};
  memory::Buffer<std::byte> block_;   ///< Of a GPU.
  memory::Buffer<std::byte> pinned_;  ///< Which it writes to.
  memory::HostArray<std::byte> host_;
  std::vector<void*> readers_;  ///< Streams of other libraries.
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
  /// Takes what is in host memory.
  void adopt(std::vector<T>&& values) {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    auto* data = reinterpret_cast<std::byte*>(owner->data());
    const std::uint64_t bytes = owner->size() * sizeof(T);
    memory_ =
        std::make_shared<ArrayMemory>(memory::HostArray<std::byte>(data, bytes, std::move(owner)));
  }
  void adopt(const memory::HostArray<T>& values) {
    auto owner = std::make_shared<memory::HostArray<T>>(values);
    auto* data = reinterpret_cast<std::byte*>(owner->data());
    const std::uint64_t bytes = owner->size() * sizeof(T);
    memory_ =
        std::make_shared<ArrayMemory>(memory::HostArray<std::byte>(data, bytes, std::move(owner)));
  }
  [[nodiscard]] bool has_started() const { return memory_ != nullptr; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_->data()); }
  [[nodiscard]] bool is_on_gpu() const { return memory_->gpu() >= 0; }

  /// Empty where no rank has started it.
  [[nodiscard]] Array<T> take() {
    if (memory_ == nullptr) return {};
    return {std::move(memory_), size_};
  }
  [[nodiscard]] std::shared_ptr<ArrayMemory> take_memory() { return std::move(memory_); }
  /// The elements in host memory, to be changed before take().
  [[nodiscard]] std::span<T> on_host() {
    if (size_ == 0) return {};
    return {static_cast<T*>(memory_->move_to_host()), size_};
  }

 private:
  std::uint64_t size_;
  std::shared_ptr<ArrayMemory> memory_;
};

/// fill_range() of processes: each gets all elements, from the ranks that have them in memory which
/// all processes have, or a mirror of it.
template <class Write, class... T>
void fill_range_everywhere(team::Team& team, std::uint64_t first, std::uint64_t count,
                           Write&& write, Output<T>&... outputs) {
  struct Range {
    std::uint64_t first, count;
  };
  (outputs.start(team.device()), ...);
  const exec::Stream stream(team.device());
  const auto fill = [&](const memory::Buffer<T>&... parts) {
    if (count > 0) write(parts.data()...);
    const std::vector<Range> ranges = team.all_gather(Range{first, count});
    const auto collect = [&](const auto& part, auto& output) {
      const team::Windows shown = team.share_windows({.data = part.data(), .bytes = part.bytes()});
      const team::Shown own{-1, part.data(), count * sizeof *part.data()};
      team.publish({&own, 1});
      for (std::size_t q = 0; q < ranges.size(); ++q) {
        if (ranges[q].count == 0) continue;
        auto* const to = output.data() + ranges[q].first;
        exec::copy(stream, to, shown.of[q], ranges[q].count * sizeof *to);
      }
      stream.synchronize();
    };
    (collect(parts, outputs), ...);
    team.barrier();  // Before the parts go.
  };
  team.with_peer_memory([&] { fill(memory::Buffer<T>(team.device(), count)...); });
}

/// `write(to...)` puts this rank's elements [first, first + count) into memory of its device, for
/// each of the outputs, and returns when they are there. Collective.
template <class Write, class... T>
void fill_range(team::Team& team, std::uint64_t first, std::uint64_t count, Write&& write,
                Output<T>&... outputs) {
  if (team.spans_processes())
    return fill_range_everywhere(team, first, count, std::forward<Write>(write), outputs...);
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

/// The same with outputs in host memory, which `write` fills from any device.
template <class Write, class T>
void fill_range_on_host(team::Team& team, std::uint64_t first, std::uint64_t count, Write&& write,
                        Output<T>& output) {
  if (team.spans_processes())
    return fill_range_everywhere(team, first, count, std::forward<Write>(write), output);
  if (team.rank() == 0) output.start(exec::Device::cpu(1));
  team.barrier();
  if (count > 0) write(output.data() + first);
}

/// The same with a value for each vertex of the rank's shard.
template <class Write, class... T>
void fill(team::Team& team, const graph::Shard& shard, Write&& write, Output<T>&... outputs) {
  fill_range(team, shard.out.first, shard.out.count, std::forward<Write>(write), outputs...);
}

}  // namespace warren::api
