// SPDX-License-Identifier: Apache-2.0
// What a graph store must know of its rows: the largest degree, and whether the weights will do.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sample/graph_store.hpp"

namespace warren::sample::detail {

struct RowFacts {
  std::uint64_t max_degree = 0;
  std::uint64_t bad_weights = 0;  ///< Negative, infinite or no number.
  std::uint64_t zero_weights = 0;
};

inline constexpr std::uint64_t kRowsPerTask = 256;

struct InspectRows {
  StoreView store;
  int rank;
  bool has_weights;
  RowFacts* facts;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t task) const {
    const std::uint64_t rows = store.cuts[rank + 1] - store.cuts[rank];
    const std::uint64_t first = task * kRowsPerTask;
    const std::uint64_t end = first + kRowsPerTask < rows ? first + kRowsPerTask : rows;
    RowFacts mine;
    for (std::uint64_t row = first; row < end; ++row) {
      const EdgeOffset begin = store.offsets[rank][row];
      const EdgeOffset degree = store.offsets[rank][row + 1] - begin;
      if (degree > mine.max_degree) mine.max_degree = degree;
      if (has_weights) look_at_weights(begin, degree, mine);
    }
    exec::atomic_max(facts->max_degree, mine.max_degree);
    if (mine.bad_weights != 0) exec::atomic_add(facts->bad_weights, mine.bad_weights);
    if (mine.zero_weights != 0) exec::atomic_add(facts->zero_weights, mine.zero_weights);
  }

 private:
  WARREN_HD void look_at_weights(EdgeOffset begin, EdgeOffset degree, RowFacts& mine) const {
    constexpr double kLargest = 3.5e38;
    for (EdgeOffset e = begin; e < begin + degree; ++e) {
      const double weight = store.weight(rank, e);
      if (!(weight >= 0.0 && weight < kLargest)) ++mine.bad_weights;
      if (weight == 0.0) ++mine.zero_weights;
    }
  }
};

/// Sums in the order of the edges, one row after the other: the same bits on every device.
struct AccumulateWeights {
  StoreView store;
  int rank;
  double* sums;  ///< Indexed by the offsets' values.

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t row) const {
    double sum = 0.0;
    for (EdgeOffset e = store.offsets[rank][row]; e < store.offsets[rank][row + 1]; ++e) {
      sum += store.weight(rank, e);
      sums[e] = sum;
    }
  }
};

template <class Backend>
void inspect_rows(const exec::Stream& stream, const InspectRows& kernel, std::uint64_t rows) {
  exec::launch<Backend, exec::Thread>(stream, (rows + kRowsPerTask - 1) / kRowsPerTask, kernel);
}
template <class Backend>
void accumulate_weights(const exec::Stream& stream, const AccumulateWeights& kernel,
                        std::uint64_t rows) {
  exec::launch<Backend, exec::Thread>(stream, rows, kernel);
}

#if WARREN_HAS_CUDA
extern template void inspect_rows<exec::Cuda>(const exec::Stream&, const InspectRows&,
                                              std::uint64_t);
extern template void accumulate_weights<exec::Cuda>(const exec::Stream&, const AccumulateWeights&,
                                                    std::uint64_t);
#endif

}  // namespace warren::sample::detail
