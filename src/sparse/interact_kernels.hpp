// SPDX-License-Identifier: Apache-2.0
// The products of all pairs of a sample's rows, for both backends.
#pragma once

#include <algorithm>

#include "warren/exec/half.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/interact.hpp"

namespace warren::sparse::detail {

/// Task: a sample. Its rows are brought into shared memory, some columns at a time; then each lane
/// makes products of pairs. A place is left between the rows, so that the lanes of a warp, which
/// are at the same column of neighbouring rows, read different banks.
template <class T>
struct Interact {
  const T* x = nullptr;
  std::uint32_t features = 0;
  std::uint64_t k = 0;
  std::uint32_t columns = 0;  ///< At a time.
  float* out = nullptr;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t sample) const {
    auto* const rows = worker.template scratch<float>();
    const T* const from = x + sample * features * k;
    const std::uint32_t stride = columns + 1;
    const std::uint32_t pairs = features * (features - 1) / 2;
    float* const to = out + sample * pairs;
    for (std::uint64_t first = 0; first < k; first += columns) {
      const auto here = static_cast<std::uint32_t>(k - first < columns ? k - first : columns);
      worker.for_each(std::uint64_t{features} * here, [&](std::uint64_t at) {
        const auto row = static_cast<std::uint32_t>(at / here);
        const auto column = static_cast<std::uint32_t>(at % here);
        rows[row * stride + column] = to_float(from[row * k + first + column]);
      });
      worker.sync();
      // The pair of place p is found from the one before: lanes walk on by their number.
      std::uint32_t i = 1;
      std::uint32_t begin = 0;  // Place of the pair (i, 0).
      for (std::uint32_t p = worker.lane(); p < pairs; p += worker.size()) {
        while (p - begin >= i) begin += i++;
        const float* const left = rows + i * stride;
        const float* const right = rows + (p - begin) * stride;
        float sum = first == 0 ? 0.0f : to[p];
        for (std::uint32_t c = 0; c < here; ++c) sum += left[c] * right[c];
        to[p] = sum;
      }
      worker.sync();
    }
  }
};

template <class Backend, class T>
void run_interact(const exec::Stream& stream, std::uint64_t samples, const Interact<T>& kernel) {
  exec::LaunchOptions options;
  options.scratch_bytes =
      kernel.features * (kernel.columns + 1) * static_cast<std::uint32_t>(sizeof(float));
  exec::launch<Backend, exec::Block>(stream, samples, kernel, options);
}

#if WARREN_HAS_CUDA
extern template void run_interact<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                              const Interact<float>&);
extern template void run_interact<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                              const Interact<Half>&);
extern template void run_interact<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                              const Interact<BFloat16>&);
#endif

}  // namespace warren::sparse::detail
