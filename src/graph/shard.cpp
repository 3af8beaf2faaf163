// SPDX-License-Identifier: Apache-2.0
// Shards of a graph in host memory.
#include "warren/graph/shard.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/edge_chunks.hpp"
#include "warren/graph/generate_shard.hpp"
#include "warren/graph/transform.hpp"
#include "warren/team/ranks_of_a_device.hpp"

#include "graph/shard_lists.hpp"
#include "graph/shard_source.hpp"

namespace warren::graph {

std::uint64_t detail::padded(std::uint64_t elements) {
  constexpr std::uint64_t kElements = kSectorBytes / sizeof(Vertex);
  return (elements + kElements - 1) / kElements * kElements;
}

namespace {

using detail::padded;

/// Copies `count` elements that start at the device's or the host's `source` into a buffer of their
/// own, rebased to be indexed from `first`.
template <class T>
const T* fill(const exec::Stream& stream, memory::Buffer<T>& buffer, memory::MemoryKind kind,
              const T* source, EdgeOffset first, EdgeOffset count) {
  if (source == nullptr) return nullptr;
  memory::Buffer<T> made(stream.device(), kind, padded(count));
  exec::copy(stream, made.data(), source + first, count * sizeof(T));
  stream.synchronize();
  buffer = std::move(made);
  return rebased(buffer.data(), first);
}

/// offsets[row], which stand on the stream's device. Synchronises.
EdgeOffset offset_at(const exec::Stream& stream, const EdgeOffset* offsets, std::uint64_t row) {
  EdgeOffset value = 0;
  exec::copy(stream, &value, offsets + row, sizeof(value));
  stream.synchronize();
  return value;
}

/// The largest row end at or below `most`, and `first`, where the first row begins, is. The offsets
/// stay where they are: those of a billion vertices are as large as some hosts' memory.
EdgeOffset row_end(const exec::Stream& stream, const CsrView& view, EdgeOffset first,
                   EdgeOffset most) {
  EdgeOffset found = first;
  std::uint64_t low = 0, high = view.count;  // offsets[low] <= most.
  while (low < high) {
    const std::uint64_t middle = (low + high + 1) / 2;
    const EdgeOffset end = offset_at(stream, view.offsets, middle);
    if (end <= most) {
      low = middle;
      found = end;
    } else {
      high = middle - 1;
    }
  }
  return found;
}

/// Far lists keep their first rows near, as far as `bytes` go.
void fill_cache(const exec::Stream& stream, CsrView& view, std::uint64_t bytes,
                CsrStorage& storage) {
  if (view.count == 0 || bytes < sizeof(Vertex)) return;
  const EdgeOffset first = offset_at(stream, view.offsets, 0);
  view.cached_end = row_end(stream, view, first, first + bytes / sizeof(Vertex));
  const EdgeOffset count = view.cached_end - first;
  if (count == 0) {
    view.cached_end = 0;
    return;
  }
  if (stream.device().is_cuda()) {
    view.cached =
        fill(stream, storage.cached, memory::MemoryKind::device, view.targets, first, count);
  } else {
    view.cached = view.targets;  // All memory is one; what is counted as read far is not.
  }
}

/// From the device to host memory, where they are not there yet.
void move_to_host(const exec::Stream& stream, CsrView& view, std::uint64_t cached,
                  CsrStorage& storage) {
  if (stream.device().is_cuda()) {
    const EdgeRange range = edge_range(stream, view);
    const auto put = [&](auto& buffer, const auto* source) {
      if (buffer.kind() == memory::MemoryKind::pinned) return source;
      return fill(stream, buffer, memory::MemoryKind::pinned, source, range.first, range.count());
    };
    view.targets = put(storage.targets, view.targets);
    view.weights_int = put(storage.weights_int, view.weights_int);
    view.weights_float = put(storage.weights_float, view.weights_float);
    view.weights_byte = put(storage.weights_byte, view.weights_byte);
  }
  fill_cache(stream, view, cached, storage);
}

/// The rows' part of the compressed lists: the index on the device, the lists where they fit.
PackedRows place_packed(const exec::Stream& stream,
                        const std::shared_ptr<const CompressedGraph>& graph, Vertex first,
                        Vertex count, std::uint64_t cached, CsrStorage& storage) {
  PackedRows rows;
  storage.compressed = graph;
  rows.view = graph->view();
  rows.view.first = first;
  rows.view.count = count;
  if (count == 0) return rows;
  const std::uint64_t first_group = first / kCompressedGroup;
  const std::uint64_t end_group = (std::uint64_t{first} + count - 1) / kCompressedGroup + 1;
  const bool is_last = end_group == graph->groups.size();
  const std::uint64_t first_byte = graph->groups[first_group].bytes();
  const std::uint64_t end_byte =
      is_last ? graph->stream_bytes() : graph->groups[end_group].bytes() + 8;
  rows.bytes = end_byte - first_byte;
  rows.is_far = rows.bytes > cached;
  if (!stream.device().is_cuda()) return rows;
  const auto device = memory::MemoryKind::device;
  rows.view.groups = fill(stream, storage.groups, device, graph->groups.data(), first_group,
                          end_group - first_group);
  const std::uint64_t first_field = graph->groups[first_group].word();
  const std::uint64_t end_field =
      is_last ? graph->fields.size() : graph->groups[end_group].word() + 2;
  rows.view.fields = fill(stream, storage.fields, device, graph->fields.data(), first_field,
                          std::min<std::uint64_t>(end_field, graph->fields.size()) - first_field);
  // Sectors stay sectors: the buffer begins where one does.
  const std::uint64_t first_word = padded(first_byte / 4 + 1) - padded(1);
  const std::uint64_t end_word = std::min<std::uint64_t>((end_byte + 3) / 4, graph->stream.size());
  rows.view.stream = fill(stream, storage.stream, rows.is_far ? memory::MemoryKind::pinned : device,
                          graph->stream.data(), first_word, end_word - first_word);
  return rows;
}

}  // namespace

std::uint64_t detail::cache_bytes(const team::Team& team, const EdgesOptions& edges,
                                  std::uint64_t parts, std::uint64_t own) {
  // Of BFS with its queues; no algorithm holds more beside lists in host memory.
  constexpr std::uint64_t kVertexBytes = 40;
  const exec::Device& device = team.device();
  if (edges.placement == EdgesPlacement::device) return 0;
  if (edges.cache_bytes == EdgesOptions::kAllThatIsFree) {
    if (!device.is_cuda()) return 0;
    const std::uint64_t free = exec::free_memory(device) / team::ranks_of_a_device(team);
    const std::uint64_t kept = std::max(free / 4, own * kVertexBytes);
    return free > kept ? (free - kept) / parts : 0;
  }
  const std::uint64_t total = exec::total_memory(device);
  require(edges.cache_bytes <= total,
          fmt::format("a cache of {} bytes is larger than {}, which has {} bytes",
                      edges.cache_bytes, device.name(), total));
  return edges.cache_bytes;
}

detail::HostRows detail::rows_of(const Graph& graph) {
  const auto all = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
  return {graph.offsets.span(), all(graph.targets), all(graph.weights_int),
          all(graph.weights_float), nullptr};
}

detail::HostRows detail::rows_of(const std::shared_ptr<const Graph>& graph, Vertex first,
                                 Vertex count) {
  HostRows rows = rows_of(*graph);
  rows.offsets = rows.offsets.subspan(first, std::uint64_t{count} + 1);
  rows.owner = graph;
  return rows;
}

CsrView detail::place(const exec::Stream& stream, const HostRows& rows, Vertex first,
                      EdgesPlacement placement, std::uint64_t cached, CsrStorage& storage) {
  CsrView view;
  view.first = first;
  view.count = static_cast<Vertex>(rows.offsets.size() - 1);
  storage.host = rows.owner;
  const bool is_far = placement != EdgesPlacement::device;
  const bool is_packed = placement == EdgesPlacement::compressed_host;
  if (!stream.device().is_cuda()) {
    view.offsets = rows.offsets.data();
    view.targets = is_packed ? nullptr : rows.targets;
    view.weights_int = rows.weights_int;
    view.weights_float = rows.weights_float;
  } else {
    const EdgeOffset begin = rows.offsets.front();
    const EdgeOffset length = rows.offsets.back() - begin;
    const auto kind = is_far ? memory::MemoryKind::pinned : memory::MemoryKind::device;
    storage.offsets = memory::Buffer<EdgeOffset>(stream.device(), rows.offsets.size());
    storage.offsets.upload(stream, rows.offsets);
    view.offsets = storage.offsets.data();
    const auto put = [&](auto& buffer, const auto* source) {
      return fill(stream, buffer, kind, source, begin, length);
    };
    if (!is_packed) view.targets = put(storage.targets, rows.targets);
    view.weights_int = put(storage.weights_int, rows.weights_int);
    view.weights_float = put(storage.weights_float, rows.weights_float);
  }
  if (is_far && !is_packed) fill_cache(stream, view, cached, storage);
  return view;
}

Shard make_shard(team::Team& team, const ShardSource& source, const EdgesOptions& edges) {
  require(source.cuts.size() == static_cast<std::size_t>(team.size()) + 1,
          "a shard needs one cut more than the team has ranks");
  require(source.cuts.back() == source.out->vertices, "the last cut is not the number of vertices");
  require(!source.in || (source.in->vertices == source.out->vertices &&
                         source.in->edges() == source.out->edges()),
          "a shard's in-edges are those of its graph, reversed: ShardSource::in has another number "
          "of vertices or edges than ShardSource::out");
  const auto rank = static_cast<std::size_t>(team.rank());
  const auto first = static_cast<Vertex>(source.cuts[rank]);
  const auto count = static_cast<Vertex>(source.cuts[rank + 1] - source.cuts[rank]);
  const exec::Stream stream(team.device());
  Shard shard;
  shard.vertices = source.out->vertices;
  shard.edges = source.out->edges();
  shard.cuts = source.cuts;
  const SourceFacts facts = agree(team, source);
  shard.weight_type = facts.weight_type;
  shard.is_symmetric = facts.is_symmetric;
  shard.edges_placement = edges.placement;
  const bool has_own_in = facts.has_in && !facts.is_symmetric;
  const std::uint64_t cached = detail::cache_bytes(team, edges, has_own_in ? 2 : 1, count);
  team.barrier();  // Before anybody takes of what is free.
  const auto put = [&](const std::shared_ptr<const Graph>& graph, CsrStorage& storage) {
    return detail::place(stream, detail::rows_of(graph, first, count), first, edges.placement,
                         cached, storage);
  };
  const bool is_packed = edges.placement == EdgesPlacement::compressed_host;
  require(!is_packed || (source.compressed_out && (!source.in || source.compressed_in)),
          "a compressed placement needs a source with compressed lists: call compress_lists()");
  shard.out_storage = std::make_shared<CsrStorage>();
  shard.out = put(source.out, *shard.out_storage);
  if (is_packed)
    shard.packed_out =
        place_packed(stream, source.compressed_out, first, count, cached, *shard.out_storage);
  if (shard.is_symmetric) {
    shard.in = shard.out;
    shard.packed_in = shard.packed_out;
    shard.in_storage = shard.out_storage;
  } else if (has_own_in) {
    shard.in_storage = std::make_shared<CsrStorage>();
    shard.in = put(source.in, *shard.in_storage);
    if (is_packed)
      shard.packed_in =
          place_packed(stream, source.compressed_in, first, count, cached, *shard.in_storage);
  }
  stream.synchronize();
  return shard;
}

void require_plain_lists(const Shard& shard, const std::string& algorithm) {
  require(
      shard.edges_placement != EdgesPlacement::compressed_host,
      algorithm + " cannot walk compressed lists: place the edges on the device or in host memory");
}

std::uint64_t far_list_bytes(const exec::Stream& stream, const CsrView& view,
                             const PackedRows& packed, EdgesPlacement placement) {
  if (placement == EdgesPlacement::compressed_host) return packed.is_far ? packed.bytes : 0;
  if (placement == EdgesPlacement::device || view.count == 0) return 0;
  const EdgeRange range = edge_range(stream, view);
  return (range.last - std::max(range.first, view.cached_end)) * sizeof(Vertex);
}

namespace {

/// The shards' graph and its reverse with their lists compressed, made on the host once for all
/// ranks.
ShardSource compressed_source(team::Team& team, const Shard& shard, bool has_own_in) {
  ShardSource source;
  auto graph = std::make_shared<Graph>(download_lists(team, shard));
  if (team.rank() == 0) {
    const exec::Device host = exec::Device::cpu();
    exec::ThreadPool& pool = host.pool();
    source.out = graph;
    source.in = has_own_in ? std::make_shared<const Graph>(transpose(*graph, pool)) : source.out;
    compress_lists(source, pool);
    source.in.reset();
  }
  const auto all = team.all_gather(reinterpret_cast<std::uintptr_t>(&source));
  const auto* first = reinterpret_cast<const ShardSource*>(all.front());
  ShardSource shared = *first;
  team.barrier();  // Before rank 0's goes.
  shared.out.reset();
  return shared;
}

/// From the device, uncompressed, to a compressed placement.
void pack(const exec::Stream& stream, CsrView& view, PackedRows& packed,
          const std::shared_ptr<const CompressedGraph>& graph, std::uint64_t cached,
          CsrStorage& storage) {
  packed = place_packed(stream, graph, view.first, view.count, cached, storage);
  view.targets = nullptr;
  storage.targets = {};
}

}  // namespace

EdgeOffset max_out_degree(team::Team& team, const Shard& shard) {
  std::vector<EdgeOffset> offsets(std::uint64_t{shard.out.count} + 1);
  const exec::Stream stream(team.device());
  if (shard.out.count > 0)
    exec::copy(stream, offsets.data(), shard.out.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  EdgeOffset most = 0;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    most = std::max(most, offsets[i + 1] - offsets[i]);
  return team.all_reduce(most, exec::Maximum{});
}

void place_edges(team::Team& team, Shard& shard, const EdgesOptions& edges) {
  if (edges.placement == EdgesPlacement::device) return;
  require(edges.placement != EdgesPlacement::compressed_host || !team.spans_processes(),
          "lists are compressed by one rank for all, which processes cannot: give make_shard() a "
          "source with compressed lists");
  const bool has_own_in = shard.has_in() && !shard.is_symmetric;
  const exec::Stream stream(team.device());
  const std::uint64_t cached =
      detail::cache_bytes(team, edges, has_own_in ? 2 : 1, shard.out.count);
  team.barrier();
  if (edges.placement == EdgesPlacement::compressed_host) {
    const ShardSource source = compressed_source(team, shard, has_own_in);
    pack(stream, shard.out, shard.packed_out, source.compressed_out, cached, *shard.out_storage);
    if (has_own_in)
      pack(stream, shard.in, shard.packed_in, source.compressed_in, cached, *shard.in_storage);
  } else {
    move_to_host(stream, shard.out, cached, *shard.out_storage);
    if (has_own_in) move_to_host(stream, shard.in, cached, *shard.in_storage);
  }
  if (shard.is_symmetric) {
    shard.in = shard.out;
    shard.packed_in = shard.packed_out;
  }
  shard.edges_placement = edges.placement;
}

}  // namespace warren::graph
