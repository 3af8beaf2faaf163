// SPDX-License-Identifier: Apache-2.0
// Graphs generated into shards: count the degrees, cut, then draw the rows chunk by chunk. A
// chunk's entries are drawn as keys, sorted, merged and appended to the columns, so that beside the
// graph itself only a chunk is ever held. Every chunk draws all edges again: a draw is arithmetic
// and costs less than moving it. Columns in host memory are written there by the kernel that
// appends them, so that the device only ever holds a chunk.
#include "warren/graph/generate_shard.hpp"

#include <algorithm>
#include <bit>

#include "warren/core/trace.hpp"
#include "warren/exec/algorithms.hpp"
#include "warren/graph/partition.hpp"
#include "warren/team/ranks_of_a_device.hpp"

#include "graph/generate_shard_kernels.hpp"
#include "graph/shard_lists.hpp"

namespace warren::graph {
namespace {

using memory::Buffer;

/// Chunks that a shard is drawn in: each holds 16 bytes an entry, so a sixteenth costs a quarter of
/// the graph's 4 bytes an entry.
constexpr std::uint64_t kChunks = 16;
constexpr std::uint64_t kLeastChunk = std::uint64_t{1} << 16;
/// Bytes of the device that an entry of a chunk takes: two keys.
constexpr std::uint64_t kEntryBytes = 2 * sizeof(std::uint64_t);

template <class Kernel>
void launch(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    GenerateKernels<decltype(backend)>::launch(stream, tasks, kernel);
  });
}

/// Rows where the offsets reach given values, and the offsets there.
struct RowsAt {
  std::vector<std::uint64_t> rows;
  std::vector<std::uint64_t> offsets;
};

RowsAt find_rows(const exec::Stream& stream, const Buffer<std::uint64_t>& offsets,
                 const std::vector<std::uint64_t>& wanted) {
  Buffer<std::uint64_t> asked(stream.device(), wanted.size());
  Buffer<std::uint64_t> rows(stream.device(), wanted.size());
  Buffer<std::uint64_t> found(stream.device(), wanted.size());
  asked.upload(stream, wanted);
  launch(stream, wanted.size(),
         FindRows{offsets.data(), offsets.size() - 1, asked.data(), rows.data(), found.data()});
  return {rows.to_host(stream), found.to_host(stream)};
}

int bits_for(std::uint64_t values) {
  return values <= 1 ? 1 : static_cast<int>(std::bit_width(values - 1));
}

class RowDrawer {
 public:
  /// `lists`: the memory that columns are drawn into.
  RowDrawer(team::Team& team, const exec::Stream& stream, const DrawRule& rule,
            bool keep_duplicates, memory::MemoryKind lists)
      : team_(team),
        stream_(stream),
        rule_(rule),
        keep_duplicates_(keep_duplicates),
        lists_(lists) {}

  /// Draws this rank's rows. `cuts` is found from the degrees where empty, else given. Where
  /// `renumbered` is given, its vertices are first numbered by degree.
  CsrView draw(std::vector<std::uint64_t>& cuts, CsrStorage& storage, std::uint64_t& edges,
               Shard* renumbered = nullptr) {
    const std::uint64_t n = rule_.spec.vertices;
    std::vector<std::uint64_t> bounds;  // Of the chunks, as rows.
    std::vector<std::uint64_t> starts;  // As entries before them.
    {
      Buffer<std::uint64_t> offsets(stream_.device(), n + 1);
      {
        Buffer<std::uint32_t> degrees(stream_.device(), n);
        exec::fill_bytes(stream_, degrees.data(), 0, degrees.bytes());
        launch(stream_, rule_.spec.draws, CountDegrees{rule_, degrees.data()});
        if (renumbered != nullptr) renumber(degrees, cuts, *renumbered);
        exec::exclusive_sum(stream_, degrees.data(), offsets.data(), n);
      }
      if (cuts.empty()) cuts = cut(offsets);
      plan_chunks(offsets, cuts, bounds, starts);
    }
    const auto rank = static_cast<std::size_t>(team_.rank());
    CsrView view;
    view.first = static_cast<Vertex>(cuts[rank]);
    view.count = static_cast<Vertex>(cuts[rank + 1] - cuts[rank]);
    storage.offsets = Buffer<EdgeOffset>(stream_.device(), std::uint64_t{view.count} + 1);
    storage.targets =
        Buffer<Vertex>(stream_.device(), lists_, detail::padded(starts.back() - starts.front()));
    const std::uint64_t own = draw_chunks(view, bounds, starts, storage);

    const std::vector<std::uint64_t> all = team_.all_gather(own);
    std::uint64_t before = 0;
    for (std::size_t q = 0; q < rank; ++q) before += all[q];
    edges = 0;
    for (const std::uint64_t part : all) edges += part;
    launch(stream_, std::uint64_t{view.count} + 1, AddToOffsets{storage.offsets.data(), before});
    view.offsets = storage.offsets.data();
    // Indexed by the whole graph's offsets; the address before the buffer is never read.
    view.targets = reinterpret_cast<const Vertex*>(
        reinterpret_cast<std::uintptr_t>(storage.targets.data()) - before * sizeof(Vertex));
    stream_.synchronize();
    return view;
  }

 private:
  void renumber(Buffer<std::uint32_t>& degrees, std::vector<std::uint64_t>& cuts, Shard& shard) {
    const std::uint64_t n = rule_.spec.vertices;
    shard.new_id = std::make_shared<Buffer<Vertex>>(stream_.device(), n);
    shard.old_id = std::make_shared<Buffer<Vertex>>(stream_.device(), n);
    Buffer<std::uint64_t> keys(stream_.device(), n);
    Buffer<std::uint64_t> spare(stream_.device(), n);
    launch(stream_, n, DegreeKeys{degrees.data(), keys.data()});
    DealIds deal{exec::sort_keys(stream_, keys.data(), spare.data(), n, 64),
                 {},
                 static_cast<std::uint64_t>(team_.size()),
                 shard.new_id->data(),
                 shard.old_id->data(),
                 degrees.data()};
    cuts = dealt_cuts(n, team_.size());
    std::copy(cuts.begin(), cuts.end(), deal.cuts);
    launch(stream_, n, deal);
    stream_.synchronize();
    rule_.new_id = shard.new_id->data();
  }

  std::vector<std::uint64_t> cut(const Buffer<std::uint64_t>& offsets) const {
    const auto parts = static_cast<std::uint64_t>(team_.size());
    const std::uint64_t entries = last_of(offsets);
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t p = 0; p < parts; ++p) wanted.push_back(entries * p / parts);
    std::vector<std::uint64_t> cuts = find_rows(stream_, offsets, wanted).rows;
    cuts.front() = 0;
    cuts.push_back(rule_.spec.vertices);
    return cuts;
  }

  std::uint64_t last_of(const Buffer<std::uint64_t>& offsets) const {
    std::uint64_t last = 0;
    offsets.download(stream_, {&last, 1}, offsets.size() - 1);
    stream_.synchronize();
    return last;
  }

  void plan_chunks(const Buffer<std::uint64_t>& offsets, const std::vector<std::uint64_t>& cuts,
                   std::vector<std::uint64_t>& bounds, std::vector<std::uint64_t>& starts) const {
    const auto rank = static_cast<std::size_t>(team_.rank());
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    offsets.download(stream_, {&begin, 1}, cuts[rank]);
    offsets.download(stream_, {&end, 1}, cuts[rank + 1]);
    stream_.synchronize();
    const std::uint64_t chunk = std::max(kLeastChunk, chunk_entries(end - begin));
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t at = begin + chunk; at < end; at += chunk) wanted.push_back(at);
    bounds.push_back(cuts[rank]);
    starts.push_back(begin);
    if (!wanted.empty()) {
      const RowsAt found = find_rows(stream_, offsets, wanted);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (found.rows[i] <= bounds.back() || found.rows[i] >= cuts[rank + 1]) continue;
        bounds.push_back(found.rows[i]);
        starts.push_back(found.offsets[i]);
      }
    }
    bounds.push_back(cuts[rank + 1]);
    starts.push_back(end);
  }

  /// Entries of a chunk, of `entries` in all. Lists in host memory leave the device's room to
  /// chunks: the fewer there are, the less is drawn again. Where all memory is one, they take
  /// theirs.
  [[nodiscard]] std::uint64_t chunk_entries(std::uint64_t entries) const {
    if (lists_ == memory::MemoryKind::device) return (entries + kChunks - 1) / kChunks;
    const exec::Device& device = stream_.device();
    const std::uint64_t lists = device.is_cuda() ? 0 : entries * sizeof(Vertex);
    const std::uint64_t free = exec::free_memory(device) / team::ranks_of_a_device(team_);
    // A quarter is left to the sort's own memory and to others.
    return std::min(entries, (free > lists ? free - lists : 0) / 4 * 3 / kEntryBytes);
  }

  /// Entries kept.
  std::uint64_t draw_chunks(const CsrView& view, const std::vector<std::uint64_t>& bounds,
                            const std::vector<std::uint64_t>& starts, CsrStorage& storage) {
    std::uint64_t most = 0;
    for (std::size_t c = 0; c + 1 < bounds.size(); ++c)
      most = std::max(most, starts[c + 1] - starts[c]);
    Buffer<std::uint64_t> keys(stream_.device(), most);
    Buffer<std::uint64_t> spare(stream_.device(), most);
    Buffer<std::uint64_t> count(stream_.device(), 1);
    const int shift = bits_for(rule_.spec.vertices);
    std::uint64_t kept = 0;
    for (std::size_t c = 0; c + 1 < bounds.size(); ++c) {
      const std::uint64_t drawn = starts[c + 1] - starts[c];
      const std::uint64_t rows = bounds[c + 1] - bounds[c];
      exec::fill_bytes(stream_, count.data(), 0, sizeof(std::uint64_t));
      if (drawn > 0) {
        const DrawKeys draw{rule_, bounds[c], bounds[c + 1], shift, keys.data(), count.data()};
        exec::with_backend(stream_.device(), [&](auto backend) {
          GenerateKernels<decltype(backend)>::draw(stream_, draw);
        });
      }
      std::uint64_t* sorted =
          exec::sort_keys(stream_, keys.data(), spare.data(), drawn, shift + bits_for(rows));
      std::uint64_t size = drawn;
      if (!keep_duplicates_ && drawn > 0) {
        std::uint64_t* other = sorted == keys.data() ? spare.data() : keys.data();
        size = exec::unique_keys(stream_, sorted, other, drawn);
        sorted = other;
      }
      launch(stream_, size,
             StoreColumns{sorted, (std::uint64_t{1} << shift) - 1, storage.targets.data() + kept});
      launch(stream_, rows,
             StoreOffsets{sorted, size, shift, kept,
                          storage.offsets.data() + (bounds[c] - view.first)});
      kept += size;
      stream_.synchronize();
      team_.check();
    }
    storage.offsets.upload(stream_, {&kept, 1}, view.count);
    stream_.synchronize();
    return kept;
  }

  team::Team& team_;
  const exec::Stream& stream_;
  DrawRule rule_;
  bool keep_duplicates_;
  memory::MemoryKind lists_;
};

}  // namespace

Shard generate_shard(team::Team& team, const GeneratorSpec& spec, const BuildOptions& options,
                     bool with_in_edges, VertexOrder order, const EdgesOptions& edges) {
  const TraceSpan span("generate", team.rank());
  const BuildOptions effective = effective_options(spec, options);
  const exec::Stream stream(team.device());
  Shard shard;
  shard.vertices = spec.vertices;
  shard.is_symmetric = effective.symmetrize;
  shard.out_storage = std::make_shared<CsrStorage>();
  const auto lists = edges.placement == EdgesPlacement::device ? memory::MemoryKind::device
                                                               : memory::MemoryKind::pinned;
  DrawRule rule{spec, effective.symmetrize, effective.drop_self_loops, false};
  shard.out = RowDrawer(team, stream, rule, effective.keep_duplicates, lists)
                  .draw(shard.cuts, *shard.out_storage, shard.edges,
                        order == VertexOrder::degree ? &shard : nullptr);
  if (effective.symmetrize) {
    shard.in = shard.out;
    shard.in_storage = shard.out_storage;
  } else if (with_in_edges) {
    rule.reversed = true;
    if (shard.new_id) rule.new_id = shard.new_id->data();
    shard.in_storage = std::make_shared<CsrStorage>();
    std::uint64_t reversed_edges = 0;
    shard.in = RowDrawer(team, stream, rule, effective.keep_duplicates, lists)
                   .draw(shard.cuts, *shard.in_storage, reversed_edges);
  }
  place_edges(team, shard, edges);
  return shard;
}

Graph download(team::Team& team, const Shard& shard) {
  if (shard.edges_placement == EdgesPlacement::compressed_host) {
    team.barrier();
    if (!team.reports()) return {};
    return decompress(*shard.out_storage->compressed, exec::Device::cpu().pool());
  }
  const exec::Stream stream(team.device());
  const CsrView& view = shard.out;
  if (team.size() == 1 && shard.edges_placement == EdgesPlacement::host) {
    Graph graph;
    graph.vertices = static_cast<Vertex>(shard.vertices);
    graph.symmetry = shard.is_symmetric ? Symmetry::symmetric : Symmetry::unknown;
    graph.offsets = memory::HostArray<EdgeOffset>(shard.vertices + 1);
    exec::copy(stream, graph.offsets.data(), view.offsets,
               graph.offsets.size() * sizeof(EdgeOffset));
    stream.synchronize();
    // Never written: the lists stay the shard's.
    graph.targets = memory::HostArray<Vertex>(const_cast<Vertex*>(view.targets), shard.edges,
                                              shard.out_storage);
    return graph;
  }
  std::vector<EdgeOffset> offsets(std::uint64_t{view.count} + 1);
  exec::copy(stream, offsets.data(), view.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  std::vector<Vertex> targets(offsets.back() - offsets.front());
  if (!targets.empty())
    exec::copy(stream, targets.data(), view.targets + offsets.front(),
               targets.size() * sizeof(Vertex));
  stream.synchronize();
  const auto all_offsets = team.all_gather_v(std::span<const EdgeOffset>(offsets));
  const auto all_targets = team.all_gather_v(std::span<const Vertex>(targets));
  Graph graph;
  if (!team.reports()) return graph;
  graph.vertices = static_cast<Vertex>(shard.vertices);
  graph.symmetry = shard.is_symmetric ? Symmetry::symmetric : Symmetry::unknown;
  graph.offsets = memory::HostArray<EdgeOffset>(shard.vertices + 1);
  graph.targets = memory::HostArray<Vertex>(shard.edges);
  graph.offsets[0] = 0;
  std::uint64_t row = 0;
  std::uint64_t edge = 0;
  for (std::size_t q = 0; q < all_offsets.size(); ++q) {
    for (std::size_t i = 1; i < all_offsets[q].size(); ++i)
      graph.offsets[++row] = all_offsets[q][i];
    for (const Vertex v : all_targets[q]) graph.targets[edge++] = v;
  }
  return graph;
}

}  // namespace warren::graph
