// SPDX-License-Identifier: Apache-2.0
// The CPU's side of the device algorithms, and the choice between the two.
#include "warren/exec/algorithms.hpp"

#include <algorithm>

#include "exec/cuda/algorithms.hpp"

namespace warren::exec {

std::uint64_t* sort_keys(const Stream& stream, std::uint64_t* keys,
                         [[maybe_unused]] std::uint64_t* spare, std::uint64_t count, int bits) {
  if (count == 0) return keys;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::sort_keys(stream, keys, spare, count, bits);
#endif
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  stream.synchronize();
  std::sort(keys, keys + count,
            [mask](std::uint64_t a, std::uint64_t b) { return (a & mask) < (b & mask); });
  return keys;
}

std::uint64_t unique_keys(const Stream& stream, const std::uint64_t* keys, std::uint64_t* unique,
                          std::uint64_t count) {
  if (count == 0) return 0;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::unique_keys(stream, keys, unique, count);
#endif
  stream.synchronize();
  return static_cast<std::uint64_t>(std::unique_copy(keys, keys + count, unique) - unique);
}

void exclusive_sum(const Stream& stream, const std::uint32_t* values, std::uint64_t* sums,
                   std::uint64_t count) {
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::exclusive_sum(stream, values, sums, count);
#endif
  stream.synchronize();
  sums[0] = 0;
  for (std::uint64_t i = 0; i < count; ++i) sums[i + 1] = sums[i] + values[i];
}

}  // namespace warren::exec
