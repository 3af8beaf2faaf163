// SPDX-License-Identifier: Apache-2.0
// All ranks' rows on the first rank's device, for what one rank does faster than all together:
// levels so short that a barrier of all ranks takes longer.
#pragma once

#include <memory>

#include "warren/graph/shard.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

class WholeGraph {
 public:
  /// Copies the out-lists of all ranks, whose edges are in memory that the first one's device
  /// reaches; a symmetric graph's are its in-lists, too. Collective. Throws MemoryError.
  WholeGraph(team::Team& team, const graph::Shard& shard, const exec::Stream& stream);

  /// Whether this is the rank that has it.
  [[nodiscard]] bool is_here() const { return alone_ != nullptr; }
  /// That rank's team of one, and the graph as that team's shard.
  [[nodiscard]] team::Team& alone() const { return *alone_; }
  [[nodiscard]] const graph::Shard& shard() const { return shard_; }

  /// Of the first rank's device.
  [[nodiscard]] static std::uint64_t bytes(const graph::Shard& shard) {
    return (shard.vertices + 1) * sizeof(EdgeOffset) + shard.edges * sizeof(Vertex);
  }

 private:
  std::unique_ptr<team::Team> alone_;
  memory::Buffer<EdgeOffset> offsets_;
  memory::Buffer<Vertex> targets_;
  graph::Shard shard_;
};

}  // namespace warren::traverse
