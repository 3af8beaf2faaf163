// SPDX-License-Identifier: Apache-2.0
#include "warren/graph/degree_order.hpp"

#include <memory>
#include <utility>

#include "warren/core/error.hpp"
#include "warren/exec/algorithms.hpp"
#include "warren/graph/in_edges.hpp"

#include "graph/degree_order_kernels.hpp"

namespace warren::graph {
namespace {

using memory::Buffer;

/// old_id: the vertices by falling degree.
Buffer<Vertex> sort_by_degree(const exec::Stream& stream, const CsrView& out) {
  const exec::Device& device = stream.device();
  constexpr int kBits = 32;
  const Buffer<std::uint32_t> key(device, out.count), sorted(device, out.count);
  const Buffer<Vertex> vertex(device, out.count);
  Buffer<Vertex> old_id(device, out.count);
  const Buffer<std::byte> scratch(device, exec::sort_pairs_scratch(stream, out.count, kBits));
  exec::with_backend(device, [&](auto backend) {
    DegreeOrderRun<decltype(backend)>::key(stream, {out, key.data(), vertex.data()});
  });
  exec::sort_pairs(stream, key.data(), sorted.data(), vertex.data(), old_id.data(), out.count,
                   kBits, scratch.data(), scratch.size());
  stream.synchronize();
  return old_id;
}

CsrView move_rows(const exec::Stream& stream, const CsrView& view, std::uint64_t edges,
                  const Vertex* old_id, const Vertex* new_id, CsrStorage& storage) {
  const exec::Device& device = stream.device();
  storage.offsets = Buffer<EdgeOffset>(device, view.count + std::uint64_t{1});
  storage.targets = Buffer<Vertex>(device, edges);
  const Buffer<std::uint32_t> length(device, view.count);
  exec::with_backend(device, [&](auto backend) {
    using Run = DegreeOrderRun<decltype(backend)>;
    Run::measure(stream, {view, old_id, length.data()});
    exec::exclusive_sum(stream, length.data(), storage.offsets.data(), view.count);
    Run::move(stream, {view, old_id, new_id, storage.offsets.data(), storage.targets.data()});
  });
  stream.synchronize();
  CsrView moved;
  moved.offsets = storage.offsets.data();
  moved.targets = storage.targets.data();
  moved.count = view.count;
  return moved;
}

}  // namespace

Shard order_by_degree(const exec::Stream& stream, const Shard& shard) {
  require(shard.out.count == shard.vertices && shard.edges_placement == EdgesPlacement::device,
          "vertices are ordered on the device in a shard of one rank, whose edges are there");
  const exec::Device& device = stream.device();
  Shard ordered;
  ordered.vertices = shard.vertices;
  ordered.edges = shard.edges;
  ordered.cuts = shard.cuts;
  ordered.edges_placement = shard.edges_placement;
  ordered.old_id = std::make_shared<Buffer<Vertex>>(sort_by_degree(stream, shard.out));
  ordered.new_id = std::make_shared<Buffer<Vertex>>(device, shard.vertices);
  exec::with_backend(device, [&](auto backend) {
    DegreeOrderRun<decltype(backend)>::invert(
        stream, {ordered.old_id->data(), ordered.new_id->data()}, shard.vertices);
  });
  ordered.out_storage = std::make_shared<CsrStorage>();
  ordered.out = move_rows(stream, shard.out, shard.edges, ordered.old_id->data(),
                          ordered.new_id->data(), *ordered.out_storage);
  if (shard.has_in()) {
    add_in_edges(stream, ordered);
    if (shard.is_symmetric) {  // The same lists, in their order.
      ordered.out = ordered.in;
      ordered.out_storage = ordered.in_storage;
      ordered.is_symmetric = true;
    }
  }
  return ordered;
}

void in_old_order(const exec::Stream& stream, const Shard& ordered, const double* from,
                  double* to) {
  exec::with_backend(stream.device(), [&](auto backend) {
    DegreeOrderRun<decltype(backend)>::take(stream, {from, ordered.new_id->data(), to},
                                            ordered.vertices);
  });
  stream.synchronize();
}

}  // namespace warren::graph
