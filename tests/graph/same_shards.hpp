// SPDX-License-Identifier: Apache-2.0
// Shards that are to be equal, bit for bit, and the teams that have them.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "warren/graph/edge_chunks.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// A range of an array on the stream's device, by the bits.
template <class T>
std::vector<std::uint32_t> bits_of(const exec::Stream& stream, const T* array,
                                   const EdgeRange& range) {
  static_assert(sizeof(T) == sizeof(std::uint32_t));
  std::vector<std::uint32_t> values(range.count());
  if (array != nullptr && !values.empty()) {
    exec::copy(stream, values.data(), array + range.first, values.size() * sizeof(T));
    stream.synchronize();
  }
  return values;
}

inline void expect_same_rows(const exec::Stream& stream, const CsrView& a, const CsrView& b) {
  ASSERT_EQ(a.first, b.first);
  ASSERT_EQ(a.count, b.count);
  const auto offsets_of = [&](const CsrView& view) {
    std::vector<EdgeOffset> offsets(std::uint64_t{view.count} + 1);
    exec::copy(stream, offsets.data(), view.offsets, offsets.size() * sizeof(EdgeOffset));
    stream.synchronize();
    return offsets;
  };
  const std::vector<EdgeOffset> offsets = offsets_of(a);
  ASSERT_EQ(offsets, offsets_of(b));
  const EdgeRange range{offsets.front(), offsets.back()};
  EXPECT_EQ(bits_of(stream, a.targets, range), bits_of(stream, b.targets, range));
  EXPECT_EQ(bits_of(stream, a.weights_int, range), bits_of(stream, b.weights_int, range));
  EXPECT_EQ(bits_of(stream, a.weights_float, range), bits_of(stream, b.weights_float, range));
  if (range.count() == 0) return;
  EXPECT_EQ(a.weights_int != nullptr, b.weights_int != nullptr);
  EXPECT_EQ(a.weights_float != nullptr, b.weights_float != nullptr);
}

inline team::TeamOptions team_of(exec::DeviceKind kind, int ranks) {
  team::TeamOptions options;
  options.kind = kind;
  options.ranks = ranks;
  options.threads = ranks == 1 ? 2 : ranks;
  options.sharing = team::Sharing::turns;
  return options;
}

/// Collective.
inline void expect_same_shards(team::Team& team, const Shard& shard, const Shard& expected) {
  EXPECT_EQ(shard.cuts, expected.cuts);
  EXPECT_EQ(shard.vertices, expected.vertices);
  EXPECT_EQ(shard.edges, expected.edges);
  EXPECT_EQ(shard.weight_type, expected.weight_type);
  EXPECT_EQ(shard.is_symmetric, expected.is_symmetric);
  EXPECT_EQ(shard.edges_placement, expected.edges_placement);
  EXPECT_TRUE(shard.has_in());
  const exec::Stream stream(team.device());
  expect_same_rows(stream, shard.out, expected.out);
  expect_same_rows(stream, shard.in, expected.in);
  EXPECT_EQ(shard.out.cached_end, expected.out.cached_end);
  team.barrier();
}

}  // namespace warren::graph
