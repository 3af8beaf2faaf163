// SPDX-License-Identifier: Apache-2.0
// The largest elements of bags of rows, for both backends: a group of lanes has a bag, each lane
// columns of it, and reads four rows ahead of comparing them.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/half.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/bag_max.hpp"

namespace warren::sparse::detail {

/// Tasks: bags.
template <class T>
struct BagMaxima {
  memory::GlobalView<T> table;
  BagBatch batch;
  T* out;
  std::uint64_t* rows_moved;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t bag) const {
    constexpr std::uint32_t kAhead = 4;
    const EdgeOffset begin = batch.offsets[bag];
    const EdgeOffset end = batch.offsets[bag + 1];
    const std::uint64_t k = table.width;
    worker.for_each(k, [&](std::uint64_t c) {
      T best = begin == end ? from_float<T>(0.0f) : table.at(batch.indices[begin], c);
      for (EdgeOffset e = begin; e < end; e += kAhead) {
        T element[kAhead];
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kAhead; ++u)
          element[u] = e + u < end ? table.at(batch.indices[e + u], c) : best;
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kAhead; ++u)
          if (to_float(element[u]) > to_float(best)) best = element[u];
      }
      out[bag * k + c] = best;
    });
    if (rows_moved == nullptr || table.ranks == 1 || table.is_replicated) return;
    std::uint32_t moved = 0;
    worker.for_each(end - begin, [&](std::uint64_t i) {
      moved += table.owner(batch.indices[begin + i]) == table.rank ? 0 : 1;
    });
    moved = worker.reduce(moved, exec::Plus{});
    if (worker.lane() == 0 && moved != 0) exec::atomic_add(*rows_moved, std::uint64_t{moved});
  }
};

template <class Backend, class T>
void launch_bag_max(const exec::Stream& stream, const BagMaxima<T>& kernel) {
  exec::launch<Backend, exec::Warp>(stream, kernel.batch.bags, kernel);
}

#if WARREN_HAS_CUDA
extern template void launch_bag_max<exec::Cuda>(const exec::Stream&, const BagMaxima<float>&);
extern template void launch_bag_max<exec::Cuda>(const exec::Stream&, const BagMaxima<Half>&);
extern template void launch_bag_max<exec::Cuda>(const exec::Stream&, const BagMaxima<BFloat16>&);
#endif

}  // namespace warren::sparse::detail
