// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/loss_scale.hpp"

#include <cmath>

#include "warren/core/error.hpp"

#include "learn/layers/optimizer_kernels.hpp"

namespace warren::learn {
namespace {

template <class Kernel>
void run_each(const exec::Stream& stream, std::uint64_t count, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_update<decltype(backend)>(stream, count, kernel);
  });
}

}  // namespace

LossScale::LossScale(const exec::Stream& stream, const LossScaleOptions& options)
    : options_(options), state_(stream.device(), 1) {
  require(std::isfinite(options.initial) && options.initial > 0.0f,
          "a loss is scaled by a finite, positive factor");
  require(options.interval > 0, "a loss scale's interval is one update at least");
  set(stream, {.factor = options.initial});
}

void LossScale::check(const exec::Stream& stream, const float* gradients, std::uint64_t size) {
  constexpr std::uint64_t kEach = detail::OverflowKernel::kEach;
  run_each(stream, (size + kEach - 1) / kEach,
           detail::OverflowKernel{size, gradients, state_.data()});
}

void LossScale::advance(const exec::Stream& stream) {
  run_each(stream, 1, detail::LossScaleKernel{options_.interval, state_.data()});
}

LossScaleState LossScale::state(const exec::Stream& stream) const {
  return state_.to_host(stream).front();
}

void LossScale::set(const exec::Stream& stream, const LossScaleState& state) {
  state_.upload(stream, std::span(&state, 1));
  stream.synchronize();
}

}  // namespace warren::learn
