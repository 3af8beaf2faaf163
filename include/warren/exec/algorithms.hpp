// SPDX-License-Identifier: Apache-2.0
// Sorting, scanning and compacting arrays on a device: CUB on GPUs, the standard library on the
// CPU.
#pragma once

#include <cstdint>

#include "warren/exec/stream.hpp"

namespace warren::exec {

/// Sorts `count` keys by bits [0, bits) ascending. `keys` and `spare` hold count keys each on the
/// stream's device; returns whichever of the two holds the result. Takes scratch memory for the
/// time of the call. Synchronises. Deterministic.
[[nodiscard]] std::uint64_t* sort_keys(const Stream& stream, std::uint64_t* keys,
                                       std::uint64_t* spare, std::uint64_t count, int bits);

/// Copies the first of every run of equal keys from `keys` to `unique` and returns how many there
/// are. Synchronises.
[[nodiscard]] std::uint64_t unique_keys(const Stream& stream, const std::uint64_t* keys,
                                        std::uint64_t* unique, std::uint64_t count);

/// sums[i] = values[0] + ... + values[i - 1] for i = 0 .. count: count + 1 results. Synchronises.
void exclusive_sum(const Stream& stream, const std::uint32_t* values, std::uint64_t* sums,
                   std::uint64_t count);

}  // namespace warren::exec
