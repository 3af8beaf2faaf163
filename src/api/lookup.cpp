// SPDX-License-Identifier: Apache-2.0
// Sums and means of bags of a table's rows. Every rank looks up a share of the bags with about as
// many ids, and writes their rows of the result.
#include "warren/sparse/lookup.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/partition.hpp"
#include "warren/sparse/bag_max.hpp"

#include "api/array_memory.hpp"
#include "api/arrive.hpp"
#include "api/call.hpp"
#include "api/library_words.hpp"
#include "api/table_state.hpp"

namespace warren {
namespace {

using api::RankTable;

/// One call's bags, and how they are summed.
struct Bags {
  IdsView ids;
  std::span<const EdgeOffset> offsets;
  ArrayView<float> weights;
  BagMode mode = BagMode::sum;
  sparse::LookupStrategy strategy = sparse::LookupStrategy::pull;

  [[nodiscard]] std::uint64_t count() const { return offsets.size() - 1; }
  /// A plain sum, which every strategy has.
  [[nodiscard]] bool is_plain() const { return weights.empty() && mode == BagMode::sum; }
};

/// One rank's share, on its device.
struct Share {
  std::vector<EdgeOffset> offsets;
  IdsView given;
  const Vertex* ids = nullptr;
  const float* weights = nullptr;
  const float* scales = nullptr;  ///< Of bags.

  Share(RankTable& table, const Bags& bags, std::uint64_t rows, std::uint64_t begin,
        std::uint64_t end) {
    const exec::Stream& stream = table.stream;
    api::RankRequest& request = table.request;
    const std::uint64_t first = bags.offsets[begin];
    const std::uint64_t count = bags.offsets[end] - first;
    for (std::uint64_t bag = begin; bag <= end; ++bag) offsets.push_back(bags.offsets[bag] - first);
    given = bags.ids.part(first, count);
    if (count > 0) ids = api::arrive_narrow(stream, given, rows, request);
    if (!bags.weights.empty())
      weights = api::arrive(stream, bags.weights.part(first, count), request.weights);
    if (bags.mode != BagMode::mean) return;
    std::vector<float> factors;
    for (std::size_t i = 1; i < offsets.size(); ++i)
      factors.push_back(1.0f /
                        static_cast<float>(std::max<EdgeOffset>(1, offsets[i] - offsets[i - 1])));
    float* const there = memory::at_least(stream, request.scales, factors.size());
    exec::copy(stream, there, factors.data(), factors.size() * sizeof(float));
    stream.synchronize();
    scales = there;
  }
};

template <class T>
memory::GlobalView<T> typed(const memory::GlobalView<unsigned char>& bytes) {
  memory::GlobalView<T> view;
  for (int q = 0; q < kMaxRanks; ++q) view.base[q] = reinterpret_cast<T*>(bytes.base[q]);
  std::ranges::copy(bytes.cuts, view.cuts);
  view.width = bytes.width / sizeof(T);
  view.rank = bytes.rank;
  view.ranks = bytes.ranks;
  view.is_replicated = bytes.is_replicated;
  view.spans_devices = bytes.spans_devices;
  return view;
}

void check_offsets(std::span<const EdgeOffset> offsets, std::uint64_t ids) {
  require(!offsets.empty(), "offsets: got none, expected one more than there are bags");
  require(
      offsets.front() == 0,
      fmt::format("offsets[0]: got {}, expected 0: the first bag begins there", offsets.front()));
  const auto past = std::ranges::find_if(offsets, [&](EdgeOffset at) { return at > ids; });
  if (past != offsets.end())
    throw UsageError(fmt::format("offsets[{}]: got {}, expected at most the number of ids, {}",
                                 past - offsets.begin(), *past, ids));
  const auto down = std::ranges::is_sorted_until(offsets);
  if (down != offsets.end())
    throw UsageError(fmt::format("offsets[{}]: got {} after {}, expected offsets that ascend",
                                 down - offsets.begin(), *down, *(down - 1)));
  require(
      offsets.back() == ids,
      fmt::format("offsets[{}]: got {}, expected the number of ids, {}: the last bag ends there",
                  offsets.size() - 1, offsets.back(), ids));
}

void check(const api::TableState& table, const IdsView& ids, std::span<const EdgeOffset> offsets,
           const LookupOptions& options) {
  require(!table.is_cached(),
          "table: got one that is cached, expected one on the device or in host memory: lookups "
          "read rows where they lie");
  require(table.rows() < kNoVertex,
          fmt::format("table: got {} rows, expected fewer than 2^32 - 1", table.rows()));
  check_offsets(offsets, ids.size());
  require(
      options.weights.empty() || options.weights.size() == ids.size(),
      fmt::format("weights: got {}, expected one an id, {}", options.weights.size(), ids.size()));
  require(options.weights.empty() || options.mode == BagMode::sum,
          "weights: got some for means or maxima, expected them with mode sum");
  table.check_ids(ids);
}

/// What the options say; "auto" goes by what crosses between ranks.
sparse::LookupStrategy strategy_of(const LookupOptions& options, const api::TableState& table,
                                   const Bags& bags, std::uint64_t element_bytes) {
  if (options.strategy != "auto") {
    const sparse::LookupStrategy asked = sparse::parse_lookup_strategy(options.strategy);
    require(asked == sparse::LookupStrategy::pull || bags.is_plain(),
            fmt::format("strategy: got {}, expected auto or pull: means, maxima and weighted sums "
                        "are made of rows that are read where they lie",
                        options.strategy));
    return asked;
  }
  if (!bags.is_plain() || bags.count() == 0) return sparse::LookupStrategy::pull;
  const double mean = static_cast<double>(bags.ids.size()) / static_cast<double>(bags.count());
  const sparse::LookupChoice choice = sparse::choose_lookup(
      table.place().ranks, mean, element_bytes, table.place().kind == DeviceKind::cpu);
  if (is_logged(LogLevel::debug))
    log_debug(
        fmt::format("lookup: chose strategy {}: {}", sparse::name_of(choice.strategy), choice.why));
  return choice.strategy;
}

/// Bags that ranks look up: about as many ids each.
std::vector<std::uint64_t> cuts_of(const Bags& bags, int ranks) {
  return bags.ids.empty() ? api::equal_shares(bags.count(), ranks)
                          : graph::edge_balanced_cuts(bags.offsets, ranks);
}

/// A rank's bags summed to `out`; the rows that crossed. Collective.
template <class T>
std::uint64_t sum_bags(team::Team& team, RankTable& table, const Bags& bags, const Share& share,
                       T* out, double& seconds) {
  const exec::Stream& stream = table.stream;
  team::Team& host = team.of_host();
  const memory::GlobalView<T> rows = typed<T>(table.view);
  memory::Buffer<std::uint64_t>& moved = table.request.moved;
  if (moved.size() == 0) moved = memory::Buffer<std::uint64_t>(stream.device(), 1);
  exec::fill_bytes(stream, moved.data(), 0, moved.bytes());
  const auto timed = [&](auto&& work) {
    stream.synchronize();
    team.barrier();
    const double begin = now_seconds();
    work();
    stream.synchronize();
    seconds = api::slowest(team, now_seconds() - begin);
  };
  if (bags.is_plain()) {
    const auto way = sparse::make_lookup<T>(host, stream, share.offsets, rows.width, bags.strategy);
    timed([&] { way->run(rows, share.ids, out, moved.data()); });
  } else if (bags.mode == BagMode::max) {
    memory::Buffer<EdgeOffset> offsets(stream.device(), share.offsets.size());
    offsets.upload(stream, share.offsets);
    const sparse::BagBatch batch{offsets.data(), share.offsets.size() - 1, share.ids};
    timed([&] { sparse::bag_max(stream, rows, batch, out, moved.data()); });
  } else {
    const sparse::BagLookup way(stream, share.offsets);
    const sparse::BagScales scales{share.weights, share.scales};
    timed([&] { way.run(stream, rows, share.ids, out, moved.data(), scales); });
  }
  std::uint64_t sum[] = {moved.to_host(stream)[0]};
  team.sum(sum);
  return sum[0];
}

}  // namespace

template <class T>
LookupResult<T> lookup(const Table<T>& table, const IdsView& ids,
                       std::span<const EdgeOffset> offsets, const LookupOptions& options) {
  api::TableState& state = *table.state();
  check(state, ids, offsets, options);
  Bags bags{ids, offsets, options.weights, options.mode};
  bags.strategy =
      api::told_in_library_words([&] { return strategy_of(options, state, bags, sizeof(T)); });
  LookupResult<T> all;
  all.bags = bags.count();
  all.columns = table.columns();
  all.strategy = sparse::name_of(bags.strategy);
  all.info = state.info();
  if (all.bags == 0) return all;
  require(all.bags <= ~std::uint64_t{0} / all.columns / sizeof(float),
          "offsets: got more bags than memory has addresses for");
  api::Output<T> sums(all.bags * all.columns);
  api::BadId bad;
  all.info.bytes_between_hosts = state.run([&](team::Team& team, RankTable& mine) {
    const std::vector<std::uint64_t> cuts = cuts_of(bags, team.size());
    const auto rank = static_cast<std::size_t>(team.rank());
    const Share share(mine, bags, state.rows(), cuts[rank], cuts[rank + 1]);
    api::BadId found;
    if (ids.is_on_gpu())
      found = api::first_of(
          team, api::find_bad(mine.stream, share.given, offsets[cuts[rank]], mine.request));
    if (team.reports()) bad = found;
    if (found.place != api::BadId::kNone) return;
    double seconds = 0.0;
    std::uint64_t moved = 0;
    if (team.size() == 1) {
      sums.start(team.device());
      moved = sum_bags(team, mine, bags, share, sums.data(), seconds);
    } else {
      memory::Buffer<T> own(team.device(), (cuts[rank + 1] - cuts[rank]) * all.columns);
      moved = sum_bags(team, mine, bags, share, own.data(), seconds);
      const auto write = [&](T* out) {
        exec::copy(mine.stream, out, own.data(), own.bytes());
        mine.stream.synchronize();
      };
      api::fill_range(team, cuts[rank] * all.columns, own.size(), write, sums);
    }
    if (!team.reports()) return;
    all.info.seconds = seconds;
    all.rows_moved = moved;
  });
  state.check(bad);
  all.values = sums.take();
  return all;
}

template LookupResult<float> lookup(const Table<float>&, const IdsView&,
                                    std::span<const EdgeOffset>, const LookupOptions&);
template LookupResult<Half> lookup(const Table<Half>&, const IdsView&, std::span<const EdgeOffset>,
                                   const LookupOptions&);
template LookupResult<BFloat16> lookup(const Table<BFloat16>&, const IdsView&,
                                       std::span<const EdgeOffset>, const LookupOptions&);

}  // namespace warren
