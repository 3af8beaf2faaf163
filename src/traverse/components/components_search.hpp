// SPDX-License-Identifier: Apache-2.0
// Connected components by a search, as the host sees them: whether it can run, its memory, a run.
#pragma once

#include "warren/memory/global_array.hpp"
#include "warren/traverse/components.hpp"

#include "traverse/bfs/bfs_memory.hpp"
#include "traverse/components/components_search_program.hpp"

namespace warren::traverse {

class ComponentsSearch {
 public:
  /// A search of the shard, where `options` ask for one, or leave the choice and it is likely to be
  /// faster; else nullptr. `stream` is synchronised. Collective, the same on all ranks. Throws
  /// UsageError where a search is asked for and cannot run, MemoryError.
  [[nodiscard]] static std::unique_ptr<ComponentsSearch> make(team::Team& team,
                                                              const graph::Shard& shard,
                                                              const ComponentsOptions& options,
                                                              const exec::Stream& stream);

  /// By make(). Collective.
  ComponentsSearch(team::Team& team, const graph::Shard& shard, const ComponentsStart& start,
                   bool may_give_up, const exec::Stream& stream);

  /// The labels of own vertices go to each rank's part of `labels`, unless the last state has given
  /// up. Collective, synchronous.
  ComponentsSearchState run(team::Team& team, const exec::Stream& stream,
                            const memory::GlobalView<Vertex>& labels);

 private:
  BfsMemory memory_;
  memory::Buffer<ComponentsReached> reached_;
  ComponentsSearchProgram program_;
  ComponentsSearchState initial_;
};

}  // namespace warren::traverse
