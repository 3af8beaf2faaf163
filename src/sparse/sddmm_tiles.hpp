// SPDX-License-Identifier: Apache-2.0
// The GPU's kernel of the sampled dense-dense product.
#pragma once

#include "sparse/sddmm_job.hpp"
#include "sparse/tile_rows.hpp"

namespace warren::sparse::detail {

/// A task by a group of lanes that each own some columns: four rows of Y are on their way together;
/// the row of X is kept while it stays the same.
template <class T, std::uint32_t kWidth>
struct SddmmOnTile {
  static constexpr std::uint32_t kInFlight = 4;
  using Pack = exec::FloatPack<kWidth>;
  using Raw = exec::RawPack<T, kWidth>;
  SddmmJob<T> job;

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index];
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    if (total == 0) return;
    const std::uint32_t columns = worker.size() * kWidth;
    const bool is_one_pass = job.k <= columns;
    TileRows rows(job.a.offsets, task);
    Pack kept;
    std::uint32_t kept_row = TileRows::kNever;
    Vertex column[kInFlight];
    find_columns(job.a, task, total, 0, column);
    for (std::uint32_t i = 0; i < total; i += kInFlight) {
      std::uint64_t row[kInFlight];
      bool is_kept = true;
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        while (i + u >= rows.end() && i + u < total) rows.advance();
        row[u] = job.a.row_id(std::uint64_t{task.row} + rows.row());
        is_kept = is_kept && rows.row() == kept_row;
      }
      float product[kInFlight] = {};
      for (std::uint64_t c = worker.lane() * kWidth; c < job.k; c += columns) {
        Raw y[kInFlight];
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kInFlight; ++u)
          y[u] = *reinterpret_cast<const Raw*>(job.y + column[u] * job.y_stride + c);
        if (is_one_pass && is_kept) {
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kInFlight; ++u) product[u] = dot(kept, y[u]);
        } else {
          Raw x[kInFlight];
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kInFlight; ++u)
            x[u] = *reinterpret_cast<const Raw*>(job.x + row[u] * job.x_stride + c);
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kInFlight; ++u) {
            kept.set(x[u]);
            product[u] += dot(kept, y[u]);
          }
        }
      }
      kept_row = rows.row();
      const float sum = add_up(worker, product);
      const std::uint32_t mine = worker.lane();
      if (mine < kInFlight && i + mine < total) {
        std::uint64_t my_row = row[0];
        Vertex my_column = column[0];
        WARREN_UNROLL
        for (std::uint32_t u = 1; u < kInFlight; ++u) {
          if (mine != u) continue;
          my_row = row[u];
          my_column = column[u];
        }
        const EdgeOffset e = task.begin + i + mine;
        job.out[e] = job.scaled(sum, e, my_row, my_column);
      }
      find_columns(job.a, task, total, i + kInFlight, column);
    }
  }

 private:
  [[nodiscard]] static __device__ float dot(const Pack& x, const Raw& y) {
    Pack values;
    values.set(y);
    return x.dot(values);
  }
  /// Lane u gets the lanes' sum of part u: halves are exchanged, so that each shuffle adds to two
  /// sums.
  template <class W>
  [[nodiscard]] static __device__ float add_up(const W& worker, const float (&part)[kInFlight]) {
    const bool is_odd = (worker.lane() & 1u) != 0;
    const bool is_upper = (worker.lane() & 2u) != 0;
    const float low =
        (is_odd ? part[1] : part[0]) + worker.shuffle_xor(is_odd ? part[0] : part[1], 1);
    const float high =
        (is_odd ? part[3] : part[2]) + worker.shuffle_xor(is_odd ? part[2] : part[3], 1);
    float sum = (is_upper ? high : low) + worker.shuffle_xor(is_upper ? low : high, 2);
    WARREN_UNROLL
    for (std::uint32_t step = 4; step < worker.size(); step *= 2)
      sum += worker.shuffle_xor(sum, step);
    return sum;
  }
};

template <class T, std::uint32_t kWidth>
void launch_sddmm(const exec::Stream& stream, const SddmmJob<T>& job) {
  const SddmmOnTile<T, kWidth> kernel{job};
  const std::uint64_t lanes = (job.k + kWidth - 1) / kWidth;
  if (lanes > 16) return exec::launch<exec::Cuda, exec::Warp>(stream, job.task_count, kernel);
  if (lanes > 8) return exec::launch<exec::Cuda, exec::Tile<16>>(stream, job.task_count, kernel);
  if (lanes > 4) return exec::launch<exec::Cuda, exec::Tile<8>>(stream, job.task_count, kernel);
  return exec::launch<exec::Cuda, exec::Tile<4>>(stream, job.task_count, kernel);
}

/// A lane reads 16 bytes of a row at once where all addresses allow.
template <class T>
void launch_sddmm_tiles(const exec::Stream& stream, const SddmmJob<T>& job) {
  constexpr std::uint64_t kWide = 16 / sizeof(T);
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(job.x) | reinterpret_cast<std::uintptr_t>(job.y);
  if (bits % 16 == 0 && (job.k | job.x_stride | job.y_stride) % kWide == 0)
    return launch_sddmm<T, kWide>(stream, job);
  launch_sddmm<T, 1>(stream, job);
}

}  // namespace warren::sparse::detail
