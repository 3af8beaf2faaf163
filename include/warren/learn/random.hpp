// SPDX-License-Identifier: Apache-2.0
// Dropout: what is drawn depends on counters alone, and is the same for any team, device and order
// of work.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"
#include "warren/dataset/random.hpp"

namespace warren::learn {

/// Dropout (Srivastava et al., JMLR 2014): an element is zero with probability p and scaled by
/// 1 / (1 - p) otherwise. What happens to it depends on the key, the input's id of its row, and its
/// column.
struct Dropout {
  std::uint64_t key = 0;  ///< Of random_key(); or the purpose, where `epoch` is given.
  float probability = 0.0f;
  const Vertex* row_ids = nullptr;       ///< The input's ids; nullptr: row r is r.
  const std::uint64_t* epoch = nullptr;  ///< The epoch_key(), where the rows are, if not in `key`.

  [[nodiscard]] WARREN_HD bool is_on() const { return probability > 0.0f; }
  /// The same with the epoch's key in `key`: for who draws for many rows.
  [[nodiscard]] WARREN_HD Dropout resolved() const {
    return {epoch == nullptr ? key : mix(*epoch ^ key), probability, row_ids, nullptr};
  }
  /// What is drawn for the input's vertex `id`.
  [[nodiscard]] WARREN_HD std::uint64_t vertex_key(std::uint64_t id) const {
    return mix((epoch == nullptr ? key : mix(*epoch ^ key)) ^ mix(id));
  }
  [[nodiscard]] WARREN_HD std::uint64_t row_key(std::uint64_t row) const {
    return vertex_key(row_ids == nullptr ? row : row_ids[row]);
  }
  /// What the element is multiplied by: two columns share a number, 16 bits of it each. Drawn with
  /// products of 32 bits, which all SIMD units have (a hash with low bias: Wellons, "Prospecting
  /// for hash functions").
  [[nodiscard]] WARREN_HD float factor(std::uint64_t row_key, std::uint64_t column) const {
    auto x = static_cast<std::uint32_t>(row_key) + static_cast<std::uint32_t>(column >> 1);
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    x ^= static_cast<std::uint32_t>(row_key >> 32);
    const auto shift = static_cast<std::uint32_t>(column & 1) * 16;
    const auto drawn = static_cast<std::int32_t>((x >> shift) & 0xffffu);
    return static_cast<float>(drawn) < probability * 65536.0f ? 0.0f : 1.0f / (1.0f - probability);
  }
};

}  // namespace warren::learn
