// SPDX-License-Identifier: Apache-2.0
// The lists of a file on their way through a device: windows are read ahead, copied to a GPU where
// there is one, and visited in the order of their addresses while others are still on their way.
#pragma once

#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "warren/core/stop.hpp"
#include "warren/graph/edge_file.hpp"
#include "warren/memory/buffer.hpp"

#include "traverse/streamed/list_view.hpp"

namespace warren::traverse {

class ListStream {
 public:
  /// `check` is called before each window, and throws to end the work. Throws MemoryError.
  ListStream(const exec::Stream& stream, const graph::EdgeFile& file, std::function<void()> check);

  /// Brings every list of these chunks to `visit`, a functor for kernels (VisitLists).
  /// Synchronises. `between(windows)` is called behind each window, in the stream's order, with how
  /// many there were. Throws InputError for what cannot be read.
  template <class Visit, class Between>
  void pass(std::vector<std::uint32_t> chunks, const Visit& visit, const Between& between) {
    std::uint64_t windows = 0;
    reader_.start(std::move(chunks));
    while (const std::optional<graph::FileWindow> window = take()) {
      const ListView lists = bring(*window);
      exec::with_backend(stream_.device(), [&](auto backend) {
        ListVisit<decltype(backend), Visit>::run(stream_, lists, visit);
      });
      give_back();
      between(++windows);
    }
    finish();
  }
  template <class Visit>
  void pass(std::vector<std::uint32_t> chunks, const Visit& visit) {
    pass(std::move(chunks), visit, [](std::uint64_t) {});
  }
  [[nodiscard]] std::vector<std::uint32_t> all_chunks() const {
    std::vector<std::uint32_t> all(file_.chunks().size());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    return all;
  }
  /// kernel(worker, task) for every task. In the stream's order.
  template <class Kernel>
  void each(std::uint64_t tasks, const Kernel& kernel) const {
    exec::with_backend(stream_.device(), [&](auto backend) {
      EachTask<decltype(backend), Kernel>::run(stream_, tasks, kernel);
    });
  }

  [[nodiscard]] const exec::Stream& stream() const noexcept { return stream_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return reader_.bytes_read(); }
  [[nodiscard]] double waited_seconds() const noexcept { return reader_.waited_seconds(); }
  /// Bytes of its windows in host memory, and on the device where that is a GPU.
  [[nodiscard]] static std::uint64_t device_bytes(const graph::EdgeFile& file);

 private:
  /// The next window, once there is room on the device.
  [[nodiscard]] std::optional<graph::FileWindow> take();
  /// The window where kernels read it.
  [[nodiscard]] ListView bring(const graph::FileWindow& window);
  /// The window goes back to the reader when the device has done with it.
  void give_back();
  void finish();

  const exec::Stream& stream_;
  const graph::EdgeFile& file_;
  std::function<void()> check_;
  graph::ListReader reader_;
  memory::Buffer<EdgeOffset> offsets_;  ///< On a GPU, of kOnDevice windows.
  memory::Buffer<Vertex> targets_;
  static constexpr std::size_t kOnDevice = 3;
  std::size_t next_place_ = 0;
  std::deque<exec::Event> busy_;  ///< Of a GPU: windows that it may still read, oldest first.
};

}  // namespace warren::traverse
