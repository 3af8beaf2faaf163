// SPDX-License-Identifier: Apache-2.0
// Rows of a table, gathered with dropout on the way: out[i][c] = table[vertices[i]][c] times what
// the mask has for it, as memory::gather_vertices() and then drop() would leave it; and times a
// number for each row.
#pragma once

#include "warren/memory/global_array.hpp"

#include "learn/rows/row_kernels.hpp"

namespace warren::learn::detail {

/// A warp has 32 rows: each lane finds one of them and its key, and all of them go through the rows
/// together, four columns a lane and as many rows as there are lanes for.
template <class T>
struct GatherDropped {
  /// As which rows move.
  using Bits = std::conditional_t<sizeof(T) == sizeof(float), float, std::uint16_t>;
  static constexpr std::uint32_t kRows = 32;
  static constexpr std::uint32_t kInFlight = kRowsOf4<T>;  ///< Loads of a lane.
  memory::GlobalView<Bits> table;  ///< In the devices' memory; its width is a multiple of four.
  const Vertex* vertices;          ///< Rows of the table.
  std::uint64_t count;
  Dropout dropout;               ///< Row i is that of vertices[i].
  T* out;                        ///< count x width.
  const float* scale = nullptr;  ///< Of row i; nullptr: 1.

  [[nodiscard]] std::uint64_t tasks() const { return (count + kRows - 1) / kRows; }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t first = task * kRows;
    const std::uint64_t left = count - first;
    const auto here = static_cast<std::uint32_t>(left < kRows ? left : kRows);
    if constexpr (std::is_same_v<W, exec::Serial>) {
      for (std::uint64_t i = first; i < first + here; ++i)
        drop_row(dropout.row_key(i), scale_of(i), row(i), out + i * table.width);
    } else {
      rows_together(worker, first, here);
    }
  }

 private:
  [[nodiscard]] WARREN_HD const T* row(std::uint64_t i) const {
    return reinterpret_cast<const T*>(table.row(vertices[i]));
  }
  [[nodiscard]] WARREN_HD float scale_of(std::uint64_t i) const {
    return scale == nullptr ? 1.0f : scale[i];
  }
  WARREN_HD void drop_row(std::uint64_t key, float by, const T* from, T* __restrict to) const {
    const std::uint64_t width = table.width;
    const Dropout mask = dropout;
    for (std::uint64_t c = 0; c < width; ++c)
      to[c] = from_float<T>(to_float(from[c]) * mask.factor(key, c) * by);
  }

  template <class W>
  WARREN_HD void rows_together(const W& worker, std::uint64_t first, std::uint32_t here) const {
    const Dropout mask = dropout.resolved();
    const auto packs = static_cast<std::uint32_t>(table.width / 4);
    const std::uint32_t total = here * packs;
    T* const to = out + first * table.width;
    std::uintptr_t own_row = 0;
    std::uint64_t own_key = 0;
    if (worker.lane() < here) {
      own_row = reinterpret_cast<std::uintptr_t>(row(first + worker.lane()));
      own_key = mask.row_key(first + worker.lane());
    }
    // Of the lane's next pack, and how far it is to the one after that.
    std::uint32_t at_row = worker.lane() / packs, pack = worker.lane() % packs;
    const std::uint32_t rows_on = kRows / packs, packs_on = kRows % packs;
    for (std::uint32_t base = 0; base < total; base += kInFlight * kRows) {
      Pack<T, 4> loaded[kInFlight];
      std::uint64_t key[kInFlight];
      float by[kInFlight];
      std::uint32_t pack_of[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (base + u * kRows >= total) break;
        const auto* from = reinterpret_cast<const T*>(worker.broadcast(own_row, at_row));
        key[u] = worker.broadcast(own_key, at_row);
        pack_of[u] = pack;
        by[u] = at_row < here ? scale_of(first + at_row) : 1.0f;
        if (at_row < here) loaded[u] = load_pack<4>(from + std::uint64_t{pack} * 4);
        at_row += rows_on;
        pack += packs_on;
        if (pack >= packs) {
          pack -= packs;
          ++at_row;
        }
      }
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        const std::uint32_t item = base + u * kRows + worker.lane();
        if (item >= total) break;
        Floats<4> result;
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < 4; ++c)
          result.at[c] =
              loaded[u].get(c) * mask.factor(key[u], std::uint64_t{pack_of[u]} * 4 + c) * by[u];
        store_pack<4>(result, to + std::uint64_t{item} * 4);
      }
    }
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const GatherDropped<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const GatherDropped<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const GatherDropped<BFloat16>&);
#endif

}  // namespace warren::learn::detail
