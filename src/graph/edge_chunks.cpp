// SPDX-License-Identifier: Apache-2.0
#include "warren/graph/edge_chunks.hpp"

#include "graph/edge_chunks_kernels.hpp"

namespace warren::graph {

EdgeRange edge_range(const exec::Stream& stream, const CsrView& csr) {
  EdgeRange range;
  if (csr.count == 0) return range;
  exec::copy(stream, &range.first, csr.offsets, sizeof range.first);
  exec::copy(stream, &range.last, csr.offsets + csr.count, sizeof range.last);
  stream.synchronize();
  return range;
}

EdgeChunks make_edge_chunks(const exec::Stream& stream, const CsrView& csr,
                            memory::Buffer<Vertex>& rows) {
  EdgeChunks chunks;
  const EdgeRange range = edge_range(stream, csr);
  chunks.first = range.first;
  chunks.last = range.last;
  chunks.count = (range.count() + EdgeChunks::kEdges - 1) / EdgeChunks::kEdges;
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
