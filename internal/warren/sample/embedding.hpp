// SPDX-License-Identifier: Apache-2.0
// Learnable rows over a team: gradients of sampled rows are added up where the rows live, and an
// optimiser steps the touched rows alone.
#pragma once

#include <cstdint>

#include "warren/memory/global_array.hpp"

namespace warren::sample {

/// How a step moves a row x with its gradient g; t counts the steps from 1.
struct SparseOptimizer {
  enum class Kind {
    sgd,      ///< x -= lr g
    adagrad,  ///< s += g^2; x -= lr g / (sqrt(s) + epsilon) (Duchi, Hazan and Singer 2011)
    adam  ///< m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; x -= lr m' / (sqrt(v') + epsilon),
          ///< m' = m / (1 - b1^t), v' = v / (1 - b2^t) (Kingma and Ba 2015), lazily: the moments
          ///< of rows that are not touched stay.
  };
  Kind kind = Kind::sgd;
  float learning_rate = 0.01f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
};

/// A table of float32 rows with the state of its optimiser; both live where the rows do.
class Embedding {
 public:
  /// rows = cuts.back() of `width`, zeros. Takes the table's size twice (SGD), three times
  /// (AdaGrad) or four times (Adam), and 8 bytes a row. Collective. Throws as memory::GlobalArray,
  /// UsageError for a replicated placement and for rates that are not above 0 or, of the betas, not
  /// in [0, 1).
  Embedding(team::Team& team, std::span<const std::uint64_t> cuts, std::uint64_t width,
            const SparseOptimizer& optimizer,
            memory::Placement placement = memory::Placement::device);

  [[nodiscard]] memory::GlobalArray<float>& table() { return table_; }
  [[nodiscard]] const memory::GlobalArray<float>& table() const { return table_; }
  /// Steps so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  /// gradient[rows[i]][:] += gradients[i][:] for i < count, on any rank's rows; each rank with its
  /// own list (on the stream's device), in which rows may come more than once. Rows out of range
  /// are skipped. The order of the additions is not fixed: results repeat up to rounding.
  /// Asynchronous, not collective.
  void add_gradients(const exec::Stream& stream, const Vertex* rows, std::uint64_t count,
                     const float* gradients);

  /// One step of the rows that have gradients since the last one, each rank stepping its own; their
  /// gradients are 0 then. Collective: all ranks' additions are in it. Synchronises.
  void step(team::Team& team, const exec::Stream& stream);

 private:
  SparseOptimizer optimizer_;
  memory::GlobalArray<float> table_;
  memory::GlobalArray<float> gradients_;
  memory::GlobalArray<std::uint32_t> touched_;  ///< Of each row: 1 where it is in the list.
  memory::GlobalArray<std::uint32_t> list_;     ///< Of each rank: its touched rows, first ones.
  memory::GlobalArray<std::uint32_t> listed_;   ///< Of each rank: how many they are.
  memory::Buffer<float> first_moment_;
  memory::Buffer<float> second_moment_;
  std::uint64_t steps_ = 0;
};

}  // namespace warren::sample
