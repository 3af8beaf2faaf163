// SPDX-License-Identifier: Apache-2.0
// What the copies of one warren::Table share: its rows in host memory, and what each rank has of
// them, which is in the ranks' stores under the table's number.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "warren/api/array_view.hpp"
#include "warren/api/table.hpp"
#include "warren/memory/cached_array.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/memory/ordered_gather.hpp"

#include "api/ids.hpp"
#include "api/teams.hpp"

namespace warren::api {

/// One rank's part of a table that is spread over the ranks of its host (Team::of_host()): each
/// host has all rows. Rows are bytes.
struct RankTable {
  explicit RankTable(exec::Stream of_rank) : stream(std::move(of_rank)) {}
  exec::Stream stream;
  RankRequest request;
  memory::GlobalArray<unsigned char> rows;  ///< Empty where they are read where the host has them.
  memory::GlobalView<unsigned char> view;
  bool is_far = false;  ///< In host memory, of GPUs.
  std::optional<memory::CachedArray<unsigned char>> cached;
  memory::OrderedGather ordered;
};

class TableState {
 public:
  /// Throws UsageError.
  TableState(const ArrayView<unsigned char>& values, std::shared_ptr<void> owner,
             std::uint64_t rows, std::uint64_t row_bytes, const TableOptions& options);
  ~TableState();
  TableState(const TableState&) = delete;
  TableState& operator=(const TableState&) = delete;

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] bool is_cached() const { return placement_ == TablePlacement::cached; }
  [[nodiscard]] const Place& place() const { return place_; }
  /// Of calls, as far as it is known before them.
  [[nodiscard]] const RunInfo& info() const { return info_; }
  /// Throws RowError for an id that is no row, of those in host memory.
  void check_ids(const IdsView& ids) const;
  /// Throws RowError for one that a rank has found.
  void check(const BadId& found) const;

  /// Runs `work` on every rank, of which those of a host may read each other's rows. It may be run
  /// a second time, if memory was short. Returns what all ranks sent to other hosts.
  std::uint64_t run(const std::function<void(team::Team&, RankTable&)>& work);
  /// Runs it on this process's rank alone, at a time of its own; the first time all ranks do.
  void run_own(const std::function<void(team::Team&, RankTable&)>& work);
  void release();

 private:
  /// The rank's part, made where it is not there.
  [[nodiscard]] RankTable& part(team::Team& team, RankStore& store) const;
  [[nodiscard]] std::shared_ptr<RankTable> make(team::Team& host, const exec::Stream& stream) const;

  const std::uint64_t number_;
  ArrayView<unsigned char> values_;
  std::shared_ptr<void> owner_;  ///< Of the values.
  const std::uint64_t rows_, row_bytes_;
  const TablePlacement placement_;
  std::vector<std::uint64_t> hot_;
  const std::shared_ptr<Teams> teams_;
  RunInfo info_;
  Place place_;
};

/// Equal shares of `count` for `parts`: the cuts between them.
[[nodiscard]] std::vector<std::uint64_t> equal_shares(std::uint64_t count, int parts);

}  // namespace warren::api
