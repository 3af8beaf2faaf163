// SPDX-License-Identifier: Apache-2.0
// The kernels that make a block's matrices, for both backends.
#pragma once

#include <cmath>

#include "warren/exec/launch.hpp"
#include "warren/learn/block.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/sample/flight.hpp"

namespace warren::learn::detail {

using sample::detail::kChunk;
using sample::detail::Stretch;

/// Weights of a vertex as a target and as a source, from its degrees.
struct BlockWeightsKernel {
  sample::StoreView store;
  const Vertex* vertices;
  const EdgeOffset* offsets;  ///< Of the targets that were sampled.
  BlockSize sampled;
  std::uint64_t targets;  ///< With padding, whose weights are 0.
  Weighting weighting;
  float* row;
  float* column;
  float* self;
  bool are_sources_scaled;
  bool has_weighted_degrees;
  memory::GlobalView<float> weighted_degrees;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    const bool is_symmetric = weighting == Weighting::symmetric;
    const bool has_degree = weighting != Weighting::mean && i < sampled.sources;
    const auto degree = has_degree ? static_cast<float>(store.list(vertices[i]).degree) : 0.0f;
    const float scale = is_symmetric ? root_of(i, degree) : 1.0f;
    if (is_symmetric) column[i] = i < sampled.sources ? scale : 0.0f;
    if (i >= targets) return;
    const bool is_sampled = i < sampled.targets;
    const float edges = is_sampled ? static_cast<float>(offsets[i + 1] - offsets[i]) : 0.0f;
    const float whole = weighting == Weighting::mean ? 1.0f : degree;
    row[i] = edges == 0.0f ? 0.0f : whole / edges * scale;
    if (is_symmetric) self[i] = is_sampled ? (are_sources_scaled ? scale : scale * scale) : 0.0f;
  }

 private:
  /// One over the root of a source's degree with its loop; 0 of one that has no root.
  [[nodiscard]] WARREN_HD float root_of(std::uint64_t i, float degree) const {
    if (!has_weighted_degrees) return 1.0f / std::sqrt(degree + 1.0f);
    const float all = i < sampled.sources ? weighted_degrees.at(vertices[i]) : 1.0f;
    return all > 0.0f ? 1.0f / std::sqrt(all) : 0.0f;
  }
};

/// Offsets of more rows than were sampled: those have no entries. A task for each offset.
struct PadOffsetsKernel {
  std::uint64_t sampled;  ///< Rows.
  const EdgeOffset* from;
  EdgeOffset* offsets;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    offsets[i] = from[i < sampled ? i : sampled];
  }
};

/// Rows with their own vertex before their entries, of which those behind the sampled rows have
/// none.
struct AddLoopsKernel {
  std::uint64_t sampled, targets;  ///< Rows, without and with padding.
  const EdgeOffset* from_offsets;
  const Vertex* from;
  EdgeOffset* offsets;
  Vertex* columns;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const EdgeOffset begin = from_offsets[row < sampled ? row : sampled];
    const EdgeOffset end = from_offsets[row < sampled ? row + 1 : sampled];
    const EdgeOffset to = begin + row;
    if (worker.lane() == 0) {
      offsets[row] = to;
      columns[to] = static_cast<Vertex>(row);
      if (row + 1 == targets) offsets[targets] = end + targets;
    }
    worker.for_each(end - begin, [&](std::uint64_t i) { columns[to + 1 + i] = from[begin + i]; });
  }
};

/// The weights of those rows' entries, the first of which has the mean of the others.
struct LoopWeightsKernel {
  std::uint64_t sampled;  ///< Rows.
  const EdgeOffset* from_offsets;
  const float* from;
  float* values;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const EdgeOffset begin = from_offsets[row < sampled ? row : sampled];
    const EdgeOffset end = from_offsets[row < sampled ? row + 1 : sampled];
    float* const to = values + begin + row;
    float sum = 0.0f;
    worker.for_each(end - begin, [&](std::uint64_t i) {
      to[1 + i] = from[begin + i];
      sum += from[begin + i];
    });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) to[0] = end == begin ? 0.0f : sum / static_cast<float>(end - begin);
  }
};

/// How many entries end at each source; their sums make the transpose's offsets.
struct SourceCounts {
  const std::uint32_t* duplicates;
  std::uint64_t sampled;  ///< Those behind have none.
  std::uint64_t loops;    ///< The first so many have one more.
  [[nodiscard]] WARREN_HD std::uint32_t operator()(std::uint64_t i) const {
    return (i < sampled ? duplicates[i] : 0u) + (i < loops ? 1u : 0u);
  }
};

struct ChunkSumKernel {
  SourceCounts counts;
  std::uint64_t sources;
  std::uint32_t* sums;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const Stretch<W> mine(worker, chunk, sources);
    std::uint32_t sum = 0;
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) sum += counts(i);
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) sums[chunk] = sum;
  }
};

/// sums[c] <- the sum of those before it. One task.
struct ScanSumsKernel {
  std::uint64_t chunks;
  std::uint32_t* sums;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t) const {
    std::uint32_t before = 0;
    for (std::uint64_t first = 0; first < chunks; first += worker.size()) {
      const std::uint64_t i = first + worker.lane();
      const std::uint32_t value = i < chunks ? sums[i] : 0;
      const std::uint32_t at = worker.exclusive_scan(value);
      if (i < chunks) sums[i] = before + at;
      before += worker.reduce(value, exec::Plus{});
    }
  }
};

struct OffsetsKernel {
  SourceCounts counts;
  std::uint64_t sources;
  const std::uint32_t* sums;
  EdgeOffset* offsets;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const Stretch<W> mine(worker, chunk, sources);
    std::uint32_t sum = 0;
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) sum += counts(i);
    EdgeOffset at = std::uint64_t{sums[chunk]} + worker.exclusive_scan(sum);
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
      offsets[i] = at;
      at += counts(i);
      if (i + 1 == sources) offsets[sources] = at;
    }
  }
};

/// rows[e] <- the row of entry e.
struct EntryRowsKernel {
  const EdgeOffset* offsets;
  Vertex* rows;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const EdgeOffset begin = offsets[row];
    worker.for_each(offsets[row + 1] - begin,
                    [&](std::uint64_t i) { rows[begin + i] = static_cast<Vertex>(row); });
  }
};

/// places[e] <- e.
struct EntryPlacesKernel {
  std::uint32_t* places;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t e) const {
    places[e] = static_cast<std::uint32_t>(e);
  }
};

/// Entry e of the transpose <- entry places[e] of the matrix.
struct TransposedEntriesKernel {
  const std::uint32_t* places;
  const Vertex* from_rows;
  const float* from_values;
  Vertex* rows;
  float* values;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t e) const {
    rows[e] = from_rows[places[e]];
    values[e] = from_values[places[e]];
  }
};

template <class Backend, class W, class Kernel>
void run_block(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::launch<Backend, W>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                         const BlockWeightsKernel&);
extern template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                         const PadOffsetsKernel&);
extern template void run_block<exec::Cuda, exec::Tile<8>>(const exec::Stream&, std::uint64_t,
                                                          const AddLoopsKernel&);
extern template void run_block<exec::Cuda, exec::Tile<8>>(const exec::Stream&, std::uint64_t,
                                                          const LoopWeightsKernel&);
extern template void run_block<exec::Cuda, exec::Block>(const exec::Stream&, std::uint64_t,
                                                        const ChunkSumKernel&);
extern template void run_block<exec::Cuda, exec::Block>(const exec::Stream&, std::uint64_t,
                                                        const ScanSumsKernel&);
extern template void run_block<exec::Cuda, exec::Block>(const exec::Stream&, std::uint64_t,
                                                        const OffsetsKernel&);
extern template void run_block<exec::Cuda, exec::Tile<8>>(const exec::Stream&, std::uint64_t,
                                                          const EntryRowsKernel&);
extern template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                         const EntryPlacesKernel&);
extern template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                         const TransposedEntriesKernel&);
#endif

}  // namespace warren::learn::detail
