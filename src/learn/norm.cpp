// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/norm.hpp"

#include <algorithm>

#include "warren/exec/memory.hpp"

#include "learn/norm_kernels.hpp"

namespace warren::learn {
namespace {

template <class Kernel>
void run(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_kernel<decltype(backend)>(stream, tasks, kernel);
  });
}

void keep(const exec::Device& device, memory::Buffer<float>& buffer, std::uint64_t size) {
  if (buffer.size() >= size) return;
  buffer.reset();
  buffer = memory::Buffer<float>(device, size);
}

}  // namespace

Norm::Norm(Parameters& parameters, NormKind kind, const std::string& name, std::uint64_t width)
    : parameters_(parameters), kind_(kind), width_(width) {
  if (kind == NormKind::none) return;
  const auto add = [&](const char* what, Initial initial) {
    return parameters.add(
        {.name = name + what, .rows = 1, .columns = width, .initial = initial, .decays = false});
  };
  weight_ = add(".weight", Initial::ones);
  if (kind != NormKind::batch) return;
  // Without gradients they stay as they are set, and are kept with the parameters.
  mean_ = add(".mean", Initial::zeros);
  variance_ = add(".variance", Initial::ones);
}

void Norm::sum_over_ranks(Context& context, float* sums) const {
  if (context.team().size() == 1) return;
  context.measured(Part::communicate, [&] {
    context.team().all_reduce(context.stream(), sums, sums, width_, team::DataType::float32,
                              team::ReduceOp::sum);
  });
}

void Norm::forward(Context& context, std::uint64_t n, float* x) {
  if (kind_ == NormKind::none) return;
  const exec::Stream& stream = context.stream();
  const exec::Device& device = stream.device();
  const float* weight = parameters_.value(weight_);
  if (kind_ == NormKind::layer) {
    keep(device, normal_, n * width_);
    keep(device, statistics_, n + 2 * width_);
    return run(stream, n,
               detail::LayerNormKernel{width_, weight, x, normal_.data(), statistics_.data()});
  }
  if (!context.is_training()) {
    run(stream, n, detail::CenterKernel{width_, parameters_.value(mean_), 1.0f, x});
    return run(stream, n,
               detail::ScaleKernel{width_, parameters_.value(variance_), 1.0f, weight, x, nullptr});
  }
  if (count_ == 0 || context.is_in_batches()) {
    std::uint64_t rows[] = {n};
    context.team().sum(rows);
    count_ = rows[0];
  }
  keep(device, normal_, n * width_);
  keep(device, statistics_, 4 * width_);
  float* sums = statistics_.data();
  float* squares = sums + width_;
  const float share = 1.0f / static_cast<float>(std::max<std::uint64_t>(1, count_));
  exec::fill_bytes(stream, sums, 0, 2 * width_ * sizeof(float));
  sums_.add(stream, {.k = width_, .a = x}, n, sums);
  sum_over_ranks(context, sums);
  run(stream, n, detail::CenterKernel{width_, sums, share, x});
  sums_.add(stream, {.k = width_, .a = x, .b = x}, n, squares);
  sum_over_ranks(context, squares);
  run(stream, n, detail::ScaleKernel{width_, squares, share, weight, x, normal_.data()});
  const float unbiased = 1.0f / static_cast<float>(std::max<std::uint64_t>(2, count_) - 1);
  run(stream, 1,
      detail::RunningKernel{width_, sums, squares, share, unbiased, parameters_.value(mean_),
                            parameters_.value(variance_)});
}

void Norm::backward(Context& context, std::uint64_t n, float* dy) {
  if (kind_ == NormKind::none) return;
  const exec::Stream& stream = context.stream();
  const float* weight = parameters_.value(weight_);
  if (kind_ == NormKind::layer) {
    sums_.add(stream, {.k = width_, .a = dy, .b = normal_.data()}, n,
              parameters_.gradient(weight_));
    return run(stream, n,
               detail::LayerBackwardKernel{width_, weight, normal_.data(), statistics_.data(), dy});
  }
  float* squares = statistics_.data() + width_;
  float* sums = squares + width_;
  float* products = sums + width_;
  exec::fill_bytes(stream, sums, 0, 2 * width_ * sizeof(float));
  sums_.add(stream, {.k = width_, .a = dy}, n, sums);
  sums_.add(stream, {.k = width_, .a = dy, .b = normal_.data()}, n, products);
  // Gradients are summed over the ranks later: each gives its own part.
  add_self(stream, 1, width_, nullptr, products, parameters_.gradient(weight_));
  sum_over_ranks(context, sums);
  sum_over_ranks(context, products);
  run(stream, n,
      detail::BatchBackwardKernel{width_, squares, sums, products,
                                  1.0f / static_cast<float>(std::max<std::uint64_t>(1, count_)),
                                  weight, normal_.data(), dy});
}

}  // namespace warren::learn
