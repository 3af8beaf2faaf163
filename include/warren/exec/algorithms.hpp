// SPDX-License-Identifier: Apache-2.0
// Sorting, scanning and compacting arrays on a device: CUB on GPUs, the standard library on the
// CPU. Clearing several arrays at once.
#pragma once

#include <cstdint>
#include <span>

#include "warren/exec/stream.hpp"

namespace warren::exec {

/// Sorts `count` keys by bits [0, bits) ascending. `keys` and `spare` hold count keys each on the
/// stream's device; returns whichever of the two holds the result. Takes scratch memory for the
/// time of the call. Synchronises. Deterministic.
[[nodiscard]] std::uint64_t* sort_keys(const Stream& stream, std::uint64_t* keys,
                                       std::uint64_t* spare, std::uint64_t count, int bits);

/// Bytes of scratch memory that sort_pairs needs for so many pairs and bits. Grows with them.
[[nodiscard]] std::uint64_t sort_pairs_scratch(const Stream& stream, std::uint64_t count, int bits);

/// Sorts `count` pairs by bits [0, bits) of their keys, ascending; pairs of equal keys stay in
/// their order. `keys` and `values` are left as they are. All arrays and `scratch` are on the
/// stream's device. Asynchronous on GPUs. Deterministic.
void sort_pairs(const Stream& stream, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                const std::uint32_t* values, std::uint32_t* sorted_values, std::uint64_t count,
                int bits, void* scratch, std::uint64_t scratch_bytes);

/// Copies the first of every run of equal keys from `keys` to `unique` and returns how many there
/// are. Synchronises.
[[nodiscard]] std::uint64_t unique_keys(const Stream& stream, const std::uint64_t* keys,
                                        std::uint64_t* unique, std::uint64_t count);

/// `count` words of a device's memory.
struct WordRange {
  void* first = nullptr;    ///< Aligned to 8 bytes.
  std::uint64_t count = 0;  ///< Of 8 bytes.
};
inline constexpr std::size_t kMostRanges = 32;
/// Sets all words of at most kMostRanges ranges to zero, in stream order; on the CPU at once. On a
/// GPU by one kernel: starting a call for each takes the host some three microseconds. Throws
/// UsageError for more ranges.
void clear_words(const Stream& stream, std::span<const WordRange> ranges);

/// sums[i] = values[0] + ... + values[i - 1] for i = 0 .. count: count + 1 results. Synchronises.
void exclusive_sum(const Stream& stream, const std::uint32_t* values, std::uint64_t* sums,
                   std::uint64_t count);

}  // namespace warren::exec
