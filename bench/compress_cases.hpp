// SPDX-License-Identifier: Apache-2.0
// What the benchmark of compressed neighbour lists runs on a device: every list is read, block by
// block as a frontier's entries name them, and the neighbours are added up.
#pragma once

#include <cstdint>

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/graph/compressed_decode.hpp"

namespace warren::bench {

/// A block of a row's list.
struct ListPiece {
  Vertex row;
  std::uint32_t block;
};

/// One lane brings a piece, all lanes read them together.
struct SumCompressed {
  graph::CompressedView view;
  const ListPiece* pieces;
  std::uint64_t count;
  std::uint64_t pieces_per_task;
  std::uint64_t* sum;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t mine = 0;
    for (std::uint64_t at = 0; at < pieces_per_task; at += worker.size()) {
      const std::uint64_t index = task * pieces_per_task + at + worker.lane();
      graph::CompressedBlock block;
      if (at + worker.lane() < pieces_per_task && index < count)
        block = view.block(view.row(pieces[index].row), pieces[index].block);
      graph::for_each_in_blocks(worker, view, block, block.count,
                                [&](bool active, std::uint32_t, std::uint32_t, Vertex target) {
                                  if (active) mine += target;
                                });
    }
    mine = worker.reduce(mine, exec::Plus{});
    if (worker.lane() == 0) exec::atomic_add(*sum, mine);
  }
};

/// The same from plain lists.
struct SumPlain {
  const EdgeOffset* offsets;
  const Vertex* targets;
  const ListPiece* pieces;
  std::uint64_t count;
  std::uint64_t pieces_per_task;
  std::uint64_t* sum;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t mine = 0;
    for (std::uint64_t at = 0; at < pieces_per_task; at += worker.size()) {
      const std::uint64_t index = task * pieces_per_task + at + worker.lane();
      EdgeOffset begin = 0;
      std::uint32_t length = 0;
      if (at + worker.lane() < pieces_per_task && index < count) {
        const ListPiece piece = pieces[index];
        begin = offsets[piece.row] + std::uint64_t{piece.block} * graph::kCompressedBlock;
        const EdgeOffset rest = offsets[std::uint64_t{piece.row} + 1] - begin;
        length = rest < graph::kCompressedBlock ? static_cast<std::uint32_t>(rest)
                                                : graph::kCompressedBlock;
      }
      worker.expand(length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
        const EdgeOffset edge = worker.broadcast(begin, owner) + k;
        if (active) mine += targets[edge];
      });
    }
    mine = worker.reduce(mine, exec::Plus{});
    if (worker.lane() == 0) exec::atomic_add(*sum, mine);
  }
};

/// Runs a kernel over all pieces with warps on a GPU, threads on the CPU.
template <class Backend, class Kernel>
void sum_lists(const exec::Stream& stream, const Kernel& kernel) {
  const std::uint64_t tasks = (kernel.count + kernel.pieces_per_task - 1) / kernel.pieces_per_task;
  exec::launch<Backend, exec::Warp>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void sum_lists<exec::Cuda>(const exec::Stream&, const SumCompressed&);
extern template void sum_lists<exec::Cuda>(const exec::Stream&, const SumPlain&);
#endif

}  // namespace warren::bench
