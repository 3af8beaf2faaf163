// SPDX-License-Identifier: Apache-2.0
// Copying many pieces by one kernel, for both backends.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/sample/pack.hpp"

namespace warren::sample::detail {

/// Tasks: kWords words of one piece each.
struct CopyPieces {
  static constexpr std::uint64_t kWords = 8192;
  const BatchPacker::Piece* pieces;
  std::uint64_t count;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    // The last piece that begins at the task or before.
    std::uint64_t low = 0, high = count;
    while (high - low > 1) {
      const std::uint64_t middle = (low + high) / 2;
      if (pieces[middle].first_task <= task)
        low = middle;
      else
        high = middle;
    }
    const BatchPacker::Piece piece = pieces[low];
    const std::uint64_t begin = (task - piece.first_task) * kWords;
    const std::uint64_t left = piece.words - begin;
    worker.for_each(left < kWords ? left : kWords,
                    [&](std::uint64_t i) { piece.to[begin + i] = piece.from[begin + i]; });
  }
};

template <class Backend>
void copy_pieces(const exec::Stream& stream, const CopyPieces& kernel, std::uint64_t tasks) {
  exec::launch<Backend, exec::Block>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void copy_pieces<exec::Cuda>(const exec::Stream&, const CopyPieces&, std::uint64_t);
#endif

}  // namespace warren::sample::detail
