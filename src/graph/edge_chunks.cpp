// SPDX-License-Identifier: Apache-2.0
#include "warren/graph/edge_chunks.hpp"

#include "graph/edge_chunks_kernels.hpp"

namespace warren::graph {

EdgeChunks make_edge_chunks(const exec::Stream& stream, const CsrView& csr,
                            memory::Buffer<Vertex>& rows) {
  EdgeChunks chunks;
  if (csr.count == 0) return chunks;
  exec::copy(stream, &chunks.first, csr.offsets, sizeof chunks.first);
  exec::copy(stream, &chunks.last, csr.offsets + csr.count, sizeof chunks.last);
  stream.synchronize();
  chunks.count = (chunks.last - chunks.first + EdgeChunks::kEdges - 1) / EdgeChunks::kEdges;
  if (chunks.count == 0) return chunks;
  rows = memory::Buffer<Vertex>(stream.device(), chunks.count + 1);
  exec::with_backend(stream.device(), [&](auto backend) {
    EdgeChunksRun<decltype(backend)>::find_rows(stream, {csr, chunks, rows.data()});
  });
  stream.synchronize();
  chunks.row_of = rows.data();
  return chunks;
}

}  // namespace warren::graph
