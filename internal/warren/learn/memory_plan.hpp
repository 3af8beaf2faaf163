// SPDX-License-Identifier: Apache-2.0
// What a training will hold in memory, before it takes any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "warren/exec/device.hpp"
#include "warren/learn/trainer.hpp"

namespace warren::learn {

struct MemoryPlan {
  std::vector<std::pair<std::string, std::uint64_t>> parts;  ///< Bytes by purpose.
  /// Bytes that ModelOptions::recompute leaves out, or has left out; 0 of batches, which keep
  /// little.
  std::uint64_t recompute_saves = 0;
  /// Options of `train` that need less, those that change nothing else first, and the total with
  /// each.
  std::vector<std::pair<std::string, std::uint64_t>> alternatives;
  /// What else would help, where none of them does.
  std::string otherwise =
      "a smaller --hidden or fewer --layers need less, and on GPUs each of --devices N holds a "
      "part";
  [[nodiscard]] std::uint64_t total() const;
  /// "outputs 2.50 GiB, features 1.00 GiB, ...", the largest first.
  [[nodiscard]] std::string text() const;
};

/// Of the rank that holds most, on devices like `device` (nothing: a CPU whose threads the ranks
/// share): what a training epoch and an evaluation take, which are run dry (exec::DryRun); of
/// strategies, and of sampled batches, what their sizes say at most. Goes through the edges where
/// there are several ranks. Throws UsageError for options that make no model.
[[nodiscard]] MemoryPlan plan_memory(const GraphPair& graphs, const Dataset& dataset,
                                     const TrainOptions& options,
                                     const std::optional<exec::Device>& device = std::nullopt);
/// The same of predictions by a model over the whole graph, without a backward pass and without
/// other options that need less: what Trainer::evaluate(), predict() and embed() take.
[[nodiscard]] MemoryPlan plan_prediction(const GraphPair& graphs, const Dataset& dataset,
                                         const TrainOptions& options,
                                         const std::optional<exec::Device>& device = std::nullopt);
/// Where features of sampled batches lie best: on each device (replicated) where `ranks` are
/// several and all rows fill no more than a sixteenth of `memory`, so that none comes over a link;
/// else spread over the devices. `memory`: bytes that a rank has of its own (of its GPU); 0 where
/// ranks share one.
[[nodiscard]] memory::Placement features_placement(std::uint64_t memory, int ranks,
                                                   const Dataset& dataset, NumberType type);
/// Whether each device should have all lists that are sampled (SampledOptions::replicate_edges): by
/// the same rule, of lists on devices. `options` are of sampled training.
[[nodiscard]] bool edges_are_replicated(std::uint64_t memory, int ranks, const graph::Graph& graph,
                                        const TrainOptions& options);
/// Throws MemoryError with the plan, and the first alternative that would fit (else what helps
/// otherwise), where `ranks` such parts on `device` (all of them on the CPU, one on each GPU) are
/// more than is free.
void check_memory(const MemoryPlan& plan, const exec::Device& device, int ranks);

}  // namespace warren::learn
