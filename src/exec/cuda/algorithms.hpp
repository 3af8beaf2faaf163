// SPDX-License-Identifier: Apache-2.0
// The GPU's side of the device algorithms.
#pragma once

#include <cstdint>

#include "warren/exec/stream.hpp"

namespace warren::exec::cuda {

std::uint64_t* sort_keys(const Stream& stream, std::uint64_t* keys, std::uint64_t* spare,
                         std::uint64_t count, int bits);
std::uint64_t unique_keys(const Stream& stream, const std::uint64_t* keys, std::uint64_t* unique,
                          std::uint64_t count);
void exclusive_sum(const Stream& stream, const std::uint32_t* values, std::uint64_t* sums,
                   std::uint64_t count);

}  // namespace warren::exec::cuda
