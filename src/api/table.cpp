// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/current_device.hpp"
#include "warren/graph/partition.hpp"

#include "api/call.hpp"
#include "api/table_state.hpp"

namespace warren::api {
namespace {

/// The rows that devices have of a cached table.
std::vector<std::uint64_t> rows_to_cache(const TableOptions& options, std::uint64_t rows) {
  if (options.placement != TablePlacement::cached) {
    require(!options.cached,
            "cached: got rows for a table that is not cached, expected none, or "
            "placement cached");
    return {};
  }
  require(rows < kNoVertex, fmt::format("placement: got cached for {} rows, expected fewer than "
                                        "2^32 - 1; place the table on the device or the host",
                                        rows));
  if (!options.cached) {
    std::vector<std::uint64_t> first(rows / 10);
    std::iota(first.begin(), first.end(), std::uint64_t{0});
    return first;
  }
  std::vector<std::uint64_t> sorted = *options.cached;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  require(twice == sorted.end(), fmt::format("cached: got row {} twice, expected each once",
                                             twice == sorted.end() ? 0 : *twice));
  if (!sorted.empty() && sorted.back() >= rows)
    throw RowError(fmt::format("cached: got row {}, expected rows below {}", sorted.back(), rows));
  return *options.cached;
}

/// A number that may have been negative where it came from.
std::string as_given(std::uint64_t id) {
  const auto number = static_cast<std::int64_t>(id);
  return number < 0 ? fmt::format("{}", number) : fmt::format("{}", id);
}

}  // namespace

std::uint64_t rows_of(std::uint64_t elements, std::uint64_t columns) {
  require(columns > 0, "columns: got 0, expected one or more");
  require(elements % columns == 0,
          fmt::format("values: got {} elements, expected rows of {}", elements, columns));
  return elements / columns;
}

std::vector<std::uint64_t> equal_shares(std::uint64_t count, int parts) {
  return graph::dealt_cuts(count, parts);
}

TableState::TableState(memory::HostArray<unsigned char> values, std::uint64_t rows,
                       std::uint64_t row_bytes, const TableOptions& options)
    : number_(next_owner()),
      values_(std::move(values)),
      rows_(rows),
      row_bytes_(row_bytes),
      placement_(options.placement),
      hot_(rows_to_cache(options, rows)),
      teams_(options.session ? options.session->teams() : Session::standard().teams()) {
  const exec::KeepCurrentDevice current;
  place_ = place_of(*teams_, options.device, options.devices, info_);
  info_.edges = placement_ == TablePlacement::device ? Edges::device : Edges::host;
}

TableState::~TableState() { release(); }

void TableState::release() { teams_->forget(number_); }

void TableState::check_ids(std::span<const std::uint64_t> ids) const {
  std::uint64_t largest = 0;
  for (const std::uint64_t id : ids) largest = std::max(largest, id);
  if (ids.empty() || largest < rows_) return;
  const auto at = std::ranges::find_if(ids, [&](std::uint64_t id) { return id >= rows_; });
  const std::string expected =
      rows_ == 0 ? "none: the table has no rows" : fmt::format("a row, 0 to {}", rows_ - 1);
  throw RowError(
      fmt::format("ids[{}]: got {}, expected {}", at - ids.begin(), as_given(*at), expected));
}

std::shared_ptr<RankTable> TableState::make(team::Team& team) const {
  const exec::Device& device = team.device();
  auto made = std::make_shared<RankTable>(device);
  const std::vector<std::uint64_t> cuts = equal_shares(rows_, team.size());
  if (!device.is_cuda() && placement_ != TablePlacement::cached) {
    auto& view = made->view;
    view.width = row_bytes_;
    view.rank = team.rank();
    view.ranks = team.size();
    view.spans_devices = team.size() > 1;
    std::ranges::copy(cuts, view.cuts);
    for (std::size_t q = 0; q + 1 < cuts.size(); ++q)
      view.base[q] = const_cast<unsigned char*>(values_.data()) + cuts[q] * row_bytes_;
    return made;
  }
  const bool is_near = placement_ == TablePlacement::device;
  made->rows = {team, cuts, row_bytes_,
                is_near ? memory::Placement::device : memory::Placement::host};
  made->view = made->rows.view();
  made->is_far = !is_near;
  const auto rank = static_cast<std::size_t>(team.rank());
  made->rows.buffer().upload(
      made->stream,
      values_.span().subspan(cuts[rank] * row_bytes_, (cuts[rank + 1] - cuts[rank]) * row_bytes_));
  made->stream.synchronize();
  team.barrier();
  if (is_cached()) made->cached.emplace(team, made->rows, hot_);
  return made;
}

void TableState::run(const std::function<void(team::Team&, RankTable&)>& work) {
  teams_->run(place_, number_, [&](team::Team& team, RankStore& store) {
    std::shared_ptr<void>& kept = store[{number_, 0}];
    if (kept == nullptr) kept = make(team);
    auto& mine = *static_cast<RankTable*>(kept.get());
    team.with_peer_memory([&] {
      team.barrier();
      work(team, mine);
      team.barrier();
    });
  });
}

std::shared_ptr<TableState> make_table(memory::HostArray<unsigned char> values, std::uint64_t rows,
                                       std::uint64_t row_bytes, const TableOptions& options) {
  return std::make_shared<TableState>(std::move(values), rows, row_bytes, options);
}

void release(TableState& table) { table.release(); }

}  // namespace warren::api
