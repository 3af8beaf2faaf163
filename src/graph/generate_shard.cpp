// SPDX-License-Identifier: Apache-2.0
// Graphs generated into shards: count the degrees, cut, then draw the rows chunk by chunk. A
// chunk's entries are drawn as keys, sorted, merged and appended to the columns, so that beside the
// graph itself only a chunk is ever held. Every chunk draws all edges again: a draw is arithmetic
// and costs less than moving it. Columns in host memory are written there by the kernel that
// appends them, so that the device only ever holds a chunk. A weight is a function of the two ends:
// it is computed from the key that its column is made of, and written beside it.
#include "warren/graph/generate_shard.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/algorithms.hpp"
#include "warren/graph/edge_chunks.hpp"
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

/// What is stored of an entry, and where.
struct StoredLists {
  memory::MemoryKind memory = memory::MemoryKind::device;
  std::optional<UniformWeights> weights{};
  bool are_weights_bytes = false;

  [[nodiscard]] std::uint64_t weight_bytes() const {
    if (!weights) return 0;
    return are_weights_bytes ? sizeof(std::uint8_t) : sizeof(std::int32_t);
  }
  [[nodiscard]] std::uint64_t entry_bytes() const { return sizeof(Vertex) + weight_bytes(); }
};

/// The error of `entries` for which there was no room, with what would help.
MemoryError no_room(const exec::Device& device, const StoredLists& lists, std::uint64_t entries,
                    std::uint64_t free) {
  const bool on_card = device.is_cuda() && lists.memory == memory::MemoryKind::device;
  std::string what =
      fmt::format("the lists of {} edges take {}", entries, human_bytes(entries * sizeof(Vertex)));
  if (lists.weights)
    what += fmt::format(", and their weights, {} each, {}",
                        lists.are_weights_bytes ? "a byte" : "4 bytes",
                        human_bytes(entries * lists.weight_bytes()));
  const bool may_be_bytes = lists.weights && lists.weights->fit_a_byte();
  std::string cure = on_card ? "place the edges on more GPUs" : "draw a smaller graph";
  if (on_card) {
    const std::uint64_t there = may_be_bytes ? sizeof(Vertex) + 1 : lists.entry_bytes();
    if (entries * there <= exec::Device::cpu(1).memory().free)
      cure = fmt::format("place the edges in host memory, where they take {}, or on more GPUs",
                         human_bytes(entries * there));
  } else if (lists.weights && !may_be_bytes && device.is_cuda() &&
             entries * (sizeof(Vertex) + 1) <= free) {
    cure += ", or weights of at most 255, which take a byte each in host memory";
  }
  return {on_card ? device.name() : "the host", entries * lists.entry_bytes(), free,
          what + "; " + cure};
}

class RowDrawer {
 public:
  RowDrawer(team::Team& team, const exec::Stream& stream, const DrawRule& rule,
            bool keep_duplicates, const StoredLists& lists)
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
    take_lists(starts.back() - starts.front(), storage);
    const std::uint64_t own = draw_chunks(view, bounds, starts, storage);

    const std::vector<std::uint64_t> all = team_.all_gather(own);
    std::uint64_t before = 0;
    for (std::size_t q = 0; q < rank; ++q) before += all[q];
    edges = 0;
    for (const std::uint64_t part : all) edges += part;
    launch(stream_, std::uint64_t{view.count} + 1, AddToOffsets{storage.offsets.data(), before});
    view.offsets = storage.offsets.data();
    view.targets = rebased(storage.targets.data(), before);
    if (lists_.weights && lists_.are_weights_bytes)
      view.weights_byte = rebased(storage.weights_byte.data(), before);
    else if (lists_.weights)
      view.weights_int = rebased(storage.weights_int.data(), before);
    stream_.synchronize();
    return view;
  }

 private:
  /// Room for what `entries` have to store.
  void take_lists(std::uint64_t entries, CsrStorage& storage) const {
    const exec::Device& device = stream_.device();
    const std::uint64_t padded = detail::padded(entries);
    try {
      storage.targets = Buffer<Vertex>(device, lists_.memory, padded);
      if (lists_.weights && lists_.are_weights_bytes)
        storage.weights_byte = Buffer<std::uint8_t>(device, lists_.memory, padded);
      else if (lists_.weights)
        storage.weights_int = Buffer<std::int32_t>(device, lists_.memory, padded);
    } catch (const MemoryError& error) {
      throw no_room(device, lists_, entries, error.bytes_free() + storage.targets.bytes());
    }
  }

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
    rule_.old_id = shard.old_id->data();
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
    if (lists_.memory == memory::MemoryKind::device) return (entries + kChunks - 1) / kChunks;
    const exec::Device& device = stream_.device();
    const std::uint64_t lists = device.is_cuda() ? 0 : entries * lists_.entry_bytes();
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
      const ChunkKeys chunk{sorted, size, shift, bounds[c], rule_.old_id};
      if (lists_.weights && lists_.are_weights_bytes)
        store_weights(chunk, storage.weights_byte.data() + kept);
      else if (lists_.weights)
        store_weights(chunk, storage.weights_int.data() + kept);
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

  template <class Weight>
  void store_weights(const ChunkKeys& chunk, Weight* to) const {
    const StoreWeights<Weight> kernel{chunk, *lists_.weights, to};
    launch(stream_, kernel.words(), kernel);
  }

  team::Team& team_;
  const exec::Stream& stream_;
  DrawRule rule_;
  bool keep_duplicates_;
  StoredLists lists_;
};

}  // namespace

Shard generate_shard(team::Team& team, const GeneratorSpec& spec, const BuildOptions& options,
                     bool with_in_edges, VertexOrder order, const EdgesOptions& edges,
                     const std::optional<UniformWeights>& weights) {
  const TraceSpan span("generate", team.rank());
  if (weights) check_uniform_weights(*weights);
  const BuildOptions effective = effective_options(spec, options);
  const exec::Stream stream(team.device());
  Shard shard;
  shard.vertices = spec.vertices;
  shard.is_symmetric = effective.symmetrize;
  shard.out_storage = std::make_shared<CsrStorage>();
  StoredLists lists;
  lists.weights = weights;
  if (edges.placement != EdgesPlacement::device) lists.memory = memory::MemoryKind::pinned;
  lists.are_weights_bytes =
      weights && weights->fit_a_byte() && edges.placement == EdgesPlacement::host;
  if (weights) shard.weight_type = WeightType::int32;
  shard.has_byte_weights = lists.are_weights_bytes;
  DrawRule rule{spec, effective.symmetrize, effective.drop_self_loops, false};
  shard.out = RowDrawer(team, stream, rule, effective.keep_duplicates, lists)
                  .draw(shard.cuts, *shard.out_storage, shard.edges,
                        order == VertexOrder::degree ? &shard : nullptr);
  if (effective.symmetrize) {
    shard.in = shard.out;
    shard.in_storage = shard.out_storage;
  } else if (with_in_edges) {
    rule.reversed = true;
    if (shard.new_id) {
      rule.new_id = shard.new_id->data();
      rule.old_id = shard.old_id->data();
    }
    shard.in_storage = std::make_shared<CsrStorage>();
    std::uint64_t reversed_edges = 0;
    shard.in = RowDrawer(team, stream, rule, effective.keep_duplicates, lists)
                   .draw(shard.cuts, *shard.in_storage, reversed_edges);
  }
  place_edges(team, shard, edges);
  return shard;
}

}  // namespace warren::graph
