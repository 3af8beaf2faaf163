// SPDX-License-Identifier: Apache-2.0
// The GPU's side of the device algorithms.
#pragma once

#include <cstdint>
#include <span>

#include "warren/exec/algorithms.hpp"

namespace warren::exec::cuda {

std::uint64_t* sort_keys(const Stream& stream, std::uint64_t* keys, std::uint64_t* spare,
                         std::uint64_t count, int bits);
std::uint64_t sort_pairs_scratch(const Stream& stream, std::uint64_t count, int bits);
void sort_pairs(const Stream& stream, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                const std::uint32_t* values, std::uint32_t* sorted_values, std::uint64_t count,
                int bits, void* scratch, std::uint64_t scratch_bytes);
std::uint64_t unique_keys(const Stream& stream, const std::uint64_t* keys, std::uint64_t* unique,
                          std::uint64_t count);
void exclusive_sum(const Stream& stream, const std::uint32_t* values, std::uint64_t* sums,
                   std::uint64_t count);
void clear_words(const Stream& stream, std::span<const WordRange> ranges);

}  // namespace warren::exec::cuda
