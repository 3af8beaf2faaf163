// SPDX-License-Identifier: Apache-2.0
// Where the rows of a cached array are, for both backends.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/memory/cached_array.hpp"

namespace warren::memory::detail {

/// Replaces row numbers by those of the table of cached rows with all rows behind them, and counts
/// the hits. Tasks: chunks of kChunk rows.
struct FindCached {
  static constexpr std::uint64_t kChunk = 1024;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  GatherJob job;
  std::uint64_t* translated;
  CacheUse* use;
  const std::uint32_t* slots;
  std::uint64_t rows;
  std::uint64_t cached;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t count =
        job.count_at != nullptr && *job.count_at < job.count ? *job.count_at : job.count;
    const std::uint64_t first = task * kChunk;
    if (first >= count) return;
    const std::uint64_t size = count - first < kChunk ? count - first : kChunk;
    std::uint32_t hits = 0;
    worker.for_each(size, [&](std::uint64_t i) {
      const std::uint64_t row =
          job.vertices != nullptr ? job.vertices[first + i] : job.indices[first + i];
      std::uint64_t found = kNone;
      if (row < rows) {
        const std::uint32_t slot = slots[row];
        found = slot == kNoVertex ? cached + row : slot;
        hits += slot == kNoVertex ? 0 : 1;
      }
      translated[first + i] = found;
    });
    hits = worker.reduce(hits, exec::Plus{});
    if (worker.lane() != 0) return;
    exec::atomic_add(use->hits, std::uint64_t{hits});
    exec::atomic_add(use->rows, size);
  }
};

template <class Backend>
void find_cached(const exec::Stream& stream, const FindCached& kernel) {
  exec::launch<Backend, exec::Block>(
      stream, (kernel.job.count + FindCached::kChunk - 1) / FindCached::kChunk, kernel);
}

#if WARREN_HAS_CUDA
extern template void find_cached<exec::Cuda>(const exec::Stream&, const FindCached&);
#endif

}  // namespace warren::memory::detail
