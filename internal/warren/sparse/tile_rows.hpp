// SPDX-License-Identifier: Apache-2.0
// The rows of a task, as a group of lanes walks over its entries.
#pragma once

#include "warren/sparse/spmm.hpp"

namespace warren::sparse::detail {

/// Entries are counted from the task's first. The end of the row after the current one is on its
/// way while the current one is worked on.
class TileRows {
 public:
  static constexpr std::uint32_t kNever = ~0u;

  /// A piece of a row has no end: its row is the task's.
  WARREN_HD TileRows(const EdgeOffset* offsets, const SpmmTask& task)
      : offsets_(offsets + task.row + 1),
        begin_(static_cast<std::uint32_t>(task.begin)),
        rows_(task.rows) {
    if (task.partial != SpmmTask::kWhole) rows_ = 0;
    end_ = end_of(0);
    next_end_ = end_of(1);
  }
  /// The current row, of the task's.
  [[nodiscard]] WARREN_HD std::uint32_t row() const { return row_; }
  /// How many rows the task has; a piece of one 0.
  [[nodiscard]] WARREN_HD std::uint32_t count() const { return rows_; }
  /// kNever behind the last.
  [[nodiscard]] WARREN_HD std::uint32_t end() const { return end_; }
  WARREN_HD void advance() {
    ++row_;
    end_ = next_end_;
    next_end_ = end_of(row_ + 1);
  }

 private:
  [[nodiscard]] WARREN_HD std::uint32_t end_of(std::uint32_t r) const {
    return r < rows_ ? static_cast<std::uint32_t>(offsets_[r]) - begin_ : kNever;
  }

  const EdgeOffset* offsets_;
  std::uint32_t begin_;  ///< Modulo 2^32, as the differences are.
  std::uint32_t rows_;
  std::uint32_t row_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t next_end_ = 0;
};

/// Entry i of a task, or its last.
[[nodiscard]] WARREN_HD inline std::uint32_t entry_or_last(std::uint32_t i, std::uint32_t total) {
  return i < total ? i : total - 1;
}

/// The columns of entries i and on; all lanes of a group read the same places.
template <std::uint32_t N>
WARREN_HD void find_columns(const MatrixView& a, const SpmmTask& task, std::uint32_t total,
                            std::uint32_t i, Vertex (&column)[N]) {
  WARREN_UNROLL
  for (std::uint32_t u = 0; u < N; ++u)
    column[u] = static_cast<Vertex>(a.column(task.begin + entry_or_last(i + u, total)));
}

}  // namespace warren::sparse::detail
