// SPDX-License-Identifier: Apache-2.0
// The kernel of CoLa's column-wise product, for both backends.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::sparse::detail {

/// C[row(e)] += alpha row_scale value(e) B[rows[i]] for the entries e of column i.
struct OnceJob {
  const EdgeOffset* offsets = nullptr;  ///< By column.
  const Vertex* row_ids = nullptr;
  const float* values = nullptr;
  const float* row_scale = nullptr;
  const Vertex* rows = nullptr;  ///< Of B, by column.
  std::uint64_t columns = 0;
  RowTable<float> b;
  float* c = nullptr;
  std::uint64_t k = 0;
  float alpha = 1.0f;
  std::uint64_t* rows_moved = nullptr;
};

/// Column `index`: each lane reads its part of the remote row once, into a register.
struct OnceKernel {
  OnceJob job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const std::uint64_t row = job.rows[index];
    const float* source = job.b.origin[job.b.part(row)] + row * job.b.stride;
    worker.for_each(job.k, [&](std::uint64_t j) {
      const float value = job.alpha * source[j];
      for (EdgeOffset e = job.offsets[index]; e < job.offsets[index + 1]; ++e) {
        const std::uint64_t target = job.row_ids[e];
        const float weight = job.values == nullptr ? 1.0f : job.values[e];
        const float scale = job.row_scale == nullptr ? 1.0f : job.row_scale[target];
        exec::atomic_add(job.c[target * job.k + j], value * weight * scale);
      }
    });
    if (worker.lane() == 0) exec::atomic_add(*job.rows_moved, std::uint64_t{1});
  }
};

template <class Backend>
void run_once(const exec::Stream& stream, const OnceJob& job) {
  if (job.k > 16) {
    exec::launch<Backend, exec::Warp>(stream, job.columns, OnceKernel{job});
  } else {
    exec::launch<Backend, exec::Tile<8>>(stream, job.columns, OnceKernel{job});
  }
}

#if WARREN_HAS_CUDA
extern template void run_once<exec::Cuda>(const exec::Stream&, const OnceJob&);
#endif

}  // namespace warren::sparse::detail
