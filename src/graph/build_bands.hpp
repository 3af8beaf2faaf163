// SPDX-License-Identifier: Apache-2.0
// Where many edges are duplicates, rows are filled and merged a band at a time, each with a reading
// of its own, so that the duplicates of one band at most are held. How many there are is estimated
// from a sample that the counting reading takes.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/core/types.hpp"

namespace warren::graph::detail {

/// Duplicates held besides the merged graph, as a share of it.
inline constexpr double kMostDuplicates = 0.4;

/// Entries by their rows and targets, one in kSampledOf of all, chosen by what they are: duplicates
/// are in it together or not at all.
class EntrySample {
 public:
  static constexpr int kShift = 58;
  static constexpr std::uint64_t kSampledOf = std::uint64_t{1} << (64 - kShift);

  void offer(Vertex row, Vertex target) {
    const std::uint64_t entry = std::uint64_t{row} << 32 | target;
    if (entry * 0x9e3779b97f4a7c15ull >> kShift == 0) entries_.push_back(entry);
  }
  void add(const EntrySample& other) {
    entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
  }
  [[nodiscard]] const std::vector<std::uint64_t>& entries() const { return entries_; }

 private:
  std::vector<std::uint64_t> entries_;
};

/// Rows [first, last), which have `entries` entries with their duplicates.
struct Band {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t entries = 0;
};

struct BandPlan {
  std::vector<Band> bands;     ///< All rows, in order.
  std::uint64_t capacity = 0;  ///< Entries held at once, as far as the sample can tell.
};

/// `starts`: the first entry of each row, of `vertices` rows with `entries` in all. One band where
/// duplicates are merged but few, or kept (an empty sample).
[[nodiscard]] BandPlan plan_bands(const EntrySample& sample, const EdgeOffset* starts,
                                  std::uint64_t vertices, std::uint64_t entries);

}  // namespace warren::graph::detail
