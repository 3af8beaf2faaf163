// SPDX-License-Identifier: Apache-2.0
// What the ranks of an SSSP tell each other: ids of vertices that were improved. The owner reads
// the distance in the sender's words after the barrier, or beside the id, where the sender has put
// it: words over a link are read one at a time, a list as a whole. `parity`: of the slot that
// relaxed.
#pragma once

#include <vector>

#include "traverse/common/bitmap.hpp"

namespace warren::traverse {

/// Where a step's remote updates go.
struct SsspSendBuffer {
  Vertex* list = nullptr;          ///< Updates for rank q from index cuts[q].
  std::uint64_t* count = nullptr;  ///< [kMaxRanks], of the slot's parity.
  const std::uint64_t* cuts = nullptr;
  int ranks = 1;

  /// Sends the lanes' vertices, where they have one, to their owners. The lanes reserve room
  /// together, once for each owner.
  template <class W>
  WARREN_HD void put(const W& worker, bool has, Vertex to) const {
    int owner = 0;
    WARREN_ROLLED
    for (int p = 1; p < ranks; ++p) owner += to >= cuts[p] ? 1 : 0;
    WARREN_ROLLED
    for (int q = 0; q < ranks; ++q) {
      const bool mine = has && owner == q;
      if (!worker.any(mine)) continue;
      const std::uint32_t before = worker.exclusive_scan(mine ? 1u : 0u);
      std::uint64_t base = 0;
      if (worker.lane() == worker.size() - 1)
        base = exec::atomic_add(count[q], std::uint64_t{before} + (mine ? 1u : 0u));
      base = worker.broadcast(base, worker.size() - 1) + before;
      if (mine) list[cuts[q] + base] = to;
    }
  }
};

/// f(worker, vertex, distance) for what other ranks relax of this one, by whole warps, with
/// kUnreached for nothing: the tasks are their updates, laid end to end. `is_beside`: distances are
/// beside the ids.
template <class Grid, class Program, class F>
WARREN_HD void for_updates(Grid& grid, const Program& program, std::uint32_t parity, bool is_beside,
                           F&& f) {
  using WarpType = typename Grid::Warp;
  using Metric = typename Program::Metric;
  constexpr std::uint32_t kLanes = Grid::kWarpLanes;
  const auto tasks_of = [&](int p) -> std::uint64_t {
    if (p == program.rank) return 0;
    return (program.update_count(p, program.rank, parity) + kLanes - 1) / kLanes;
  };
  std::uint64_t tasks = 0;
  for (int p = 0; p < program.ranks; ++p) tasks += tasks_of(p);
  grid.template for_each<exec::Warp>(tasks, [&](const WarpType& worker, std::uint64_t task) {
    int p = 0;
    for (std::uint64_t here = tasks_of(0); task >= here; here = tasks_of(p)) {
      task -= here;
      ++p;
    }
    const std::uint64_t index = task * kLanes + worker.lane();
    const bool has = index < program.update_count(p, program.rank, parity);
    Vertex to = 0;
    typename Metric::Word distance = Metric::kUnreached;
    if (has) {
      to = program.send_buffer_of[p][program.cuts[program.rank] + index];
      distance = is_beside ? program.sent_distances_of[p][program.cuts[program.rank] + index]
                           : program.distance_of[p][to];
    }
    f(worker, to, distance);
  });
}

/// Puts the distances of what is sent beside the ids.
template <class Word>
struct SendDistances {
  const Vertex* updates;
  const Word* distance;
  Word* sent_distances;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    sent_distances[i] = distance[updates[i]];
  }
};

/// Of ranks that need windows: ids and distances.
template <class Program, class Show>
void show_updates(const Program& program, std::uint32_t parity, Show&& show) {
  const std::uint64_t* counts = program.update_counts + std::uint64_t{parity} * kMaxRanks;
  const auto ranks = static_cast<std::uint64_t>(program.ranks);
  const std::vector<std::uint64_t> count = show.read(counts, ranks);
  for (std::uint64_t q = 0; q < ranks; ++q) {
    if (static_cast<int>(q) == program.rank) continue;
    const Vertex* updates = program.send_buffer + program.cuts[q];
    auto* const sent_distances = program.sent_distances + program.cuts[q];
    show.run(count[q],
             SendDistances<typename Program::Word>{updates, program.distance, sent_distances});
    show(static_cast<int>(q), counts + q, sizeof *counts);
    show(static_cast<int>(q), updates, count[q] * sizeof *updates);
    show(static_cast<int>(q), sent_distances, count[q] * sizeof *sent_distances);
  }
}

/// Puts the distances of this rank's updates beside their ids, after the step that sent: a vertex
/// that was improved twice has its last distance. What was sent may be sent again.
template <class Grid, class Program>
WARREN_HD void tell_distances(Grid& grid, const Program& program, std::uint32_t parity) {
  for (int q = 0; q < program.ranks; ++q) {
    grid.template for_each<exec::Thread>(
        program.update_count(program.rank, q, parity), [&](auto&, std::uint64_t i) {
          const Vertex v = program.send_buffer[program.cuts[q] + i];
          program.sent_distances[program.cuts[q] + i] = program.distance[v];
          exec::atomic_store(program.sent[v / kWordBits], BitmapWord{0});
        });
  }
}

/// The senders' part: what was sent may be sent again.
template <class Grid, class Program>
WARREN_HD void clear_sent(Grid& grid, const Program& program, std::uint32_t parity) {
  for (int q = 0; q < program.ranks; ++q) {
    grid.template for_each<exec::Thread>(
        program.update_count(program.rank, q, parity), [&](auto&, std::uint64_t i) {
          const Vertex v = program.send_buffer[program.cuts[q] + i];
          exec::atomic_store(program.sent[v / kWordBits], BitmapWord{0});
        });
  }
}

}  // namespace warren::traverse
