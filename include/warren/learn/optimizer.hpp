// SPDX-License-Identifier: Apache-2.0
// Updates of parameters by their gradients.
#pragma once

#include <cstdint>
#include <string>

#include "warren/learn/elementwise.hpp"
#include "warren/learn/loss_scale.hpp"
#include "warren/learn/parameters.hpp"

namespace warren::learn {

enum class OptimizerKind {
  sgd,   ///< With momentum.
  adam,  ///< Kingma and Ba, ICLR 2015; weight decay is added to the gradient.
  adamw  ///< Loshchilov and Hutter, ICLR 2019; weight decay shrinks the value.
};

enum class Schedule {
  constant,
  cosine,  ///< Half a cosine from the rate to 0.
  step     ///< A tenth after each third of the epochs.
};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  float rate = 0.01f;
  float weight_decay = 5e-4f;  ///< Times Parameter::decay.
  float momentum = 0.9f;       ///< SGD's.
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  float clip = 0.0f;  ///< Largest length of all gradients together; 0: any.
  Schedule schedule = Schedule::constant;
  std::uint64_t warmup = 0;  ///< Epochs over which the rate rises from 0.
};

/// Of `epoch`, counted from 0, of `epochs`.
[[nodiscard]] float rate_at(const OptimizerOptions& options, std::uint64_t epoch,
                            std::uint64_t epochs);

/// What updates read from the device: it changes from step to step.
struct UpdateStep {
  std::uint64_t step = 0;  ///< From 1.
  float rate = 0.0f;
  float correction1 = 0.0f, correction2 = 0.0f;  ///< 1 - beta^step.
};

class Optimizer {
 public:
  /// Throws MemoryError.
  Optimizer(const exec::Stream& stream, const OptimizerOptions& options, Parameters& parameters);
  /// One update, the `step`-th from 1, in one launch (two with clipping). Asynchronous;
  /// deterministic: equal gradients make equal parameters. Gradients that are scaled are looked at
  /// first: where one is not finite nothing changes but the scale, and the step does not count.
  void update(const exec::Stream& stream, std::uint64_t step, float rate,
              LossScale* scale = nullptr) {
    begin(stream, step, rate);
    update(stream, scale);
  }
  /// update() in two: what the step is; and the update, which calls the same kernels with the same
  /// arguments for every step.
  void begin(const exec::Stream& stream, std::uint64_t step, float rate);
  void update(const exec::Stream& stream, LossScale* scale);
  /// Means of gradients and of their squares (SGD: velocities alone): what goes on from a
  /// checkpoint.
  [[nodiscard]] memory::Buffer<float>& first() { return first_; }
  [[nodiscard]] memory::Buffer<float>& second() { return second_; }

 private:
  OptimizerOptions options_;
  Parameters& parameters_;
  memory::Buffer<float> first_, second_, length_;
  memory::Buffer<UpdateStep> step_;
  ColumnSums sums_;
};

}  // namespace warren::learn
