// SPDX-License-Identifier: Apache-2.0
// The loss of link prediction and its gradient, and what embeddings of all vertices are worth.
#pragma once

#include "warren/learn/context.hpp"
#include "warren/learn/loss.hpp"
#include "warren/memory/global_array.hpp"

#include "learn/batch/link_batch.hpp"

namespace warren::learn {

/// mean over pairs of log(1 + exp(-x)) (true ones) and log(1 + exp(x)) (false ones), x = z_u . z_v.
class LinkLoss {
 public:
  /// From here on runs, each of at most `pairs` pairs, add up to one sum, which begins with
  /// `before`.
  void begin_batches(Context& context, std::uint64_t pairs, double before);
  /// gradient (seeds x width, may be nullptr) of the loss by `z` (seeds x width), `factor` being
  /// one over the team's pairs, times `scale` on the device (LossScale; nullptr: 1). Asynchronous;
  /// repeats bit for bit.
  void run(Context& context, const LinkPairs& links, const float* z, std::uint64_t width,
           float factor, float* gradient, const float* scale = nullptr);
  /// The same of rows of any type, which are converted, and so is the gradient.
  void run(Context& context, const LinkPairs& links, ConstNumbers z, std::uint64_t width,
           float factor, Numbers gradient, const float* scale);
  /// Of the runs, over the team. Collective. Synchronises.
  [[nodiscard]] double sum(Context& context) const;

 private:
  memory::Buffer<float> losses_, slopes_;
  memory::Buffer<double> partial_;
  double before_ = 0.0;
};

/// Rows without gaps as those of another type. Asynchronous.
void convert_rows(const exec::Stream& stream, std::uint64_t rows, std::uint64_t width,
                  ConstNumbers from, Numbers to);

/// A rank's share of the judged links of all splits, on its device.
class LinkJudge {
 public:
  /// `z`: embeddings of all vertices; it must outlive the judge.
  LinkJudge(team::Team& team, const exec::Stream& stream, const LinkDrawer& drawer,
            const memory::GlobalArray<float>& z);
  /// The memory of one alone, for dry runs (exec::DryRun).
  LinkJudge(team::Team& team, const LinkSplit& split, const memory::GlobalArray<float>& z);
  /// Of the embeddings as they are: accuracy is the area under the ROC curve of a split's true
  /// logits against all of its false ones, mrr the mean reciprocal rank, loss half the mean over
  /// true and half that over false logits. Collective, begins with a barrier. Synchronises.
  [[nodiscard]] Scores scores(Context& context);

 private:
  struct Part {
    std::uint64_t begin = 0, links = 0, all = 0;
    memory::Buffer<Vertex> sources, targets;
  };
  /// Takes the memory of this rank's share of `judged`.
  static void take(const team::Team& team, Part& part, const JudgedLinks& judged);
  [[nodiscard]] SplitScore score(Context& context, const Part& part);

  const memory::GlobalArray<float>& z_;
  std::array<Part, kSplits> splits_;
  memory::Buffer<float> logits_;
};

}  // namespace warren::learn
