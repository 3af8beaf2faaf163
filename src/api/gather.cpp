// SPDX-License-Identifier: Apache-2.0
// Rows of a table by their numbers. Every rank gathers a share of them, from wherever they lie, to
// where the result is.
#include "warren/core/trace.hpp"
#include "warren/team/processes.hpp"

#include "api/array_memory.hpp"
#include "api/call.hpp"
#include "api/table_state.hpp"

namespace warren::api {
namespace {

/// Rows ids[i] to `out`, zeros for what is no row. Returns when they are there.
void gather_share(RankTable& table, const IdsView& ids, std::uint64_t rows, unsigned char* out) {
  const exec::Stream& stream = table.stream;
  const std::uint64_t* const numbers = arrive_wide(stream, ids, rows, table.request);
  if (table.cached) {
    table.cached->gather(stream, numbers, ids.size(), out);
  } else {
    const memory::GlobalView<unsigned char>* view = &table.view;
    table.ordered.run(stream, {table.is_far ? nullptr : view, table.is_far ? view : nullptr},
                      {numbers, nullptr, ids.size(), nullptr, out, nullptr, 0});
  }
  stream.synchronize();
}

}  // namespace

GatheredRows gather_rows(TableState& table, const IdsView& ids, bool own) {
  table.check_ids(ids);
  GatheredRows all;
  all.info = table.info();
  const bool is_own = own && team::Processes::current() != nullptr;
  require(!own || is_own || all.info.devices == 1,
          "own: ranks of one process have one caller, and no ids of their own: start a process for "
          "each rank, or leave it out");
  if (ids.empty() && !is_own) return all;
  const std::uint64_t width = table.row_bytes();
  require(ids.size() <= ~std::uint64_t{0} / width,
          "ids: got more rows than memory has addresses for");
  Output<unsigned char> rows(ids.size() * width);
  BadId bad;
  if (is_own) {
    table.run_own([&](team::Team& team, RankTable& mine) {
      if (ids.empty()) return;
      rows.start(team.device());
      const double begin = now_seconds();
      gather_share(mine, ids, table.rows(), rows.data());
      all.info.seconds = now_seconds() - begin;
      if (ids.is_on_gpu()) bad = find_bad(mine.stream, ids, 0, mine.request);
    });
    table.check(bad);
    all.memory = rows.take_memory();
    return all;
  }
  all.info.bytes_between_hosts = table.run([&](team::Team& team, RankTable& mine) {
    const std::vector<std::uint64_t> cuts = equal_shares(ids.size(), team.size());
    const auto rank = static_cast<std::size_t>(team.rank());
    const IdsView share = ids.part(cuts[rank], cuts[rank + 1] - cuts[rank]);
    const std::uint64_t hits = mine.cached ? mine.cached->use(mine.stream).hits : 0;
    double seconds = 0.0;
    const auto write = [&](unsigned char* out) {
      const double begin = now_seconds();
      gather_share(mine, share, table.rows(), out);
      seconds = now_seconds() - begin;
    };
    fill_range(team, cuts[rank] * width, share.size() * width, write, rows);
    seconds = slowest(team, seconds);
    BadId found_bad;
    if (ids.is_on_gpu())
      found_bad = first_of(team, find_bad(mine.stream, share, cuts[rank], mine.request));
    const std::uint64_t found =
        mine.cached ? team.all_reduce(mine.cached->use(mine.stream).hits - hits, std::plus<>()) : 0;
    if (!team.reports()) return;
    bad = found_bad;
    all.info.seconds = seconds;
    all.cached_hits = found;
  });
  table.check(bad);
  all.memory = rows.take_memory();
  return all;
}

}  // namespace warren::api
