// SPDX-License-Identifier: Apache-2.0
// Rows that ranks bring together: each has some of the edges, and sends each one to the rank that
// owns its row. Only a part of them is on its way at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <type_traits>
#include <vector>

#include "warren/exec/worker.hpp"
#include "warren/graph/graph.hpp"
#include "warren/team/team.hpp"

#include "graph/build_rows.hpp"
#include "graph/build_sort.hpp"

namespace warren::graph::detail {

/// Edges that a thread of a rank sends at a time.
constexpr std::uint64_t kSentEdges = std::uint64_t{1} << 17;
/// Edges that a thread looks at in one go.
constexpr std::uint64_t kSentGrain = std::uint64_t{1} << 14;

/// An edge on its way to the rank of its row.
template <class Weight>
struct SentEdge {
  Vertex row;
  Vertex target;
  [[no_unique_address]] Weight weight;
};

/// The rank that owns v: cuts[rank] <= v < cuts[rank + 1].
[[nodiscard]] inline std::size_t owner_of(const std::vector<std::uint64_t>& cuts, Vertex v) {
  return static_cast<std::size_t>(std::upper_bound(cuts.begin() + 1, cuts.end() - 1, v) -
                                  cuts.begin()) -
         1;
}

/// Sends a record of each of this rank's `items` to the rank that owns a vertex: bring(begin, end,
/// put) calls put(vertex, record) for those of items [begin, end), and take(record) gets what comes
/// here. Both are called by all threads of the rank. Collective.
template <class Record, class Bring, class Take>
void send_to_owners(team::Team& team, const std::vector<std::uint64_t>& cuts, std::uint64_t items,
                    Bring&& bring, Take&& take) {
  exec::ThreadPool& pool = team.device().pool();
  const std::uint64_t at_once = kSentEdges * static_cast<std::uint64_t>(pool.size());
  const std::uint64_t rounds = team.all_reduce((items + at_once - 1) / at_once, exec::Maximum{});
  const auto ranks = static_cast<std::size_t>(team.size());
  const auto rank = static_cast<std::size_t>(team.rank());
  std::vector<std::vector<Record>> outgoing(ranks);
  std::mutex mutex;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t first = std::min(items, round * at_once);
    pool.parallel_for(first, std::min(items, first + at_once), kSentGrain,
                      [&](std::uint64_t begin, std::uint64_t end) {
                        std::vector<std::vector<Record>> mine(ranks);
                        bring(begin, end, [&](Vertex vertex, const Record& record) {
                          const std::size_t owner = owner_of(cuts, vertex);
                          if (owner == rank)
                            take(record);
                          else
                            mine[owner].push_back(record);
                        });
                        const std::scoped_lock lock(mutex);
                        for (std::size_t q = 0; q < ranks; ++q)
                          outgoing[q].insert(outgoing[q].end(), mine[q].begin(), mine[q].end());
                      });
    for (const std::vector<Record>& part : team.all_to_all_v(outgoing)) {
      pool.parallel_for(0, part.size(), kSentGrain, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) take(part[i]);
      });
    }
    for (auto& part : outgoing) part.clear();
  }
}

/// The rank's rows, [cuts[rank], cuts[rank + 1]), of the edges that all ranks bring: bring(begin,
/// end, put) calls put(row, target, weight) for those of items [begin, end) of `items`, the same
/// each time. They are exchanged twice: their rows, which make the offsets, then they themselves.
/// `rows` gets offsets, from 0 on, and targets; `weights` what its name says. Rows are sorted, and
/// duplicates treated as build() does: the result does not depend on who brought what. Collective.
/// Throws MemoryError.
template <class Weight, class Bring>
void gather_rows(team::Team& team, const std::vector<std::uint64_t>& cuts, std::uint64_t items,
                 Duplicates duplicates, Bring&& bring, Graph& rows,
                 memory::HostArray<Weight>& weights) {
  constexpr bool kIsWeighted = !std::is_same_v<Weight, NoWeight>;
  const auto rank = static_cast<std::size_t>(team.rank());
  const std::uint64_t first = cuts[rank], count = cuts[rank + 1] - first;
  exec::ThreadPool& pool = team.device().pool();
  rows.offsets = memory::HostArray<EdgeOffset>(count + 1, 0);
  // Shifted by one they first count, then hold where each row starts, and end as what they must be.
  EdgeOffset* const cursors = rows.offsets.data() + 1;
  const auto next = [&](Vertex row) -> EdgeOffset {
    EdgeOffset& cursor = cursors[row - first];
    if (pool.size() == 1) return cursor++;
    return std::atomic_ref<EdgeOffset>(cursor).fetch_add(1, std::memory_order_relaxed);
  };
  send_to_owners<Vertex>(
      team, cuts, items,
      [&](std::uint64_t begin, std::uint64_t end, auto&& put) {
        bring(begin, end, [&](Vertex row, Vertex, Weight) { put(row, row); });
      },
      [&](Vertex row) { (void)next(row); });
  EdgeOffset entries = 0;
  for (std::uint64_t v = 0; v < count; ++v) {
    const EdgeOffset degree = cursors[v];
    cursors[v] = entries;
    entries += degree;
  }
  rows.targets = memory::HostArray<Vertex>(entries);
  if constexpr (kIsWeighted) weights = memory::HostArray<Weight>(entries);
  using Sent = SentEdge<Weight>;
  send_to_owners<Sent>(
      team, cuts, items,
      [&](std::uint64_t begin, std::uint64_t end, auto&& put) {
        bring(begin, end, [&](Vertex row, Vertex target, Weight weight) {
          put(row, Sent{row, target, weight});
        });
      },
      [&](const Sent& sent) {
        const EdgeOffset place = next(sent.row);
        rows.targets[place] = sent.target;
        if constexpr (kIsWeighted) weights[place] = sent.weight;
      });
  if (entries == 0) return;
  Columns<Weight> columns{rows.targets.data(), nullptr};
  if constexpr (kIsWeighted) columns.weights = weights.data();
  const std::uint64_t left =
      finish_rows<Weight>(count, cuts.back(), rows.offsets.data(), columns, duplicates, pool);
  if (left == entries) return;
  rows.targets.shrink(left);
  if constexpr (kIsWeighted) weights.shrink(left);
}

}  // namespace warren::graph::detail
