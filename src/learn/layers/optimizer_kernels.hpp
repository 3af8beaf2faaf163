// SPDX-License-Identifier: Apache-2.0
// The update of one element, and the scale of the loss, for both backends.
#pragma once

#include <cmath>

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/learn/loss_scale.hpp"
#include "warren/learn/optimizer.hpp"

namespace warren::learn::detail {

/// Notes whether a gradient is not finite; a task has kEach of them.
struct OverflowKernel {
  static constexpr std::uint64_t kEach = 32;
  std::uint64_t size;
  const float* gradients;
  LossScaleState* state;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t task) const {
    const std::uint64_t first = task * kEach;
    const std::uint64_t end = first + kEach < size ? first + kEach : size;
    bool is_finite = true;
    for (std::uint64_t i = first; i < end; ++i) {
      // Of infinities and NaNs the difference is a NaN.
      const float difference = gradients[i] - gradients[i];
      is_finite = is_finite && difference == 0.0f;
    }
    if (!is_finite) exec::atomic_store(state->has_overflowed, 1u);
  }
};

/// The factor of the next step. One task.
struct LossScaleKernel {
  static constexpr float kMost = 0x1p24f;
  std::uint32_t interval;
  LossScaleState* state;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t) const {
    LossScaleState s = *state;
    if (s.has_overflowed != 0) {
      s.factor *= 0.5f;
      s.good = 0;
      ++s.skipped;
    } else if (++s.good == interval) {
      s.good = 0;
      if (s.factor * 2.0f <= kMost) s.factor *= 2.0f;
    }
    s.has_overflowed = 0;
    *state = s;
  }
};

struct UpdateKernel {
  OptimizerOptions o;
  const UpdateStep* now;
  const LossScaleState* scale;  ///< Of the gradients; nullptr: they are not scaled.
  const float* squared_length;  ///< Of all gradients; nullptr: not clipped.
  const float* gradient;
  const float* decay;  ///< Of every element, times the optimiser's.
  float* value;
  float* first;
  float* second;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    float factor = 1.0f;
    const float rate = now->rate;
    float first_share = now->correction1;
    float second_share = now->correction2;
    if (scale != nullptr) {
      if (scale->has_overflowed != 0) return;
      factor = 1.0f / scale->factor;
      if (scale->skipped != 0) {
        // Steps that did not take place do not count.
        const auto steps = static_cast<float>(now->step - scale->skipped);
        first_share = -std::expm1(steps * std::log(o.beta1));
        second_share = -std::expm1(steps * std::log(o.beta2));
      }
    }
    float g = gradient[i] * factor;
    if (squared_length != nullptr) {
      const float length = std::sqrt(*squared_length) * factor;
      if (length > o.clip) g *= o.clip / length;
    }
    const float weight_decay = o.weight_decay * decay[i];
    float v = value[i];
    if (o.kind == OptimizerKind::adamw) {
      v -= rate * weight_decay * v;
    } else {
      g += weight_decay * v;
    }
    if (o.kind == OptimizerKind::sgd) {
      first[i] = o.momentum * first[i] + g;
      value[i] = v - rate * first[i];
      return;
    }
    first[i] = o.beta1 * first[i] + (1.0f - o.beta1) * g;
    second[i] = o.beta2 * second[i] + (1.0f - o.beta2) * g * g;
    value[i] =
        v - rate * (first[i] / first_share) / (std::sqrt(second[i] / second_share) + o.epsilon);
  }
};

template <class Backend, class Kernel>
void run_update(const exec::Stream& stream, std::uint64_t count, const Kernel& kernel) {
  exec::launch<Backend, exec::Thread>(stream, count, kernel);
}

#if WARREN_HAS_CUDA
extern template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const UpdateKernel&);
extern template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const OverflowKernel&);
extern template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LossScaleKernel&);
#endif

}  // namespace warren::learn::detail
