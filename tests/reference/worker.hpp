// SPDX-License-Identifier: Apache-2.0
// What a worker's collectives return, computed sequentially from the lanes' values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace warren::reference {

/// One lane's results of all collectives that WorkerKernel (tests/exec) calls.
struct LaneResults {
  std::uint32_t lane, size, sum, minimum, maximum, before, third, any, count, last_before;
  float float_before;
  std::uint64_t wide_sum;
  struct Pair {
    std::uint64_t value, minus;
    friend bool operator==(const Pair&, const Pair&) = default;
  } pair;
  friend bool operator==(const LaneResults&, const LaneResults&) = default;
};

inline std::vector<LaneResults> worker_results(const std::vector<std::uint32_t>& values) {
  const auto size = static_cast<std::uint32_t>(values.size());
  LaneResults common{};
  common.size = size;
  common.minimum = *std::min_element(values.begin(), values.end());
  common.maximum = *std::max_element(values.begin(), values.end());
  common.third = values[2 % size];
  common.pair = {values[1 % size], std::uint64_t{0} - values[1 % size]};
  for (const std::uint32_t value : values) {
    common.sum += value;
    common.wide_sum += std::uint64_t{value} << 30;
    common.count += value % 3 == 0 ? 1u : 0u;
    common.any |= value % 7 == 0 ? 1u : 0u;
  }
  std::vector<LaneResults> results;
  std::uint32_t before = 0;
  std::uint32_t last = size;
  for (std::uint32_t lane = 0; lane < size; ++lane) {
    LaneResults mine = common;
    mine.lane = lane;
    mine.before = before;
    mine.float_before = static_cast<float>(before) * 0.25f;
    mine.last_before = last;
    before += values[lane];
    if (values[lane] % 3 == 0) last = lane;
    results.push_back(mine);
  }
  return results;
}

}  // namespace warren::reference
