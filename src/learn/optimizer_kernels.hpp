// SPDX-License-Identifier: Apache-2.0
// The update of one element, for both backends.
#pragma once

#include <cmath>

#include "warren/exec/launch.hpp"
#include "warren/learn/optimizer.hpp"

namespace warren::learn::detail {

struct UpdateKernel {
  OptimizerOptions o;
  float rate;
  float correction1, correction2;  ///< 1 - beta^step.
  const float* squared_length;     ///< Of all gradients; nullptr: not clipped.
  const float* gradient;
  const float* decays;
  float* value;
  float* first;
  float* second;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    float g = gradient[i];
    if (squared_length != nullptr) {
      const float length = std::sqrt(*squared_length);
      if (length > o.clip) g *= o.clip / length;
    }
    const float decay = o.weight_decay * decays[i];
    float v = value[i];
    if (o.kind == OptimizerKind::adamw) {
      v -= rate * decay * v;
    } else {
      g += decay * v;
    }
    if (o.kind == OptimizerKind::sgd) {
      first[i] = o.momentum * first[i] + g;
      value[i] = v - rate * first[i];
      return;
    }
    first[i] = o.beta1 * first[i] + (1.0f - o.beta1) * g;
    second[i] = o.beta2 * second[i] + (1.0f - o.beta2) * g * g;
    value[i] =
        v - rate * (first[i] / correction1) / (std::sqrt(second[i] / correction2) + o.epsilon);
  }
};

template <class Backend, class Kernel>
void run_update(const exec::Stream& stream, std::uint64_t count, const Kernel& kernel) {
  exec::launch<Backend, exec::Thread>(stream, count, kernel);
}

#if WARREN_HAS_CUDA
extern template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const UpdateKernel&);
#endif

}  // namespace warren::learn::detail
