// SPDX-License-Identifier: Apache-2.0
// The kernels of link prediction, for both backends.
#pragma once

#include <cmath>

#include "warren/exec/launch.hpp"
#include "warren/memory/global_array.hpp"

#include "learn/batch/link_batch.hpp"

namespace warren::learn::detail {

template <class W>
WARREN_HD float dot(const W& worker, std::uint64_t k, const float* a, const float* b) {
  float sum = 0.0f;
  worker.for_each(k, [&](std::uint64_t c) { sum += a[c] * b[c]; });
  return worker.reduce(sum, exec::Plus{});
}

/// A worker a pair: x = z_u . z_v; its binary cross-entropy, and that one's derivative by x.
struct LinkLossKernel {
  LinkPairs links;
  std::uint64_t k;
  const float* z;
  float factor;        ///< Of gradients: one over the team's pairs,
  const float* scale;  ///< times this (nullptr: 1).
  float* losses;       ///< pairs.
  float* slopes;       ///< pairs.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t pair) const {
    const float x = dot(worker, k, z + links.first[pair] * k, z + links.second[pair] * k);
    if (worker.lane() != 0) return;
    const bool is_true = pair % links.group == 0;
    const float power = std::exp(-std::abs(x));
    const float sigmoid = (x > 0.0f ? 1.0f : power) / (1.0f + power);
    losses[pair] = (x > 0.0f ? x : 0.0f) - (is_true ? x : 0.0f) + std::log1p(power);
    slopes[pair] =
        (sigmoid - (is_true ? 1.0f : 0.0f)) * factor * (scale != nullptr ? *scale : 1.0f);
  }
};

/// A worker a row: the gradient is the sum, in the pairs' order, of slope times the other end's
/// row.
struct LinkGradientKernel {
  LinkPairs links;
  std::uint64_t k;
  const float* z;
  const float* slopes;
  float* gradient;  ///< seeds x k.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint32_t begin = links.offsets[row], end = links.offsets[row + 1];
    worker.for_each(k, [&](std::uint64_t c) {
      float sum = 0.0f;
      for (std::uint32_t e = begin; e < end; ++e) {
        const std::uint32_t pair = links.entries[e] / 2;
        const bool is_second = links.entries[e] % 2 == 1;
        const std::uint64_t other = is_second ? links.first[pair] : links.second[pair];
        sum += slopes[pair] * z[other * k + c];
      }
      gradient[row * k + c] = sum;
    });
  }
};

/// Adds losses up to what is there, a thread a chunk, in the pairs' order.
struct LinkSumsKernel {
  static constexpr std::uint64_t kChunk = 512;
  std::uint64_t pairs;
  const float* losses;
  double* partial;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    if (worker.lane() != 0) return;
    const std::uint64_t end = (chunk + 1) * kChunk < pairs ? (chunk + 1) * kChunk : pairs;
    double sum = partial[chunk];
    for (std::uint64_t p = chunk * kChunk; p < end; ++p) sum += static_cast<double>(losses[p]);
    partial[chunk] = sum;
  }
};

/// A worker a logit: of a source with each of its `group` targets, rows of any rank.
struct LinkLogitsKernel {
  memory::GlobalView<float> z;
  std::uint64_t group;
  const Vertex* sources;
  const Vertex* targets;  ///< sources x group.
  float* logits;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const float x = dot(worker, z.width, z.row(sources[i / group]), z.row(targets[i]));
    if (worker.lane() == 0) logits[i] = x;
  }
};

template <class Backend, class Kernel>
void run_links(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::launch_wide<Backend, exec::Warp>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                           const LinkLossKernel&);
extern template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                           const LinkGradientKernel&);
extern template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                           const LinkSumsKernel&);
extern template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                           const LinkLogitsKernel&);
#endif

}  // namespace warren::learn::detail
