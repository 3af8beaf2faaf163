// SPDX-License-Identifier: Apache-2.0
// Which rows the ranks of a team need of each other, found once for a graph and a partition.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/graph/partition.hpp"
#include "warren/sparse/rows.hpp"

namespace warren::sparse {

/// Rows moved in one product by each way, summed over the team.
struct Volumes {
  graph::MovedRows moved;
  graph::MovedRows between;  ///< Of these, between ranks of different workgroups.
};

/// The rows of B that each rank needs of every other to make its rows of A B.
class Exchange {
 public:
  /// Of columns that check_columns() has seen. Collective.
  Exchange(team::Team& team, const Rows& rows);

  /// Rows of B that this rank needs of others, ascending, so that those of one owner stand
  /// together.
  [[nodiscard]] const std::vector<Vertex>& halo() const { return halo_; }
  /// Where rank q's begin; size() + 1 entries.
  [[nodiscard]] const std::vector<std::uint64_t>& halo_begin() const { return halo_begin_; }
  /// Those of rank q.
  [[nodiscard]] std::span<const Vertex> halo_of(int q) const;
  /// Where column `column`, which is another's, stands in halo().
  [[nodiscard]] std::uint64_t place(Vertex column) const;
  /// This rank's entries in others' columns.
  [[nodiscard]] std::uint64_t remote_entries() const { return remote_entries_; }

  /// The volumes of every way, with workgroups of `workgroup` ranks, as graph::partition_quality()
  /// computes them from the whole graph; `cover` where asked for, since it takes matchings of all
  /// blocks, which the rows keep. Collective.
  [[nodiscard]] Volumes volumes(team::Team& team, const Rows& rows, int workgroup,
                                bool with_cover) const;

 private:
  std::vector<Vertex> halo_;
  std::vector<std::uint64_t> halo_begin_;
  std::vector<std::uint32_t> place_;  // Of every vertex that is in the halo.
  std::uint64_t remote_entries_ = 0;
};

}  // namespace warren::sparse
