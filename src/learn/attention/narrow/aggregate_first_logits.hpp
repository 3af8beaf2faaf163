// SPDX-License-Identifier: Apache-2.0
// Logits of narrow rows x: <x, u> of both sides of every head. A warp has some rows in a row: u
// stays in its registers, four columns a lane, while they pass.
#pragma once

#include "learn/attention/narrow/aggregate_first_lanes.hpp"

namespace warren::learn::detail {

/// r = <x, u_right> of every row of x and head, l = <x, u_left> of the first `rows` of them.
template <class T>
struct FirstLogits {
  static constexpr std::uint32_t kTogether = 4;  ///< Heads.
  static constexpr std::uint32_t kSums = 2 * kTogether;
  static constexpr std::uint32_t kGroup = 4;  ///< Rows whose sums are added up together.
  static constexpr std::uint32_t kInFlight = kRowsOf4<T>;  ///< Rows.
  static constexpr std::uint64_t kRowsOfATask = 64;
  static constexpr std::uint32_t kMostThreads = 512;
  std::uint64_t heads, columns, rows, count;
  const T* x;      ///< count x columns, as many as attends_first() allows.
  const float* u;  ///< Of the left and then of the right.
  float* l;
  float* r;

  [[nodiscard]] std::uint64_t tasks() const { return (count + kRowsOfATask - 1) / kRowsOfATask; }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t begin = task * kRowsOfATask;
    const std::uint64_t end = begin + kRowsOfATask < count ? begin + kRowsOfATask : count;
    for (std::uint64_t head = 0; head < heads; head += kTogether) {
      if constexpr (std::is_same_v<W, exec::Serial>) {
        for (std::uint64_t row = begin; row < end; ++row) row_alone(row, head);
      } else if (count < kInFlight) {
        worker.for_each(count, [&](std::uint64_t row) { row_alone(row, head); });
      } else {
        rows_together(worker, begin, end, head);
      }
    }
  }

 private:
  WARREN_HD void row_alone(std::uint64_t row, std::uint64_t first) const {
    const std::uint64_t here = heads - first < kTogether ? heads - first : kTogether;
    const float* to_left = u + first * columns;
    const float* to_right = to_left + heads * columns;
    float sums[kSums] = {};
    for (std::uint64_t c = 0; c < columns; ++c) {
      const float value = to_float(x[row * columns + c]);
      for (std::uint64_t h = 0; h < here; ++h) {
        sums[h] += value * to_left[h * columns + c];
        sums[kTogether + h] += value * to_right[h * columns + c];
      }
    }
    for (std::uint64_t h = 0; h < here; ++h) {
      if (row < rows) l[row * heads + first + h] = sums[h];
      r[row * heads + first + h] = sums[kTogether + h];
    }
  }

  /// Sum s of a row is that of head s % 4, of the left and then of the right. A lane keeps it in
  /// place s ^ (lane % 8): what it hands on to the lane that differs from it in one bit is then
  /// always in the places with that bit, and is not chosen.
  template <class W>
  WARREN_HD void rows_together(const W& worker, std::uint64_t begin, std::uint64_t end,
                               std::uint64_t first) const {
    const std::uint32_t lane = worker.lane();
    const std::uint32_t column = lane * 4;
    const bool is_active = column < columns;
    Floats<4> with[kSums] = {};
    WARREN_UNROLL
    for (std::uint32_t place = 0; place < kSums; ++place) {
      const std::uint32_t s = place ^ (lane % kSums);
      const std::uint64_t head = first + s % kTogether;
      if (!is_active || head >= heads) continue;
      with[place] = load_floats<4>(u + (s / kTogether * heads + head) * columns + column);
    }
    // From here on rows count from `begin`.
    constexpr auto kRound = static_cast<std::int32_t>(kInFlight);
    const std::uint64_t head = first + lane % kTogether;
    const bool is_right = lane % kSums >= kTogether;
    const std::uint64_t rows_of_lane = head >= heads ? 0 : is_right ? count : rows;
    const auto here = static_cast<std::int32_t>(end - begin);
    const auto of_lane = static_cast<std::int32_t>(lane / kSums);
    const std::int32_t limit = rows_of_lane >= end ? here
                               : rows_of_lane <= begin
                                   ? -kRound
                                   : static_cast<std::int32_t>(rows_of_lane - begin);
    const auto stride = static_cast<std::int32_t>(columns);
    const auto step = static_cast<std::int32_t>(heads);
    const T* const from = x + begin * columns + column;
    float* const to = (is_right ? r : l) + begin * heads + head;
    Pack<T, 4> values[kInFlight] = {};
    const auto load = [&](std::uint32_t g, std::int32_t row) {
      if (!is_active) return;  // Lanes without columns have zeros.
      const T* at = from + (row + static_cast<std::int32_t>(g)) * stride;
      WARREN_UNROLL
      for (std::uint32_t i = g; i < g + kGroup; ++i, at += stride) values[i] = load_pack<4>(at);
    };
    // The last rows are taken together with some before them, if there are not enough of them.
    const std::int32_t last = here - kRound;
    std::int32_t row = last < 0 ? last : 0;
    WARREN_UNROLL
    for (std::uint32_t g = 0; g < kInFlight; g += kGroup) load(g, row);
    for (std::int32_t done = 0; done < here; done += kRound) {
      const std::int32_t next = done + kRound < last ? done + kRound : last;
      WARREN_UNROLL
      for (std::uint32_t g = 0; g < kInFlight; g += kGroup) {
        float sums[kGroup * kSums];
        WARREN_UNROLL
        for (std::uint32_t i = 0; i < kGroup; ++i) {
          const Floats<4> numbers = floats_of<T, 4>(values[g + i]);
          WARREN_UNROLL
          for (std::uint32_t s = 0; s < kSums; ++s) {
            float sum = numbers.at[0] * with[s].at[0];
            WARREN_UNROLL
            for (std::uint32_t c = 1; c < 4; ++c) sum += numbers.at[c] * with[s].at[c];
            sums[i * kSums + s] = sum;
          }
        }
        load(g, next);
        const float sum = sum_of_lane(worker, sums);
        const std::int32_t mine = row + static_cast<std::int32_t>(g) + of_lane;
        if (mine < limit) to[mine * step] = sum;
      }
      row = next;
    }
  }
  /// Over all lanes, of row lane / 8 and sum lane % 8.
  template <class W>
  [[nodiscard]] WARREN_HD static float sum_of_lane(const W& worker, float (&sums)[kGroup * kSums]) {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kGroup; ++i) {
      float* of_row = sums + i * kSums;
      WARREN_UNROLL
      for (std::uint32_t s = 0; s < 4; ++s) of_row[s] += worker.shuffle_xor(of_row[s + 4], 4);
      WARREN_UNROLL
      for (std::uint32_t s = 0; s < 2; ++s) of_row[s] += worker.shuffle_xor(of_row[s + 2], 2);
      of_row[0] += worker.shuffle_xor(of_row[1], 1);
    }
    const bool is_upper = (worker.lane() & 16) != 0;
    float pair[2];
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < 2; ++i) {
      const float lower = sums[i * kSums], upper = sums[(i + 2) * kSums];
      pair[i] = (is_upper ? upper : lower) + worker.shuffle_xor(is_upper ? lower : upper, 16);
    }
    const bool is_odd = (worker.lane() & 8) != 0;
    return (is_odd ? pair[1] : pair[0]) + worker.shuffle_xor(is_odd ? pair[0] : pair[1], 8);
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const FirstLogits<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const FirstLogits<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const FirstLogits<BFloat16>&);
#endif

}  // namespace warren::learn::detail
