// SPDX-License-Identifier: Apache-2.0
// The host side of connected components over a file.
#include <bit>

#include "warren/core/trace.hpp"
#include "warren/traverse/streamed.hpp"

#include "traverse/components/component_sizes.hpp"
#include "traverse/streamed/list_stream.hpp"
#include "traverse/streamed/result_array.hpp"
#include "traverse/streamed/streamed_components_kernels.hpp"

namespace warren::traverse {

class StreamedComponentsMemory {
 public:
  StreamedComponentsMemory(const exec::Device& device, const graph::EdgeFile& file,
                           StreamCheck check)
      : file_(file),
        stream_(device),
        lists_(stream_, file, std::move(check)),
        parent_(std::make_shared<memory::Buffer<Vertex>>(device, file.vertices())),
        sizes_(device, file.vertices()),
        totals_(device, 1) {}

  StreamedComponentsResult run() {
    const std::uint64_t n = file_.vertices();
    const std::uint64_t tasks = vertex_tasks(n);
    StreamedComponentsResult result;
    const std::uint64_t read_before = lists_.bytes_read();
    const double waited_before = lists_.waited_seconds();
    const double start = now_seconds();
    lists_.each(tasks, PlantTrees{parent_->data(), sizes_.data(), n});
    const HangUnderRoots hang{parent_->data(), n};
    // Most edges are within a tree by then, which is seen at once where both ends hang under its
    // root: trees are flattened after 1, 2, 4, ... windows.
    const auto flatten = [&](std::uint64_t windows) {
      if (std::has_single_bit(windows)) lists_.each(tasks, hang);
    };
    lists_.pass(lists_.all_chunks(),
                LinkEdges{parent_->data(), file_.symmetry() == graph::Symmetry::symmetric},
                flatten);
    lists_.each(tasks, hang);
    const ComponentsTotals totals = sum();
    result.components = totals.components;
    result.largest = totals.largest;
    result.seconds = now_seconds() - start;
    result.bytes_read = lists_.bytes_read() - read_before;
    result.waited_seconds = lists_.waited_seconds() - waited_before;
    trace_span("streamed components", 0, start, start + result.seconds, "{}");
    return result;
  }

  [[nodiscard]] memory::HostArray<Vertex> labels() const { return on_host(stream_, parent_); }

 private:
  [[nodiscard]] ComponentsTotals sum() {
    const std::uint64_t n = file_.vertices();
    memory::GlobalView<std::uint32_t> sizes;  // Of one rank, which has all of them.
    sizes.base[0] = sizes_.data();
    sizes.cuts[1] = n;
    exec::fill_bytes(stream_, totals_.data(), 0, sizeof(ComponentsTotals));
    exec::with_backend(stream_.device(), [&](auto backend) {
      using Sizes = ComponentSizes<decltype(backend)>;
      Sizes::count(stream_, {parent_->data(), n, 0, sizes});
      Sizes::sum(stream_, {sizes_.data(), n, totals_.data()});
    });
    return totals_.to_host(stream_).front();
  }

  const graph::EdgeFile& file_;
  exec::Stream stream_;
  ListStream lists_;
  std::shared_ptr<memory::Buffer<Vertex>> parent_;
  memory::Buffer<std::uint32_t> sizes_;
  memory::Buffer<ComponentsTotals> totals_;
};

StreamedComponents::StreamedComponents(const exec::Device& device, const graph::EdgeFile& file,
                                       StreamCheck check)
    : memory_(std::make_unique<StreamedComponentsMemory>(device, file, std::move(check))) {}
StreamedComponents::~StreamedComponents() = default;

StreamMemory StreamedComponents::memory(const graph::EdgeFile& file, exec::DeviceKind kind) {
  const std::uint64_t n = file.vertices();
  StreamMemory memory{file.window_memory(), 2 * n * sizeof(Vertex)};
  if (kind == exec::DeviceKind::cuda) {
    memory.device += ListStream::device_bytes(file);
    memory.host += n * sizeof(Vertex);
  } else {
    memory.host += std::exchange(memory.device, 0);
  }
  return memory;
}

StreamedComponentsResult StreamedComponents::run() { return memory_->run(); }
memory::HostArray<Vertex> StreamedComponents::labels() const { return memory_->labels(); }

}  // namespace warren::traverse
