// SPDX-License-Identifier: Apache-2.0
// Counting vertices of batches, for both backends.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sample/hot_rows.hpp"

namespace warren::sample::detail {

/// Tasks: chunks of kChunk vertices of one batch.
struct CountUses {
  static constexpr std::uint64_t kChunk = 1024;
  const Vertex* vertices;
  const BatchCounts* counts;
  std::uint32_t hops;
  std::uint64_t rows;
  std::uint32_t* uses;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const std::uint64_t count = counts->status == 0 ? counts->vertices[hops] : 0;
    const std::uint64_t first = chunk * kChunk;
    if (first >= count) return;
    worker.for_each(count - first < kChunk ? count - first : kChunk, [&](std::uint64_t i) {
      const Vertex v = vertices[first + i];
      if (v < rows) exec::atomic_add(uses[v], 1u);
    });
  }
};

template <class Backend>
void count_uses(const exec::Stream& stream, const CountUses& kernel, std::uint64_t most) {
  exec::launch<Backend, exec::Block>(stream, (most + CountUses::kChunk - 1) / CountUses::kChunk,
                                     kernel);
}

#if WARREN_HAS_CUDA
extern template void count_uses<exec::Cuda>(const exec::Stream&, const CountUses&, std::uint64_t);
#endif

}  // namespace warren::sample::detail
