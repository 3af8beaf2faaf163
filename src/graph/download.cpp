// SPDX-License-Identifier: Apache-2.0
// Shards brought back into one graph in host memory; weights of a byte each become int32.
#include <algorithm>
#include <utility>

#include "warren/exec/worker.hpp"
#include "warren/graph/byte_weights.hpp"
#include "warren/graph/edge_chunks.hpp"
#include "warren/graph/generate_shard.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kWidenGrain = std::uint64_t{1} << 18;

/// The ranks' own edges' values, one after the other, on the reporting rank. Collective.
template <class T, class From>
memory::HostArray<T> gathered(team::Team& team, const exec::Stream& stream, const From* values,
                              const EdgeRange& range) {
  std::vector<From> own(range.count());
  if (!own.empty()) exec::copy(stream, own.data(), values + range.first, own.size() * sizeof(From));
  stream.synchronize();
  const auto all = team.all_gather_v(std::span<const From>(own));
  if (!team.reports()) return {};
  std::uint64_t size = 0;
  for (const auto& part : all) size += part.size();
  memory::HostArray<T> made(size);
  auto to = made.begin();
  for (const auto& part : all) to = std::copy(part.begin(), part.end(), to);
  return made;
}

/// The weights of the shard's out-edges, in the graph that has them all. Collective.
void gather_weights(team::Team& team, const exec::Stream& stream, const Shard& shard,
                    Graph& graph) {
  const CsrView& view = shard.out;
  const EdgeRange range = edge_range(stream, view);
  switch (shard.weight_type) {
    case WeightType::none:
      return;
    case WeightType::float32:
      graph.weights_float = gathered<float>(team, stream, view.weights_float, range);
      break;
    case WeightType::int32:
      graph.weights_int = shard.has_byte_weights
                              ? gathered<std::int32_t>(team, stream, view.weights_byte, range)
                              : gathered<std::int32_t>(team, stream, view.weights_int, range);
      break;
  }
  if (team.reports()) graph.weight_type = shard.weight_type;
}

/// A window of one rank's values in host memory, which are never written.
template <class T>
memory::HostArray<T> window_on(const Shard& shard, const T* values) {
  return memory::HostArray<T>(const_cast<T*>(values), shard.edges, shard.out_storage);
}

void show_weights(const Shard& shard, Graph& graph) {
  graph.weight_type = shard.weight_type;
  const CsrView& view = shard.out;
  if (shard.weight_type == WeightType::float32) {
    graph.weights_float = window_on(shard, view.weights_float);
  } else if (shard.weight_type == WeightType::int32 && !shard.has_byte_weights) {
    graph.weights_int = window_on(shard, view.weights_int);
  } else if (shard.weight_type == WeightType::int32) {
    graph.weights_int = memory::HostArray<std::int32_t>(shard.edges);
    const exec::Device host = exec::Device::cpu();
    host.pool().parallel_for(0, shard.edges, kWidenGrain,
                             [&](std::uint64_t begin, std::uint64_t end) {
                               std::copy(view.weights_byte + begin, view.weights_byte + end,
                                         graph.weights_int.data() + begin);
                             });
  }
}

Graph graph_of(const Shard& shard) {
  Graph graph;
  graph.vertices = static_cast<Vertex>(shard.vertices);
  graph.symmetry = shard.is_symmetric ? Symmetry::symmetric : Symmetry::unknown;
  return graph;
}

/// Of one rank, whose lists are in host memory.
Graph window_of(const exec::Stream& stream, const Shard& shard, bool with_weights) {
  Graph graph = graph_of(shard);
  graph.offsets = memory::HostArray<EdgeOffset>(shard.vertices + 1);
  exec::copy(stream, graph.offsets.data(), shard.out.offsets,
             graph.offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  graph.targets = window_on(shard, shard.out.targets);
  if (with_weights) show_weights(shard, graph);
  return graph;
}

Graph fetch(team::Team& team, const Shard& shard, bool with_weights) {
  const exec::Stream stream(team.device());
  if (shard.edges_placement == EdgesPlacement::compressed_host) {
    const CompressedGraph& compressed = *shard.out_storage->compressed;
    Graph weights;
    // Where they were drawn, the compressed graph does not have them.
    if (with_weights && compressed.weight_type == WeightType::none)
      gather_weights(team, stream, shard, weights);
    team.barrier();
    if (!team.reports()) return {};
    Graph graph = decompress(compressed, exec::Device::cpu().pool());
    if (weights.weight_type != WeightType::none) {
      graph.weight_type = weights.weight_type;
      graph.weights_int = std::move(weights.weights_int);
      graph.weights_float = std::move(weights.weights_float);
    }
    return graph;
  }
  const CsrView& view = shard.out;
  if (team.size() == 1 && shard.edges_placement == EdgesPlacement::host)
    return window_of(stream, shard, with_weights);
  std::vector<EdgeOffset> offsets(std::uint64_t{view.count} + 1);
  exec::copy(stream, offsets.data(), view.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  const auto all_offsets = team.all_gather_v(std::span<const EdgeOffset>(offsets));
  Graph graph;
  graph.targets = gathered<Vertex>(team, stream, view.targets, {offsets.front(), offsets.back()});
  if (with_weights) gather_weights(team, stream, shard, graph);
  if (!team.reports()) return {};
  Graph all = graph_of(shard);
  all.targets = std::move(graph.targets);
  all.weight_type = graph.weight_type;
  all.weights_int = std::move(graph.weights_int);
  all.weights_float = std::move(graph.weights_float);
  all.offsets = memory::HostArray<EdgeOffset>(shard.vertices + 1);
  all.offsets[0] = 0;
  std::uint64_t row = 0;
  for (const auto& part : all_offsets) {
    for (std::size_t i = 1; i < part.size(); ++i) all.offsets[++row] = part[i];
  }
  return all;
}

}  // namespace

Graph download(team::Team& team, const Shard& shard) { return fetch(team, shard, true); }

Graph download_lists(team::Team& team, const Shard& shard) { return fetch(team, shard, false); }

CsrView with_int_weights(const exec::Stream& stream, const CsrView& view,
                         memory::Buffer<std::int32_t>& made) {
  if (view.weights_int != nullptr || view.weights_byte == nullptr) return view;
  const EdgeRange range = edge_range(stream, view);
  memory::Buffer<std::int32_t> wide(stream.device(), memory::MemoryKind::pinned, range.count());
  // Where the bytes lie the host reads them.
  std::copy(view.weights_byte + range.first, view.weights_byte + range.last, wide.data());
  made = std::move(wide);
  CsrView shown = view;
  shown.weights_int = rebased(made.data(), range.first);
  return shown;
}

}  // namespace warren::graph
