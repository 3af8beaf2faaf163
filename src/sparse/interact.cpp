// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/interact.hpp"

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "sparse/interact_kernels.hpp"

namespace warren::sparse {

template <class T>
void interact(const exec::Stream& stream, const T* x, std::uint64_t samples, std::uint64_t features,
              std::uint64_t k, float* out) {
  require(k > 0, "interact: k is 0; rows need at least one column");
  require(features <= kMostFeatures,
          fmt::format("interact: {} features; {} can be", features, kMostFeatures));
  if (features < 2) return;
  constexpr std::uint64_t kSharedFloats = 48 * 1024 / sizeof(float);
  detail::Interact<T> kernel;
  kernel.x = x;
  kernel.features = static_cast<std::uint32_t>(features);
  kernel.k = k;
  kernel.columns = static_cast<std::uint32_t>(std::min(k, kSharedFloats / features - 1));
  kernel.out = out;
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_interact<decltype(backend)>(stream, samples, kernel);
  });
}

template void interact(const exec::Stream&, const float*, std::uint64_t, std::uint64_t,
                       std::uint64_t, float*);
template void interact(const exec::Stream&, const Half*, std::uint64_t, std::uint64_t,
                       std::uint64_t, float*);
template void interact(const exec::Stream&, const BFloat16*, std::uint64_t, std::uint64_t,
                       std::uint64_t, float*);

}  // namespace warren::sparse
