// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/graph/edge_chunks.hpp"

namespace warren::graph {

/// The row of each chunk's first edge, and of the last edge of all.
struct FindChunkRows {
  CsrView csr;
  EdgeChunks chunks;
  Vertex* row_of;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t c) const {
    const EdgeOffset edge =
        c < chunks.count ? chunks.first + c * EdgeChunks::kEdges : chunks.last - 1;
    // The last row that begins at or before the edge; rows without edges before it begin there too.
    std::uint64_t low = 0;
    std::uint64_t high = csr.count;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (csr.offsets[middle] <= edge) {
        low = middle;
      } else {
        high = middle;
      }
    }
    row_of[c] = static_cast<Vertex>(low);
  }
};

template <class Backend>
struct EdgeChunksRun {
  static void find_rows(const exec::Stream& stream, const FindChunkRows& functor);
};

template <class Backend>
void EdgeChunksRun<Backend>::find_rows(const exec::Stream& stream, const FindChunkRows& functor) {
  exec::launch<Backend, exec::Thread>(stream, functor.chunks.count + 1, functor);
}

#if WARREN_HAS_CUDA
extern template struct EdgeChunksRun<exec::Cuda>;
#endif

}  // namespace warren::graph
