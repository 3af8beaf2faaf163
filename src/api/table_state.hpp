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

#include "warren/api/table.hpp"
#include "warren/memory/cached_array.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/memory/ordered_gather.hpp"

#include "api/teams.hpp"

namespace warren::api {

/// One rank's part. Rows are bytes.
struct RankTable {
  explicit RankTable(const exec::Device& device) : stream(device) {}
  exec::Stream stream;
  memory::GlobalArray<unsigned char> rows;  ///< Empty where they are read where the host has them.
  memory::GlobalView<unsigned char> view;
  bool is_far = false;  ///< In host memory, of GPUs.
  std::optional<memory::CachedArray<unsigned char>> cached;
  memory::OrderedGather ordered;
};

class TableState {
 public:
  /// Throws UsageError.
  TableState(memory::HostArray<unsigned char> values, std::uint64_t rows, std::uint64_t row_bytes,
             const TableOptions& options);
  ~TableState();
  TableState(const TableState&) = delete;
  TableState& operator=(const TableState&) = delete;

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] bool is_cached() const { return placement_ == TablePlacement::cached; }
  [[nodiscard]] const Place& place() const { return place_; }
  /// Of calls, as far as it is known before them.
  [[nodiscard]] const RunInfo& info() const { return info_; }
  /// Throws RowError for an id that is no row.
  void check_ids(std::span<const std::uint64_t> ids) const;

  /// Runs `work` on every rank, which may read each other's rows. It may be run a second time, if
  /// memory was short.
  void run(const std::function<void(team::Team&, RankTable&)>& work);
  void release();

 private:
  [[nodiscard]] std::shared_ptr<RankTable> make(team::Team& team) const;

  const std::uint64_t number_;
  const memory::HostArray<unsigned char> values_;
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
