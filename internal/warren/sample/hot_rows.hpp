// SPDX-License-Identifier: Apache-2.0
// Which vertices' features are wanted most: what memory::CachedArray is to keep on the devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/sample/sampler.hpp"

namespace warren::sample {

/// The `count` rows (or all) of the largest scores, largest first; of equal ones the smallest
/// numbers.
[[nodiscard]] std::vector<std::uint64_t> hot_rows_by_score(std::span<const std::uint64_t> scores,
                                                           std::uint64_t count);

/// The `count` vertices (or all) of the most in-edges, where the shards have them, else out-edges;
/// of equal ones the smallest ids. The same on all ranks. Collective; synchronises. Deterministic.
[[nodiscard]] std::vector<std::uint64_t> hot_rows_by_degree(team::Team& team,
                                                            const graph::Shard& shard,
                                                            std::uint64_t count);

/// Counts how often vertices occur in sampled batches.
class UseCounter {
 public:
  /// 4 bytes a vertex on the device.
  UseCounter(const exec::Device& device, std::uint64_t vertices);

  /// Adds the batches of the sampler's last call. In the stream's order.
  void add(const exec::Stream& stream, const NeighbourSampler& sampler);

  /// The `count` vertices (or all) that occurred most on all ranks together; of equal ones the
  /// smallest ids. The same on all ranks. Collective; synchronises. Deterministic.
  [[nodiscard]] std::vector<std::uint64_t> hot_rows(team::Team& team, const exec::Stream& stream,
                                                    std::uint64_t count) const;

 private:
  memory::Buffer<std::uint32_t> uses_;
};

}  // namespace warren::sample
