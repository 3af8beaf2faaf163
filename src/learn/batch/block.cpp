// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/block.hpp"

#include <algorithm>
#include <bit>

#include "warren/core/error.hpp"
#include "warren/exec/algorithms.hpp"
#include "warren/exec/memory.hpp"

#include "learn/batch/block_kernels.hpp"
#include "learn/rows/room.hpp"

namespace warren::learn {
namespace {

template <class W, class Kernel>
void run_tasks(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_block<decltype(backend), W>(stream, tasks, kernel);
  });
}

/// Rows of a task, so that it has some dozens of entries.
std::uint32_t rows_each(std::uint64_t rows, std::uint64_t entries) {
  constexpr std::uint64_t kEntries = 96;
  const std::uint64_t cost = rows == 0 ? 1 : entries / rows + 1;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kEntries / cost, 1, kEntries));
}

}  // namespace

void Block::make(const exec::Stream& stream, const sample::StoreView& store, const Vertex* vertices,
                 const Vertex* input_ids, const sample::SampledHop& hop, const BlockSize& size,
                 const BlockOptions& options, const BlockSize& least) {
  const BlockSize padded{std::max(size.targets, least.targets),
                         std::max(size.sources, least.sources), std::max(size.edges, least.edges)};
  // Also where nothing is added: what points at the block's own arrays does so in every batch.
  const bool is_padded = least.targets != 0;
  require(padded.targets <= padded.sources, "a block's targets are the first of its sources");
  require(!is_padded || size.targets != 0, "a block of nothing is not padded");
  require(!options.edge_weights || hop.weights != nullptr || size.edges == 0,
          "a block with weights of edges needs those of the sampled ones");
  sampled_ = size;
  size_ = padded;
  out_ = in_ = {};
  weights_ = {};
  out_.view.rows = padded.targets;
  out_.view.offsets = hop.row_offsets;
  out_.view.column_ids = hop.columns;
  if (options.edge_weights) out_.view.values = hop.weights;
  out_.columns = padded.sources;
  out_.entries = padded.edges;
  out_.input_ids = in_.input_ids = input_ids;
  out_.plan = &out_plan_;
  in_.plan = &in_plan_;
  in_.columns = padded.targets;
  if (options.has_weights) {
    const bool is_symmetric = options.weighting == Weighting::symmetric;
    keep_more(stream.device(), row_, padded.targets);
    if (is_symmetric) {
      keep_more(stream.device(), column_, padded.sources);
      keep_more(stream.device(), self_, padded.targets);
    }
    run_tasks<exec::Thread>(
        stream, is_symmetric ? padded.sources : padded.targets,
        detail::BlockWeightsKernel{store, vertices, hop.row_offsets, size, padded.targets,
                                   options.weighting, row_.data(), column_.data(), self_.data(),
                                   options.are_sources_scaled, is_symmetric && options.edge_weights,
                                   options.weighted_degrees});
    weights_.row = row_.data();
    if (is_symmetric) {
      weights_.column = column_.data();
      weights_.self = self_.data();
    }
  }
  if (options.self_loops) {
    add_loops(stream, hop, options.edge_weights);
  } else if (is_padded) {
    keep_more(stream.device(), offsets_, padded.targets + 1);
    run_tasks<exec::Thread>(
        stream, padded.targets + 1,
        detail::PadOffsetsKernel{size.targets, hop.row_offsets, offsets_.data()});
    keep_more(stream.device(), columns_, padded.edges);
    exec::copy(stream, columns_.data(), hop.columns, size.edges * sizeof(Vertex));
    out_.view.offsets = offsets_.data();
    out_.view.column_ids = columns_.data();
    if (options.edge_weights) {
      keep_more(stream.device(), values_, padded.edges);
      exec::copy(stream, values_.data(), hop.weights, size.edges * sizeof(float));
      out_.view.values = values_.data();
    }
  }
  out_plan_.assign(stream, out_.view.offsets, padded.targets,
                   rows_each(padded.targets, out_.entries));
  if (options.is_transposed) transpose(stream, hop.duplicates, options.self_loops);
}

void Block::add_loops(const exec::Stream& stream, const sample::SampledHop& hop, bool is_weighted) {
  out_.entries += size_.targets;
  keep_more(stream.device(), offsets_, size_.targets + 1);
  keep_more(stream.device(), columns_, out_.entries);
  run_tasks<exec::Tile<8>>(stream, size_.targets,
                           detail::AddLoopsKernel{sampled_.targets, size_.targets, hop.row_offsets,
                                                  hop.columns, offsets_.data(), columns_.data()});
  // A hop of no edges has no weights; its loops have.
  if (is_weighted) {
    keep_more(stream.device(), values_, out_.entries);
    run_tasks<exec::Tile<8>>(
        stream, size_.targets,
        detail::LoopWeightsKernel{sampled_.targets, hop.row_offsets, hop.weights, values_.data()});
    out_.view.values = values_.data();
  }
  out_.view.offsets = offsets_.data();
  out_.view.column_ids = columns_.data();
}

void Block::transpose(const exec::Stream& stream, const std::uint32_t* duplicates, bool has_loops) {
  const std::uint64_t sources = size_.sources;
  const std::uint64_t chunks = (sources + detail::kChunk - 1) / detail::kChunk;
  keep_more(stream.device(), in_offsets_, sources + 1);
  keep_more(stream.device(), chunk_sums_, chunks);
  const detail::SourceCounts counts{duplicates, sampled_.sources, has_loops ? size_.targets : 0};
  run_tasks<exec::Block>(stream, chunks,
                         detail::ChunkSumKernel{counts, sources, chunk_sums_.data()});
  run_tasks<exec::Block>(stream, chunks == 0 ? 0 : 1,
                         detail::ScanSumsKernel{chunks, chunk_sums_.data()});
  run_tasks<exec::Block>(
      stream, chunks,
      detail::OffsetsKernel{counts, sources, chunk_sums_.data(), in_offsets_.data()});
  sort_by_source(stream, sampled_.edges + (has_loops ? size_.targets : 0));
  in_.view.rows = sources;
  in_.view.offsets = in_offsets_.data();
  in_.view.column_ids = in_rows_.data();
  in_.entries = out_.entries;
  in_plan_.assign(stream, in_offsets_.data(), sources, rows_each(sources, in_.entries));
}

/// Entries stand by rows already, so that those of a source keep that order.
void Block::sort_by_source(const exec::Stream& stream, std::uint64_t entries) {
  const std::uint64_t room = out_.entries;
  const int bits = static_cast<int>(std::bit_width(size_.sources));
  keep_more(stream.device(), in_rows_, room);
  keep_more(stream.device(), entry_rows_, room);
  keep_more(stream.device(), sorted_sources_, room);
  keep_more(stream.device(), scratch_, exec::sort_pairs_scratch(stream, room, bits));
  run_tasks<exec::Tile<8>>(stream, size_.targets,
                           detail::EntryRowsKernel{out_.view.offsets, entry_rows_.data()});
  if (out_.view.values != nullptr) return sort_with_weights(stream, entries, bits);
  exec::sort_pairs(stream, out_.view.column_ids, sorted_sources_.data(), entry_rows_.data(),
                   in_rows_.data(), entries, bits, scratch_.data(), scratch_.size());
}

/// Sorts the entries' places, by which their rows and weights follow.
void Block::sort_with_weights(const exec::Stream& stream, std::uint64_t entries, int bits) {
  const std::uint64_t room = out_.entries;
  keep_more(stream.device(), entries_, room);
  keep_more(stream.device(), sorted_entries_, room);
  keep_more(stream.device(), in_values_, room);
  run_tasks<exec::Thread>(stream, entries, detail::EntryPlacesKernel{entries_.data()});
  exec::sort_pairs(stream, out_.view.column_ids, sorted_sources_.data(), entries_.data(),
                   sorted_entries_.data(), entries, bits, scratch_.data(), scratch_.size());
  run_tasks<exec::Thread>(
      stream, entries,
      detail::TransposedEntriesKernel{sorted_entries_.data(), entry_rows_.data(), out_.view.values,
                                      in_rows_.data(), in_values_.data()});
  in_.view.values = in_values_.data();
}

}  // namespace warren::learn
