// SPDX-License-Identifier: Apache-2.0
// Rows that cross between ranks in one distributed product, counted entry by entry with sets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "warren/graph/graph.hpp"

namespace warren::reference {

struct Volumes {
  std::uint64_t broadcast = 0, per_edge = 0, once = 0, fused = 0, cover = 0;
};

/// `graph` with rank p owning [cuts[p], cuts[p + 1]), in workgroups of `group` ranks: all rows, and
/// those between workgroups.
inline std::pair<Volumes, Volumes> volumes(const graph::Graph& graph,
                                           const std::vector<std::uint64_t>& cuts,
                                           std::size_t group) {
  const std::size_t ranks = cuts.size() - 1;
  const auto owner = [&](Vertex v) {
    std::size_t q = 0;
    while (v >= cuts[q + 1]) ++q;
    return q;
  };
  Volumes all;
  Volumes between;
  std::set<std::pair<std::size_t, Vertex>> once;                 // (rank, row that it reads)
  std::set<std::tuple<std::size_t, std::size_t, Vertex>> fused;  // (from, to, row)
  std::map<std::pair<std::size_t, std::size_t>, std::map<Vertex, std::set<Vertex>>> blocks;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const std::size_t p = owner(v);
    for (const Vertex u : graph.neighbours(v)) {
      const std::size_t q = owner(u);
      if (p == q) continue;
      const bool is_far = p / group != q / group;
      ++all.per_edge;
      between.per_edge += is_far ? 1 : 0;
      once.emplace(p, u);
      blocks[{p, q}][v].insert(u);
      if (is_far) {
        const std::size_t counterpart = p / group * group + q % group;
        fused.emplace(q, counterpart, u);
        if (counterpart != p) fused.emplace(counterpart, p, u);
      } else {
        fused.emplace(q, p, u);
      }
    }
  }
  for (const auto& [p, u] : once) {
    ++all.once;
    between.once += p / group != owner(u) / group ? 1 : 0;
  }
  for (const auto& [from, to, row] : fused) {
    ++all.fused;
    between.fused += from / group != to / group ? 1 : 0;
  }
  for (std::size_t p = 0; p < ranks; ++p) {
    for (std::size_t q = 0; q < ranks; ++q) {
      const std::uint64_t rows = p == q ? 0 : cuts[q + 1] - cuts[q];
      all.broadcast += rows;
      between.broadcast += p / group != q / group ? rows : 0;
    }
  }
  for (const auto& block : blocks) {
    const auto& [pair, rows_of_pair] = block;
    const auto& rows = rows_of_pair;
    // As large as a largest matching (Koenig): one augmenting path after the other.
    std::map<Vertex, Vertex> of_column;
    for (const auto& [row, unused] : rows) {
      (void)unused;
      std::set<Vertex> seen;
      const std::function<bool(Vertex)> augment = [&](Vertex r) {
        for (const Vertex c : rows.at(r)) {
          if (!seen.insert(c).second) continue;
          const auto found = of_column.find(c);
          if (found != of_column.end() && !augment(found->second)) continue;
          of_column[c] = r;
          return true;
        }
        return false;
      };
      (void)augment(row);
    }
    all.cover += of_column.size();
    between.cover += pair.first / group != pair.second / group ? of_column.size() : 0;
  }
  return {all, between};
}

}  // namespace warren::reference
