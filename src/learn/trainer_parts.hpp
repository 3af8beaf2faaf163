// SPDX-License-Identifier: Apache-2.0
// What a trainer holds, for training and for checkpoints.
#pragma once

#include "warren/learn/trainer.hpp"

namespace warren::learn {

struct Trainer::Parts {
  Parts(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
        const TrainOptions& given);
  /// Keeps the parameters of an epoch that is the best so far.
  void note(const EpochRecord& record);

  struct Progress {
    std::uint64_t epochs = 0, best_epoch = 0;
    double best_validation = 0.0, best_loss = 0.0, test_accuracy = 0.0;
  };

  TrainOptions options;
  Context context;
  Model model;
  Features features;
  Targets targets;
  Loss training_loss, evaluation_loss;
  Optimizer optimizer;
  memory::Buffer<float> best;
  exec::Event begin, end;
  Progress progress;
};

}  // namespace warren::learn
