// SPDX-License-Identifier: Apache-2.0
// The kernels of CoLa's column-wise product, for both backends.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/spmm.hpp"

#if defined(__CUDACC__)
#include "sparse/once_tiles.hpp"
#endif
#include "sparse/once_job.hpp"

namespace warren::sparse::detail {

/// Column `index` on the CPU: the remote row is read element by element, each once, and added to
/// the rows of C that its entries name.
struct OnceOnCpu {
  OnceJob job;

  template <class W>
  void operator()(const W&, std::uint64_t index) const {
    const std::uint64_t row = job.rows[index];
    const float* source = job.b.origin[job.b.part(row)] + row * job.b.stride;
    for (std::uint64_t j = 0; j < job.k; ++j) {
      const float value = job.alpha * source[j];
      for (EdgeOffset e = job.offsets[index]; e < job.offsets[index + 1]; ++e)
        exec::atomic_add(job.c[std::uint64_t{job.row_ids[e]} * job.c_stride + j],
                         value * job.factor(e));
    }
    if (job.rows_moved != nullptr) exec::atomic_add(*job.rows_moved, std::uint64_t{1});
  }
};

template <class Backend>
void run_once(const exec::Stream& stream, const OnceJob& job) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    exec::launch<exec::Cpu, exec::Serial>(stream, job.columns, OnceOnCpu{job});
  } else {
#if defined(__CUDACC__)
    launch_once_tiles(stream, job);
#endif
  }
}

#if WARREN_HAS_CUDA
extern template void run_once<exec::Cuda>(const exec::Stream&, const OnceJob&);
#endif

}  // namespace warren::sparse::detail
