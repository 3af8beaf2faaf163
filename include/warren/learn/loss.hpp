// SPDX-License-Identifier: Apache-2.0
// Losses with their gradients, and what a split of the vertices gets right.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "warren/dataset/labels.hpp"
#include "warren/learn/context.hpp"

namespace warren::learn {

/// A rank's labels on its device.
struct Targets {
  memory::Buffer<std::int32_t> classes;         ///< rows (cross_entropy).
  memory::Buffer<float> values;                 ///< rows x columns (binary, squared).
  memory::Buffer<std::uint8_t> splits;          ///< rows, of Split.
  std::array<std::uint64_t, kSplits> counts{};  ///< Vertices of each split, over the team.
};

struct SplitScore {
  double loss = 0.0;      ///< Mean over the split's vertices.
  double accuracy = 0.0;  ///< Share of right vertices, or F1; of links the area under ROC.
  double mrr = 0.0;       ///< Of links: the mean reciprocal rank.
};
using Scores = std::array<SplitScore, kSplits>;  ///< By split, training first.

class Loss {
 public:
  explicit Loss(LossKind kind) : kind_(kind) {}
  /// Factors of the losses of training vertices by their classes; none: 1. Synchronises.
  void weigh(const exec::Stream& stream, const std::vector<float>& by_class);
  /// From here on runs, each of at most `rows` rows, add up to one result, which begins with
  /// `sums`: what sums() told elsewhere.
  using Sums = std::array<double, kSplits * 3>;
  void begin_batches(Context& context, std::uint64_t rows, const Sums& sums = {});
  /// Of the runs added up, over the team. Collective. Synchronises.
  [[nodiscard]] Sums sums(Context& context) const;
  /// gradient (rows x columns, may be nullptr) of the mean loss over the team's training vertices
  /// by `scores` (rows x columns), both of one type, and what result() tells; the gradient times
  /// *factor (on the device; nullptr: 1). Computed in float32. Asynchronous; repeats bit for bit.
  /// `share`: one over the training vertices where the device has it, so that captured runs read
  /// it anew; nullptr: as targets.counts says.
  void run(Context& context, const Targets& targets, ConstNumbers scores, std::uint64_t columns,
           Numbers gradient, const float* factor = nullptr, const float* share = nullptr);
  /// One over `training` vertices; of none 0.
  [[nodiscard]] static float share_of(std::uint64_t training) {
    return training == 0 ? 0.0f : 1.0f / static_cast<float>(training);
  }
  /// Of the last run, over the team: the same on every rank. Collective. Synchronises.
  [[nodiscard]] Scores result(Context& context, const Targets& targets) const;

 private:
  void take(const exec::Device& device, std::uint64_t rows);

  LossKind kind_;
  memory::Buffer<float> factors_;   // By class.
  memory::Buffer<float> rows_;      // Loss, right, wrong of each row.
  memory::Buffer<double> partial_;  // Of chunks of rows, by split.
  std::uint64_t chunks_ = 0;
  bool adds_ = false;
  Sums before_{};
};

}  // namespace warren::learn
