// SPDX-License-Identifier: Apache-2.0
// Connected components of ranks that need windows: ranks on several hosts cannot update one forest.
// Those of a host link theirs in the first one's, which then goes to each other host as a whole: 4
// bytes for each vertex. There all its entries are linked, by each host in its own forest, which
// comes to be the same on all of them. GPUs that do not reach each other's memory are hosts of one
// rank.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/worker.hpp"

#include "traverse/components/components_state.hpp"

namespace warren::traverse {

/// A rank's forest of all vertices, and which of them are its own.
struct ComponentsRankForest {
  Vertex* parent;
  std::uint64_t vertices;
  Vertex first;
  Vertex count;
};

/// The forests of the hosts' first ranks.
struct ComponentsHosts {
  Vertex* own = nullptr;  ///< This host's, which all its ranks link in.
  const Vertex* others[kMaxRanks] = {};
  std::uint32_t count = 0;  ///< Of the others.
  std::uint32_t ranks = 1;  ///< Of this host,
  std::uint32_t rank = 0;   ///< and which of these this one is.

  /// `hang_under_root` hangs a vertex under its root in the rank's forest, and returns that.
  template <class Grid, class Hang>
  WARREN_HD void step(Grid& grid, ComponentsPhase phase, const ComponentsRankForest& forest,
                      Hang&& hang_under_root) const {
    // Whose vertices a rank takes: what it costs is the host's to share out.
    const auto begin = static_cast<Vertex>(forest.vertices * rank / ranks);
    const auto end = static_cast<Vertex>(forest.vertices * (rank + 1) / ranks);
    const auto for_share = [&](auto&& f) {
      grid.template for_each<exec::Thread>(
          end - begin, [&](auto&, std::uint64_t i) { f(begin + static_cast<Vertex>(i)); });
    };
    switch (phase) {
      case ComponentsPhase::host_join:
        if (own == forest.parent) break;
        grid.template for_each<exec::Thread>(forest.vertices, [&](auto&, std::uint64_t i) {
          const auto v = static_cast<Vertex>(i);
          if (const Vertex root = hang_under_root(v); root != v) link(root, v);
        });
        break;
      case ComponentsPhase::host_hang:
        for_share([&](Vertex v) { hang(v); });
        break;
      case ComponentsPhase::hosts_meet:
        for_share([&](Vertex v) {
          for (std::uint32_t h = 0; h < count; ++h)
            if (const Vertex above = others[h][v]; above != v) link(above, v);
        });
        break;
      case ComponentsPhase::host_settle:
        grid.template for_each<exec::Thread>(forest.count, [&](auto&, std::uint64_t i) {
          const Vertex v = forest.first + static_cast<Vertex>(i);
          exec::atomic_store(forest.parent[v], root_of(v));
        });
        break;
      default:
        break;
    }
  }

 private:
  /// Joins the trees of two vertices in the host's forest.
  WARREN_HD void link(Vertex a, Vertex b) const {
    while (a != b) {
      const Vertex high = a < b ? b : a;
      const Vertex low = a < b ? a : b;
      Vertex above = exec::atomic_load(own[high]);
      if (above == low) return;
      if (above == high && exec::atomic_compare_exchange(own[high], above, low)) return;
      a = above;
      b = low;
    }
  }
  [[nodiscard]] WARREN_HD Vertex root_of(Vertex v) const {
    for (Vertex above = exec::atomic_load(own[v]); above != v; above = exec::atomic_load(own[v]))
      v = above;
    return v;
  }
  WARREN_HD void hang(Vertex v) const {
    const Vertex root = root_of(v);
    if (root != v) exec::atomic_store(own[v], root);
  }
};

}  // namespace warren::traverse
