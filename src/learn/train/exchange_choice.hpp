// SPDX-License-Identifier: Apache-2.0
// Which way rows of other ranks enter a training's sums over neighbours: as it was asked for, or by
// trying ways in the first epochs.
#pragma once

#include <algorithm>
#include <optional>

#include "warren/learn/trainer.hpp"

namespace warren::learn {

class ExchangeChoice {
 public:
  /// Sets what the options ask for. Collective. Throws UsageError where the team has no such way.
  ExchangeChoice(Context& context, Model& model, const ExchangeOptions& options);

  [[nodiscard]] const ExchangeReport& report() const { return report_; }
  /// How long the next epoch of those that try took, the same on all ranks; sets what comes next.
  /// Collective.
  void took(double seconds);

 private:
  void use(const sparse::DistributedOptions& product);
  void take_tuning();

  /// Epochs by each way: the first takes memory, and the third may be captured.
  static constexpr int kEpochsEach = 3;

  Context& context_;
  Model& model_;
  ExchangeReport report_;
  std::optional<sparse::IterationTuner> tuner_;  // While ways are tried.
  std::uint64_t epochs_ = 0;                     // That tried some.
  double least_ = 0.0;                           // Seconds of the present way's, but the first.
};

}  // namespace warren::learn
