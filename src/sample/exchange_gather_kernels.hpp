// SPDX-License-Identifier: Apache-2.0
// Putting row numbers in the order of their owners, for both backends: counted by chunk and owner,
// placed by the sums of the counts before.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::sample::detail {

/// The cuts of a table.
struct Owners {
  std::uint64_t cuts[kMaxRanks + 1] = {};
  int ranks = 1;
  [[nodiscard]] WARREN_HD int owner(std::uint64_t row) const {
    int q = 0;
    for (int p = 1; p < ranks; ++p) q += row >= cuts[p] ? 1 : 0;
    return q;
  }
};

/// Tasks: chunks. First the counts; with `starts`, the rows to their places.
struct BucketRows {
  static constexpr std::uint64_t kChunk = 1024;
  Owners owners;
  const std::uint64_t* indices;
  std::uint64_t count;
  std::uint64_t chunks;
  std::uint32_t* counts;        // Of owner q and chunk c at q * chunks + c.
  const std::uint64_t* starts;  // Sums of the counts before; nullptr: count.
  std::uint64_t* sent;          // Row numbers by owner, as the owner numbers them.
  std::uint64_t* places;        // Of index i: where it is among those.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const std::uint64_t each = (kChunk + worker.size() - 1) / worker.size();
    const std::uint64_t limit = (chunk + 1) * kChunk < count ? (chunk + 1) * kChunk : count;
    const std::uint64_t begin = chunk * kChunk + worker.lane() * each;
    const std::uint64_t end = begin + each < limit ? begin + each : limit;
    for (int q = 0; q < owners.ranks; ++q) {
      std::uint32_t mine = 0;
      for (std::uint64_t i = begin; i < end; ++i) mine += owners.owner(indices[i]) == q ? 1 : 0;
      const std::uint64_t at = static_cast<std::uint64_t>(q) * chunks + chunk;
      if (starts == nullptr) {
        const std::uint32_t sum = worker.reduce(mine, exec::Plus{});
        if (worker.lane() == 0) counts[at] = sum;
        continue;
      }
      std::uint64_t place = starts[at] + worker.exclusive_scan(mine);
      for (std::uint64_t i = begin; i < end; ++i) {
        if (owners.owner(indices[i]) != q) continue;
        sent[place] = indices[i];
        places[i] = place;
        ++place;
      }
    }
  }
};

template <class Backend>
void bucket_rows(const exec::Stream& stream, const BucketRows& kernel) {
  exec::launch<Backend, exec::Block>(stream, kernel.chunks, kernel);
}

#if WARREN_HAS_CUDA
extern template void bucket_rows<exec::Cuda>(const exec::Stream&, const BucketRows&);
#endif

}  // namespace warren::sample::detail
