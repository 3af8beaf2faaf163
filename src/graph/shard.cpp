// SPDX-License-Identifier: Apache-2.0
// Shards of a graph in host memory.
#include "warren/graph/shard.hpp"

namespace warren::graph {
namespace {

template <class T>
const T* rebased(const T* data, EdgeOffset first) {
  // Indexed by the whole graph's offsets; the address before the buffer is never read.
  return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(data) - first * sizeof(T));
}

template <class T>
const T* upload(const exec::Stream& stream, memory::Buffer<T>& buffer,
                const memory::HostArray<T>& array, EdgeOffset begin, EdgeOffset end) {
  if (array.empty()) return nullptr;
  buffer = memory::Buffer<T>(stream.device(), end - begin);
  buffer.upload(stream, {array.data() + begin, end - begin});
  return rebased(buffer.data(), begin);
}

CsrView place(const exec::Stream& stream, const std::shared_ptr<const Graph>& graph, Vertex first,
              Vertex count, CsrStorage& storage) {
  CsrView view;
  view.first = first;
  view.count = count;
  storage.host = graph;
  if (!stream.device().is_cuda()) {
    view.offsets = graph->offsets.data() + first;
    view.targets = graph->targets.data();
    view.weights_int = graph->weights_int.data();
    view.weights_float = graph->weights_float.data();
    return view;
  }
  const EdgeOffset begin = graph->offsets[first];
  const EdgeOffset end = graph->offsets[std::uint64_t{first} + count];
  storage.offsets = memory::Buffer<EdgeOffset>(stream.device(), std::uint64_t{count} + 1);
  storage.offsets.upload(stream, {graph->offsets.data() + first, std::uint64_t{count} + 1});
  view.offsets = storage.offsets.data();
  view.targets = upload(stream, storage.targets, graph->targets, begin, end);
  view.weights_int = upload(stream, storage.weights_int, graph->weights_int, begin, end);
  view.weights_float = upload(stream, storage.weights_float, graph->weights_float, begin, end);
  return view;
}

}  // namespace

Shard make_shard(team::Team& team, const ShardSource& source) {
  require(source.cuts.size() == static_cast<std::size_t>(team.size()) + 1,
          "a shard needs one cut more than the team has ranks");
  require(source.cuts.back() == source.out->vertices, "the last cut is not the number of vertices");
  const auto rank = static_cast<std::size_t>(team.rank());
  const auto first = static_cast<Vertex>(source.cuts[rank]);
  const auto count = static_cast<Vertex>(source.cuts[rank + 1] - source.cuts[rank]);
  const exec::Stream stream(team.device());
  Shard shard;
  shard.vertices = source.out->vertices;
  shard.edges = source.out->edges();
  shard.cuts = source.cuts;
  shard.out_storage = std::make_shared<CsrStorage>();
  shard.out = place(stream, source.out, first, count, *shard.out_storage);
  if (source.in == source.out) {
    shard.is_symmetric = true;
    shard.in = shard.out;
    shard.in_storage = shard.out_storage;
  } else if (source.in) {
    shard.in_storage = std::make_shared<CsrStorage>();
    shard.in = place(stream, source.in, first, count, *shard.in_storage);
  }
  stream.synchronize();
  return shard;
}

}  // namespace warren::graph
