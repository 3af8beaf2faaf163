// SPDX-License-Identifier: Apache-2.0
// Which rows of features in host memory devices keep.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/learn/trainer.hpp"
#include "warren/sample/graph_store.hpp"

namespace warren::learn {

/// Rows (ids in the store), as many as `options` say, none where features are not in host memory;
/// the same on all ranks. `seeds`: the most of a batch. Collective; synchronises. Deterministic.
[[nodiscard]] std::vector<std::uint64_t> hot_features(Context& context, const GraphPair& graphs,
                                                      const Dataset& dataset,
                                                      const sample::GraphStore& store,
                                                      const TrainOptions& options,
                                                      std::uint64_t seeds);

}  // namespace warren::learn
