// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/current_device.hpp"
#include "warren/graph/partition.hpp"

#include "api/arrive.hpp"
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

TableState::TableState(const ArrayView<unsigned char>& values, std::shared_ptr<void> owner,
                       std::uint64_t rows, std::uint64_t row_bytes, const TableOptions& options)
    : number_(next_owner()),
      values_(values),
      owner_(std::move(owner)),
      rows_(rows),
      row_bytes_(row_bytes),
      placement_(options.placement),
      hot_(rows_to_cache(options, rows)),
      teams_(session_of(options.session).teams()) {
  const exec::KeepCurrentDevice current;
  place_ = place_of(*teams_, options.device, options.devices, info_, values.gpu(), true);
  info_.edges = placement_ == TablePlacement::device ? Edges::device : Edges::host;
  if (place_.kind != DeviceKind::cpu || !values.is_on_gpu()) return;
  auto copied = std::make_shared<memory::HostArray<unsigned char>>(values.size());
  copy_in(exec::Stream(exec::Device::cpu(1)), values, copied->data());
  values_ = copied->span();
  owner_ = std::move(copied);
}

TableState::~TableState() { release(); }

void TableState::release() { teams_->forget(number_); }

void TableState::check_ids(const IdsView& ids) const {
  if (ids.is_on_gpu()) return;  // The ranks look at them.
  const auto look = [&]<class Id>(Id /*type*/) {
    const std::span<const Id> all(reinterpret_cast<const Id*>(ids.bytes().data()), ids.size());
    const auto row_of = [](Id id) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(id));
    };
    std::uint64_t largest = 0;
    for (const Id id : all) largest = std::max(largest, row_of(id));
    if (all.empty() || largest < rows_) return;
    const auto at = std::ranges::find_if(all, [&](Id id) { return row_of(id) >= rows_; });
    check({static_cast<std::uint64_t>(at - all.begin()), row_of(*at)});
  };
  if (ids.width() == sizeof(std::int64_t)) return look(std::int64_t{});
  if (ids.is_signed()) return look(std::int32_t{});
  look(std::uint32_t{});
}

void TableState::check(const BadId& found) const {
  if (found.place == BadId::kNone) return;
  const std::string expected =
      rows_ == 0 ? "none: the table has no rows" : fmt::format("a row, 0 to {}", rows_ - 1);
  throw RowError(
      fmt::format("ids[{}]: got {}, expected {}", found.place, as_given(found.number), expected));
}

std::shared_ptr<RankTable> TableState::make(team::Team& host, const exec::Stream& stream) const {
  const exec::Device& device = host.device();
  auto made = std::make_shared<RankTable>(stream);
  const std::vector<std::uint64_t> cuts = equal_shares(rows_, host.size());
  const bool is_there =
      is_in_place(device, values_) &&
      (!device.is_cuda() || (placement_ == TablePlacement::device && host.size() == 1));
  if (is_there && placement_ != TablePlacement::cached) {
    if (values_.is_on_gpu()) stream.wait(values_.gpu(), values_.stream());
    auto& view = made->view;
    view.width = row_bytes_;
    view.rank = host.rank();
    view.ranks = host.size();
    view.spans_devices = host.size() > 1;
    std::ranges::copy(cuts, view.cuts);
    for (std::size_t q = 0; q + 1 < cuts.size(); ++q)
      view.base[q] = const_cast<unsigned char*>(values_.data()) + cuts[q] * row_bytes_;
    return made;
  }
  const bool is_near = placement_ == TablePlacement::device;
  made->rows = {host, cuts, row_bytes_,
                is_near ? memory::Placement::device : memory::Placement::host};
  made->view = made->rows.view();
  made->is_far = !is_near;
  const auto rank = static_cast<std::size_t>(host.rank());
  copy_in(stream, values_.part(cuts[rank] * row_bytes_, (cuts[rank + 1] - cuts[rank]) * row_bytes_),
          made->rows.buffer().data());
  made->stream.synchronize();
  host.barrier();
  if (is_cached()) made->cached.emplace(host, made->rows, hot_);
  return made;
}

RankTable& TableState::part(team::Team& team, RankStore& store) const {
  // Making a stream takes as long as a small call: tables share one. No owner has number 0.
  std::shared_ptr<void>& stream = store[{0, 0}];
  if (stream == nullptr) stream = std::make_shared<exec::Stream>(team.device());
  std::shared_ptr<void>& kept = store[{number_, 0}];
  if (kept == nullptr) {
    kept = make(team.of_host(), *static_cast<exec::Stream*>(stream.get()));
    team.barrier();  // All ranks' rows are there: who reads them for itself waits no more.
  }
  return *static_cast<RankTable*>(kept.get());
}

void TableState::run_own(const std::function<void(team::Team&, RankTable&)>& work) {
  teams_->run(place_, number_, [&](team::Team& team, RankStore& store) {
    RankTable& mine = part(team, store);
    mine.stream.synchronize();
    work(team, mine);
  });
}

std::uint64_t TableState::run(const std::function<void(team::Team&, RankTable&)>& work) {
  std::uint64_t bytes = 0;
  teams_->run(place_, number_, [&](team::Team& team, RankStore& store) {
    const std::uint64_t sent = team.bytes_between_hosts();
    RankTable& mine = part(team, store);
    team.with_peer_memory([&] {
      team.barrier();
      work(team, mine);
      team.barrier();
    });
    if (team.spans_hosts()) bytes = bytes_between_hosts(team, sent);
  });
  return bytes;
}

std::shared_ptr<TableState> make_table(const ArrayView<unsigned char>& values,
                                       std::shared_ptr<void> owner, std::uint64_t rows,
                                       std::uint64_t row_bytes, const TableOptions& options) {
  return std::make_shared<TableState>(values, std::move(owner), rows, row_bytes, options);
}

void release(TableState& table) { table.release(); }

}  // namespace warren::api
