// SPDX-License-Identifier: Apache-2.0
// The CPU's side of the device algorithms, and the choice between the two.
#include "warren/exec/algorithms.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/exec/launch.hpp"

#include "exec/cuda/algorithms.hpp"

namespace warren::exec {
namespace {

using detail::is_dry;  // What is sorted in a dry run is nobody's memory.

struct Pairs {
  std::uint32_t* keys;
  std::uint32_t* values;
};

constexpr int kDigitBits = 11;
// Elements of a loop, after which the call may be ended.
constexpr std::uint64_t kPieceElements = std::uint64_t{1} << 20;

/// One pass of a sort by digits, the least significant first.
void sort_digit(const std::uint32_t* keys, const std::uint32_t* values, const Pairs& to,
                std::uint64_t count, int shift, std::uint32_t mask) {
  std::array<std::uint64_t, std::size_t{1} << kDigitBits> place{};
  in_pieces(0, count, kPieceElements, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) ++place[(keys[i] >> shift) & mask];
  });
  std::uint64_t before = 0;
  for (std::uint64_t& entry : place) before += std::exchange(entry, before);
  in_pieces(0, count, kPieceElements, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t at = place[(keys[i] >> shift) & mask]++;
      to.keys[at] = keys[i];
      to.values[at] = values[i];
    }
  });
}

/// By their bits of `mask`: pieces side by side, then merged two by two. In `keys` or `spare`.
std::uint64_t* sort_masked(ThreadPool& pool, std::uint64_t* keys, std::uint64_t* spare,
                           std::uint64_t count, std::uint64_t mask) {
  const auto is_less = [mask](std::uint64_t a, std::uint64_t b) { return (a & mask) < (b & mask); };
  pool.parallel_for(0, count, kPieceElements, [&](std::uint64_t begin, std::uint64_t end) {
    std::sort(keys + begin, keys + end, is_less);
  });
  for (std::uint64_t sorted = kPieceElements; sorted < count; sorted *= 2) {
    pool.parallel_for(0, count, 2 * sorted, [&](std::uint64_t begin, std::uint64_t end) {
      const std::uint64_t middle = std::min(begin + sorted, end);
      std::merge(keys + begin, keys + middle, keys + middle, keys + end, spare + begin, is_less);
    });
    std::swap(keys, spare);
  }
  return keys;
}

}  // namespace

std::uint64_t* sort_keys(const Stream& stream, std::uint64_t* keys, std::uint64_t* spare,
                         std::uint64_t count, int bits) {
  if (count == 0) return keys;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::sort_keys(stream, keys, spare, count, bits);
#endif
  if (is_dry()) return keys;
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  stream.synchronize();
  return sort_masked(stream.device().pool(), keys, spare, count, mask);
}

std::uint64_t sort_pairs_scratch([[maybe_unused]] const Stream& stream, std::uint64_t count,
                                 [[maybe_unused]] int bits) {
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::sort_pairs_scratch(stream, count, bits);
#endif
  return 2 * count * sizeof(std::uint32_t);
}

void sort_pairs(const Stream& stream, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                const std::uint32_t* values, std::uint32_t* sorted_values, std::uint64_t count,
                int bits, void* scratch, [[maybe_unused]] std::uint64_t scratch_bytes) {
  if (count == 0) return;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda())
    return cuda::sort_pairs(stream, keys, sorted_keys, values, sorted_values, count, bits, scratch,
                            scratch_bytes);
#endif
  if (is_dry()) return;
  stream.synchronize();
  auto* spare = static_cast<std::uint32_t*>(scratch);
  const Pairs sorted{sorted_keys, sorted_values};
  const Pairs other{spare, spare + count};
  // The last pass ends in the result.
  const int passes = std::max(1, (bits + kDigitBits - 1) / kDigitBits);
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * kDigitBits;
    const auto mask = (std::uint32_t{1} << std::min(kDigitBits, bits - shift)) - 1;
    const Pairs& to = (passes - pass) % 2 == 1 ? sorted : other;
    sort_digit(keys, values, to, count, shift, mask);
    keys = to.keys;
    values = to.values;
  }
}

std::uint64_t unique_keys(const Stream& stream, const std::uint64_t* keys, std::uint64_t* unique,
                          std::uint64_t count) {
  if (count == 0) return 0;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::unique_keys(stream, keys, unique, count);
#endif
  if (is_dry()) return count;
  stream.synchronize();
  return static_cast<std::uint64_t>(std::unique_copy(keys, keys + count, unique) - unique);
}

void exclusive_sum(const Stream& stream, const std::uint32_t* values, std::uint64_t* sums,
                   std::uint64_t count) {
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::exclusive_sum(stream, values, sums, count);
#endif
  if (is_dry()) return;
  stream.synchronize();
  sums[0] = 0;
  in_pieces(0, count, kPieceElements, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) sums[i + 1] = sums[i] + values[i];
  });
}

void clear_words(const Stream& stream, std::span<const WordRange> ranges) {
  require(ranges.size() <= kMostRanges, std::to_string(ranges.size()) +
                                            " ranges to be cleared: at most " +
                                            std::to_string(kMostRanges));
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda()) return cuda::clear_words(stream, ranges);
#endif
  if (is_dry()) return;
  stream.synchronize();
  for (const WordRange& range : ranges) {
    auto* const words = static_cast<std::uint64_t*>(range.first);
    in_pieces(0, range.count, kPieceElements, [&](std::uint64_t begin, std::uint64_t end) {
      std::memset(words + begin, 0, (end - begin) * sizeof(std::uint64_t));
    });
  }
}

}  // namespace warren::exec
