// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/optimizer.hpp"

#include <cmath>
#include <numbers>

#include "learn/layers/optimizer_kernels.hpp"
#include "learn/rows/set_kernel.hpp"

namespace warren::learn {

float rate_at(const OptimizerOptions& options, std::uint64_t epoch, std::uint64_t epochs) {
  double rate = static_cast<double>(options.rate);
  if (epoch < options.warmup)
    rate *= static_cast<double>(epoch + 1) / static_cast<double>(options.warmup);
  const double share =
      static_cast<double>(epoch) / static_cast<double>(std::max<std::uint64_t>(1, epochs));
  if (options.schedule == Schedule::cosine) rate *= 0.5 + 0.5 * std::cos(std::numbers::pi * share);
  if (options.schedule == Schedule::step) rate *= std::pow(0.1, std::floor(3.0 * share));
  return static_cast<float>(rate);
}

Optimizer::Optimizer(const exec::Stream& stream, const OptimizerOptions& options,
                     Parameters& parameters)
    : options_(options), parameters_(parameters), step_(stream.device(), 1) {
  first_ = memory::Buffer<float>(stream.device(), parameters.size());
  exec::fill_bytes(stream, first_.data(), 0, first_.bytes());
  if (options.kind != OptimizerKind::sgd)
    second_ = memory::Buffer<float>(stream.device(), parameters.size());
  exec::fill_bytes(stream, second_.data(), 0, second_.bytes());
  if (options.clip > 0.0f) length_ = memory::Buffer<float>(stream.device(), 1);
}

void Optimizer::begin(const exec::Stream& stream, std::uint64_t step, float rate) {
  const auto correction = [&](float beta) {
    return static_cast<float>(1.0 - std::pow(static_cast<double>(beta), static_cast<double>(step)));
  };
  detail::set_value(stream,
                    UpdateStep{.step = step,
                               .rate = rate,
                               .correction1 = correction(options_.beta1),
                               .correction2 = correction(options_.beta2)},
                    step_.data());
}

void Optimizer::update(const exec::Stream& stream, LossScale* scale) {
  const std::uint64_t size = parameters_.size();
  const float* gradient = parameters_.gradients().data();
  if (scale != nullptr) scale->check(stream, gradient, size);
  if (options_.clip > 0.0f) {
    exec::fill_bytes(stream, length_.data(), 0, length_.bytes());
    sums_.add_all(stream, {.k = 1, .a = gradient, .b = gradient}, size, length_.data());
  }
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_update<decltype(backend)>(
        stream, size,
        detail::UpdateKernel{options_, step_.data(),
                             scale == nullptr ? nullptr : scale->device_state(), length_.data(),
                             gradient, parameters_.decay_factors(), parameters_.values().data(),
                             first_.data(), second_.data()});
  });
  if (scale != nullptr) scale->advance(stream);
}

}  // namespace warren::learn
