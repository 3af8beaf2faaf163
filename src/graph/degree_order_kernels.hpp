// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// Keys that ascend where degrees fall, and the vertices.
struct KeyDegrees {
  CsrView out;
  std::uint32_t* key;
  Vertex* vertex;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t v) const {
    constexpr EdgeOffset kMost = 0xffffffffu;
    const EdgeOffset degree = out.degree(static_cast<Vertex>(v));
    key[v] = static_cast<std::uint32_t>(kMost - (degree < kMost ? degree : kMost));
    vertex[v] = static_cast<Vertex>(v);
  }
};

/// new_id from old_id.
struct InvertOrder {
  const Vertex* old_id;
  Vertex* new_id;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    new_id[old_id[i]] = static_cast<Vertex>(i);
  }
};

/// The lengths of the rows in their new order.
struct RowLengths {
  CsrView view;
  const Vertex* old_id;
  std::uint32_t* length;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    length[i] = static_cast<std::uint32_t>(view.degree(old_id[i]));
  }
};

/// The rows in their new order, with new numbers.
struct MoveRows {
  CsrView view;
  const Vertex* old_id;
  const Vertex* new_id;
  const EdgeOffset* offsets;
  Vertex* targets;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const Vertex row = old_id[i];
    const Vertex* list = view.targets + view.begin(row);
    const EdgeOffset degree = view.degree(row);
    Vertex* to = targets + offsets[i];
    for (EdgeOffset e = worker.lane(); e < degree; e += worker.size()) to[e] = new_id[list[e]];
  }
};

struct TakeValues {
  const double* from;
  const Vertex* new_id;
  double* to;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t v) const {
    to[v] = from[new_id[v]];
  }
};

template <class Backend>
struct DegreeOrderRun {
  static void key(const exec::Stream& stream, const KeyDegrees& functor);
  static void invert(const exec::Stream& stream, const InvertOrder& functor, std::uint64_t count);
  static void measure(const exec::Stream& stream, const RowLengths& functor);
  static void move(const exec::Stream& stream, const MoveRows& functor);
  static void take(const exec::Stream& stream, const TakeValues& functor, std::uint64_t count);
};

template <class Backend>
void DegreeOrderRun<Backend>::key(const exec::Stream& stream, const KeyDegrees& functor) {
  exec::launch<Backend, exec::Thread>(stream, functor.out.count, functor);
}
template <class Backend>
void DegreeOrderRun<Backend>::invert(const exec::Stream& stream, const InvertOrder& functor,
                                     std::uint64_t count) {
  exec::launch<Backend, exec::Thread>(stream, count, functor);
}
template <class Backend>
void DegreeOrderRun<Backend>::measure(const exec::Stream& stream, const RowLengths& functor) {
  exec::launch<Backend, exec::Thread>(stream, functor.view.count, functor);
}
template <class Backend>
void DegreeOrderRun<Backend>::move(const exec::Stream& stream, const MoveRows& functor) {
  exec::launch<Backend, exec::Warp>(stream, functor.view.count, functor);
}
template <class Backend>
void DegreeOrderRun<Backend>::take(const exec::Stream& stream, const TakeValues& functor,
                                   std::uint64_t count) {
  exec::launch<Backend, exec::Thread>(stream, count, functor);
}

#if WARREN_HAS_CUDA
extern template struct DegreeOrderRun<exec::Cuda>;
#endif

}  // namespace warren::graph
