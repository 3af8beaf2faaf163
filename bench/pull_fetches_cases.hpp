// SPDX-License-Identifier: Apache-2.0
// Sums of a few rows that lie anywhere in a table over all devices, by one worker each: what MGG's
// choice of a primitive (thread, warp or block) comes to.
#pragma once

#include <cstdint>

#include "warren/exec/launch.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::bench {

/// sums[p][j] = sum over i < each of table[rows[p * each + i]][j], of piece p.
struct SumPieces {
  memory::GlobalView<float> table;
  const std::uint64_t* rows;
  std::uint32_t each;
  float* sums;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t piece) const {
    worker.for_each(table.width, [&](std::uint64_t j) {
      float sum = 0.0f;
      for (std::uint32_t i = 0; i < each; ++i) sum += table.row(rows[piece * each + i])[j];
      sums[piece * table.width + j] = sum;
    });
  }
};

/// Whose lanes share a row.
enum class Fetch { thread, warp, block };

template <class Backend>
void sum_pieces(const exec::Stream& stream, std::uint64_t pieces, const SumPieces& kernel,
                Fetch fetch) {
  constexpr std::uint32_t kThreads = 64;  // Two warps, as in the paper.
  const exec::LaunchOptions options{.threads_per_block = kThreads};
  switch (fetch) {
    case Fetch::thread:
      return exec::launch<Backend, exec::Thread>(stream, pieces, kernel, options);
    case Fetch::warp:
      return exec::launch<Backend, exec::Warp>(stream, pieces, kernel, options);
    case Fetch::block:
      return exec::launch<Backend, exec::Block>(stream, pieces, kernel, options);
  }
}

#if WARREN_HAS_CUDA
extern template void sum_pieces<exec::Cuda>(const exec::Stream&, std::uint64_t, const SumPieces&,
                                            Fetch);
#endif

}  // namespace warren::bench
