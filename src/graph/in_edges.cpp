// SPDX-License-Identifier: Apache-2.0
#include "warren/graph/in_edges.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "warren/core/error.hpp"
#include "warren/exec/algorithms.hpp"

#include "graph/in_edges_kernels.hpp"

namespace warren::graph {
namespace {

using memory::Buffer;

constexpr std::uint64_t kNumbers = std::uint64_t{1} << 32;  ///< Of edges, in 32 bits.

/// The targets' order: their rows, or with weights the numbers of the edges.
struct Sorted {
  Buffer<Vertex> targets;
  Buffer<std::uint32_t> values;
};

Sorted sort_by_target(const exec::Stream& stream, const Shard& shard,
                      const Buffer<std::uint32_t>& values) {
  const std::uint64_t edges = shard.edges;
  const int bits =
      std::max(1, static_cast<int>(std::bit_width(std::max<std::uint64_t>(shard.vertices, 1) - 1)));
  Sorted sorted{Buffer<Vertex>(stream.device(), edges),
                Buffer<std::uint32_t>(stream.device(), edges)};
  const Buffer<std::byte> scratch(stream.device(), exec::sort_pairs_scratch(stream, edges, bits));
  exec::sort_pairs(stream, shard.out.targets, sorted.targets.data(), values.data(),
                   sorted.values.data(), edges, bits, scratch.data(), scratch.size());
  stream.synchronize();
  return sorted;
}

}  // namespace

void add_in_edges(const exec::Stream& stream, Shard& shard) {
  require(shard.out.count == shard.vertices && shard.edges_placement == EdgesPlacement::device,
          "in-edges are made on the device of a shard of one rank, whose edges are there");
  require(!shard.has_in(), "in-edges are made for a shard that has none");
  const bool is_weighted = shard.weight_type != WeightType::none;
  require(!is_weighted || shard.edges < kNumbers,
          "in-edges with weights are made on the device for less than 2^32 edges");
  const exec::Device& device = stream.device();
  const std::uint64_t edges = shard.edges;
  Buffer<Vertex> rows(device, edges);
  Buffer<std::uint32_t> numbers(device, is_weighted ? edges : 0);
  exec::with_backend(device, [&](auto backend) {
    using Run = InEdgesRun<decltype(backend)>;
    Run::find_rows(stream, {shard.out, rows.data()});
    if (is_weighted) Run::number(stream, {numbers.data()}, edges);
  });
  Sorted sorted = sort_by_target(stream, shard, is_weighted ? numbers : rows);
  auto storage = std::make_shared<CsrStorage>();
  storage->offsets = Buffer<EdgeOffset>(device, shard.vertices + 1);
  if (is_weighted) {
    numbers.reset();
    storage->targets = Buffer<Vertex>(device, edges);
    if (shard.out.weights_int != nullptr)
      storage->weights_int = Buffer<std::int32_t>(device, edges);
    else
      storage->weights_float = Buffer<float>(device, edges);
  }
  exec::with_backend(device, [&](auto backend) {
    using Run = InEdgesRun<decltype(backend)>;
    Run::find_offsets(stream, {sorted.targets.data(), edges, storage->offsets.data()},
                      shard.vertices);
    if (is_weighted)
      Run::reorder(stream,
                   {sorted.values.data(), rows.data(), shard.out, storage->targets.data(),
                    storage->weights_int.data(), storage->weights_float.data()},
                   edges);
  });
  stream.synchronize();
  if (!is_weighted) storage->targets = std::move(sorted.values);
  CsrView in;
  in.offsets = storage->offsets.data();
  in.targets = storage->targets.data();
  in.weights_int = storage->weights_int.data();
  in.weights_float = storage->weights_float.data();
  in.count = shard.out.count;
  shard.in = in;
  shard.in_storage = std::move(storage);
}

std::uint64_t in_edges_bytes(std::uint64_t vertices, std::uint64_t edges, WeightType weights) {
  // Rows, sorted targets and values, and as much scratch; with weights numbers and the result.
  const std::uint64_t words = weights == WeightType::none ? 5 : 8;
  return edges * words * sizeof(Vertex) + (vertices + 1) * sizeof(EdgeOffset) + (1u << 20);
}

}  // namespace warren::graph
