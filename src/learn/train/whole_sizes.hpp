// SPDX-License-Identifier: Apache-2.0
// How large the ranks' parts of a graph and its dataset are.
#pragma once

#include <vector>

#include "learn/train/trainer_parts.hpp"

namespace warren::learn {

/// Of each rank, on devices like `device`, for a model's layers. Goes through the edges where there
/// are several ranks, on the host's threads. Throws UsageError for a graph that is no pair
/// (GraphPair::is_symmetric()).
[[nodiscard]] std::vector<WholeSizes> whole_sizes(const exec::Device& device,
                                                  const GraphPair& graphs, const Dataset& dataset,
                                                  const ModelOptions& model);

}  // namespace warren::learn
