// SPDX-License-Identifier: Apache-2.0
// Dynamic loss scaling (Micikevicius et al., "Mixed Precision Training", ICLR 2018, section 3.2):
// float16 ends at 6e-8, which gradients fall below; so the loss is multiplied by a factor before
// gradients are taken, and the parameters' gradients, which are float32, are divided by it before
// they are used.
#pragma once

#include <cstdint>

#include "warren/learn/parameters.hpp"

namespace warren::learn {

struct LossScaleOptions {
  float initial = 65536.0f;
  std::uint32_t interval = 2000;  ///< Updates in a row after which the factor doubles.
};

/// What a checkpoint keeps of it.
struct LossScaleState {
  float factor = 1.0f;
  std::uint32_t good = 0;     ///< Updates since the factor changed.
  std::uint32_t skipped = 0;  ///< In all.
  std::uint32_t has_overflowed = 0;
};

/// Stands on the device: no step waits for the host. Gradients that are not finite halve the
/// factor, and their update does not take place; `interval` updates in a row double it, up to 2^24.
/// Ranks whose gradients have the same bits stay the same.
class LossScale {
 public:
  /// Synchronises. Throws MemoryError, UsageError for a factor that is not finite and positive or
  /// an interval of 0.
  LossScale(const exec::Stream& stream, const LossScaleOptions& options);

  /// On the device: what the gradient of the loss is to be multiplied by.
  [[nodiscard]] const float* factor() const { return &state_.data()->factor; }
  [[nodiscard]] const LossScaleState* device_state() const { return state_.data(); }
  /// Looks for gradients that are not finite, before the update; asynchronous, as advance(), which
  /// follows it.
  void check(const exec::Stream& stream, const float* gradients, std::uint64_t size);
  void advance(const exec::Stream& stream);

  /// Synchronise.
  [[nodiscard]] LossScaleState state(const exec::Stream& stream) const;
  void set(const exec::Stream& stream, const LossScaleState& state);

 private:
  LossScaleOptions options_;
  memory::Buffer<LossScaleState> state_;
};

}  // namespace warren::learn
