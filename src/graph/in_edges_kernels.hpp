// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// The row of each edge.
struct FindEdgeRows {
  CsrView out;
  Vertex* row_of;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const EdgeOffset end = out.offsets[row + 1];
    for (EdgeOffset e = out.offsets[row] + worker.lane(); e < end; e += worker.size())
      row_of[e] = static_cast<Vertex>(row);
  }
};

/// The numbers of the edges.
struct NumberEdges {
  std::uint32_t* number;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t e) const {
    number[e] = static_cast<std::uint32_t>(e);
  }
};

/// Row v of the reverse begins with the first edge whose target is v or more.
struct FindInOffsets {
  const Vertex* sorted;
  std::uint64_t edges;
  EdgeOffset* offsets;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t v) const {
    std::uint64_t low = 0;
    std::uint64_t high = edges;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (sorted[middle] < v) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    offsets[v] = low;
  }
};

/// The rows and the weights of the edges, in another order.
struct TakeInOrder {
  const std::uint32_t* order;
  const Vertex* row_of;
  CsrView out;
  Vertex* targets;
  std::int32_t* weights_int;
  float* weights_float;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    const std::uint32_t e = order[i];
    targets[i] = row_of[e];
    if (weights_int != nullptr) weights_int[i] = out.weights_int[e];
    if (weights_float != nullptr) weights_float[i] = out.weights_float[e];
  }
};

template <class Backend>
struct InEdgesRun {
  static void find_rows(const exec::Stream& stream, const FindEdgeRows& functor);
  static void number(const exec::Stream& stream, const NumberEdges& functor, std::uint64_t edges);
  static void find_offsets(const exec::Stream& stream, const FindInOffsets& functor,
                           std::uint64_t vertices);
  static void reorder(const exec::Stream& stream, const TakeInOrder& functor, std::uint64_t edges);
};

template <class Backend>
void InEdgesRun<Backend>::find_rows(const exec::Stream& stream, const FindEdgeRows& functor) {
  exec::launch<Backend, exec::Warp>(stream, functor.out.count, functor);
}
template <class Backend>
void InEdgesRun<Backend>::number(const exec::Stream& stream, const NumberEdges& functor,
                                 std::uint64_t edges) {
  exec::launch<Backend, exec::Thread>(stream, edges, functor);
}
template <class Backend>
void InEdgesRun<Backend>::find_offsets(const exec::Stream& stream, const FindInOffsets& functor,
                                       std::uint64_t vertices) {
  exec::launch<Backend, exec::Thread>(stream, vertices + 1, functor);
}
template <class Backend>
void InEdgesRun<Backend>::reorder(const exec::Stream& stream, const TakeInOrder& functor,
                                  std::uint64_t edges) {
  exec::launch<Backend, exec::Thread>(stream, edges, functor);
}

#if WARREN_HAS_CUDA
extern template struct InEdgesRun<exec::Cuda>;
#endif

}  // namespace warren::graph
