// SPDX-License-Identifier: Apache-2.0
// Interaction of features: the products of all pairs of a sample's rows (DLRM, section 2).
#pragma once

#include <cstdint>

#include "warren/exec/stream.hpp"

namespace warren::sparse {

/// Pairs of `features` rows, each once.
[[nodiscard]] constexpr std::uint64_t pairs_of(std::uint64_t features) {
  return features == 0 ? 0 : features * (features - 1) / 2;
}
/// The most features of a sample.
inline constexpr std::uint64_t kMostFeatures = 4096;

/// out[b][i (i - 1) / 2 + j] = <x[b * features + i], x[b * features + j]> for samples b and
/// j < i < features: the lower triangle of each sample's products, row by row. x (samples x
/// features rows of k, without gaps, such as bags' sums) and out (samples x pairs_of(features)
/// floats) are on the stream's device. For T = float, Half, BFloat16; sums are float32.
/// Asynchronous; repeats bit for bit. Throws UsageError for k = 0 or more than kMostFeatures
/// features, DeviceError when the launch fails.
template <class T>
void interact(const exec::Stream& stream, const T* x, std::uint64_t samples, std::uint64_t features,
              std::uint64_t k, float* out);

}  // namespace warren::sparse
