// SPDX-License-Identifier: Apache-2.0
// Sums and means of bags of a table's rows. Every rank looks up a share of the bags with about as
// many ids, and writes their rows of the result.
#include "warren/sparse/lookup.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/partition.hpp"

#include "api/array_memory.hpp"
#include "api/call.hpp"
#include "api/library_words.hpp"
#include "api/table_state.hpp"

namespace warren {
namespace {

using api::RankTable;

/// One call's bags, and how they are summed.
struct Bags {
  std::span<const std::uint64_t> ids;
  std::span<const EdgeOffset> offsets;
  std::span<const float> weights;
  bool is_mean = false;
  sparse::LookupStrategy strategy = sparse::LookupStrategy::pull;

  [[nodiscard]] std::uint64_t count() const { return offsets.size() - 1; }
  /// A plain sum, which every strategy has.
  [[nodiscard]] bool is_plain() const { return weights.empty() && !is_mean; }
};

/// Memory on a rank's device for one rank's share.
struct Share {
  std::vector<EdgeOffset> offsets;
  memory::Buffer<Vertex> ids;
  memory::Buffer<float> weights, scales;

  Share(const exec::Stream& stream, const Bags& bags, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = bags.offsets[begin];
    const std::uint64_t count = bags.offsets[end] - first;
    for (std::uint64_t bag = begin; bag <= end; ++bag) offsets.push_back(bags.offsets[bag] - first);
    std::vector<Vertex> rows(count);
    std::ranges::transform(bags.ids.subspan(first, count), rows.begin(),
                           [](std::uint64_t id) { return static_cast<Vertex>(id); });
    std::vector<float> factors;
    for (std::size_t i = 1; bags.is_mean && i < offsets.size(); ++i)
      factors.push_back(1.0f /
                        static_cast<float>(std::max<EdgeOffset>(1, offsets[i] - offsets[i - 1])));
    put(stream, ids, std::span<const Vertex>(rows));
    put(stream, scales, std::span<const float>(factors));
    if (!bags.weights.empty()) put(stream, weights, bags.weights.subspan(first, count));
    stream.synchronize();
  }

 private:
  template <class T>
  static void put(const exec::Stream& stream, memory::Buffer<T>& buffer, std::span<const T> from) {
    buffer = memory::Buffer<T>(stream.device(), from.size());
    buffer.upload(stream, from);
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

void check(const api::TableState& table, std::span<const std::uint64_t> ids,
           std::span<const EdgeOffset> offsets, const LookupOptions& options) {
  require(!table.is_cached(),
          "table: got one that is cached, expected one on the device or in host memory: lookups "
          "read rows where they lie");
  require(table.rows() < kNoVertex,
          fmt::format("table: got {} rows, expected fewer than 2^32 - 1", table.rows()));
  require(!offsets.empty() && offsets.front() == 0 && offsets.back() == ids.size(),
          fmt::format("offsets: expected one more than there are bags, from 0 to the number of "
                      "ids, {}",
                      ids.size()));
  const auto down = std::ranges::is_sorted_until(offsets);
  require(down == offsets.end(),
          fmt::format("offsets[{}]: got less than before, expected offsets that ascend",
                      down - offsets.begin()));
  require(
      options.weights.empty() || options.weights.size() == ids.size(),
      fmt::format("weights: got {}, expected one an id, {}", options.weights.size(), ids.size()));
  require(options.weights.empty() || options.mode == BagMode::sum,
          "weights: got some for means, expected them with mode sum");
  table.check_ids(ids);
}

/// What the options say; "auto" goes by what crosses between ranks.
sparse::LookupStrategy strategy_of(const LookupOptions& options, const api::TableState& table,
                                   const Bags& bags, std::uint64_t element_bytes) {
  if (options.strategy != "auto") {
    const sparse::LookupStrategy asked = sparse::parse_lookup_strategy(options.strategy);
    require(asked == sparse::LookupStrategy::pull || bags.is_plain(),
            fmt::format("strategy: got {}, expected auto or pull: means and weighted sums are "
                        "made of rows that are read where they lie",
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
  const memory::GlobalView<T> rows = typed<T>(table.view);
  memory::Buffer<std::uint64_t> moved(stream.device(), 1);
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
    const auto way = sparse::make_lookup<T>(team, stream, share.offsets, rows.width, bags.strategy);
    timed([&] { way->run(rows, share.ids.data(), out, moved.data()); });
  } else {
    const sparse::BagLookup way(stream, share.offsets);
    const sparse::BagScales scales{share.weights.data(), share.scales.data()};
    timed([&] { way.run(stream, rows, share.ids.data(), out, moved.data(), scales); });
  }
  std::uint64_t sum[] = {moved.to_host(stream)[0]};
  team.sum(sum);
  return sum[0];
}

}  // namespace

template <class T>
LookupResult<T> lookup(const Table<T>& table, std::span<const std::uint64_t> ids,
                       std::span<const EdgeOffset> offsets, const LookupOptions& options) {
  api::TableState& state = *table.state();
  check(state, ids, offsets, options);
  Bags bags{ids, offsets, options.weights, options.mode == BagMode::mean};
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
  state.run([&](team::Team& team, RankTable& mine) {
    const std::vector<std::uint64_t> cuts = cuts_of(bags, team.size());
    const auto rank = static_cast<std::size_t>(team.rank());
    const Share share(mine.stream, bags, cuts[rank], cuts[rank + 1]);
    memory::Buffer<T> own(team.device(), (cuts[rank + 1] - cuts[rank]) * all.columns);
    double seconds = 0.0;
    const std::uint64_t moved = sum_bags(team, mine, bags, share, own.data(), seconds);
    const auto write = [&](T* out) {
      exec::copy(mine.stream, out, own.data(), own.bytes());
      mine.stream.synchronize();
    };
    api::fill_range(team, cuts[rank] * all.columns, own.size(), write, sums);
    if (team.rank() != 0) return;
    all.info.seconds = seconds;
    all.rows_moved = moved;
  });
  all.values = sums.take();
  return all;
}

template LookupResult<float> lookup(const Table<float>&, std::span<const std::uint64_t>,
                                    std::span<const EdgeOffset>, const LookupOptions&);
template LookupResult<Half> lookup(const Table<Half>&, std::span<const std::uint64_t>,
                                   std::span<const EdgeOffset>, const LookupOptions&);
template LookupResult<BFloat16> lookup(const Table<BFloat16>&, std::span<const std::uint64_t>,
                                       std::span<const EdgeOffset>, const LookupOptions&);

}  // namespace warren
