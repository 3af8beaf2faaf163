// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/sddmm.hpp"

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "sparse/sddmm_kernels.hpp"

namespace warren::sparse {

template <class T>
void sddmm(const exec::Stream& stream, const MatrixView& a, const SpmmPlan& plan, const T* x,
           std::uint64_t x_stride, const T* y, std::uint64_t y_stride, std::uint64_t k,
           float* out) {
  require(k > 0, "sddmm: k is 0; X and Y need at least one column");
  require(
      x_stride >= k && y_stride >= k,
      fmt::format("sddmm: strides of {} and {} elements for {} columns", x_stride, y_stride, k));
  const detail::SddmmJob<T> job{a, x,   x_stride,         y,           y_stride,
                                k, out, plan.task_data(), plan.tasks()};
  exec::with_backend(stream.device(),
                     [&](auto backend) { detail::run_sddmm<decltype(backend), T>(stream, job); });
}

template void sddmm(const exec::Stream&, const MatrixView&, const SpmmPlan&, const float*,
                    std::uint64_t, const float*, std::uint64_t, std::uint64_t, float*);
template void sddmm(const exec::Stream&, const MatrixView&, const SpmmPlan&, const Half*,
                    std::uint64_t, const Half*, std::uint64_t, std::uint64_t, float*);
template void sddmm(const exec::Stream&, const MatrixView&, const SpmmPlan&, const BFloat16*,
                    std::uint64_t, const BFloat16*, std::uint64_t, std::uint64_t, float*);

}  // namespace warren::sparse
