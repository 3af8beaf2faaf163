// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/norm.hpp"

#include <algorithm>

#include "warren/exec/memory.hpp"

#include "learn/layers/norm_kernels.hpp"
#include "learn/rows/epilogue_kernels.hpp"

namespace warren::learn {
namespace {

template <class Kernel>
void run_columns(const exec::Stream& stream, std::uint64_t columns, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_blocks<decltype(backend)>(stream, columns, kernel);
  });
}

// Places in a batch norm's statistics, in units of its width. The two sums of backward are
// neighbours, so that ranks add up both at once.
enum Statistic : std::uint64_t {
  kSumsAt,
  kSquares,
  kMean,
  kInverse,
  kGradients,
  kProducts,
  kCount
};

}  // namespace

Norm::Norm(Parameters& parameters, NormKind kind, const std::string& name, std::uint64_t width,
           std::shared_ptr<Kept> kept)
    : parameters_(parameters),
      kind_(kind),
      width_(width),
      kept_(or_own(std::move(kept))),
      normal_(kept_),
      deviations_(kept_) {
  if (kind == NormKind::none) return;
  const auto add = [&](const char* what, Initial initial) {
    return parameters.add(
        {.name = name + what, .rows = 1, .columns = width, .initial = initial, .decay = 0.0f});
  };
  weight_ = add(".weight", Initial::ones);
  if (kind != NormKind::batch) return;
  // Without gradients they stay as they are set, and are kept with the parameters.
  mean_ = add(".mean", Initial::zeros);
  variance_ = add(".variance", Initial::ones);
}

void Norm::sum_over_ranks(Context& context, float* sums, std::uint64_t count) const {
  if (context.team().size() == 1) return;
  context.measured(Part::communicate, [&] {
    context.team().all_reduce(context.stream(), sums, sums, count, team::DataType::float32,
                              team::ReduceOp::sum);
  });
}

Numbers Norm::input(Context& context, std::uint64_t n, Numbers y) {
  if (kind_ != NormKind::batch) return y;
  return normal_.take(context, n * width_);
}

/// Mean and 1 / deviation of the input's columns: in training of the batch, else the running ones.
void Norm::take_moments(Context& context, std::uint64_t n) {
  const exec::Stream& stream = context.stream();
  context.keep(statistics_, kCount * width_);
  float* const s = statistics_.data();
  float* const running_mean = parameters_.value(mean_);
  float* const running_variance = parameters_.value(variance_);
  detail::MomentsKernel moments{width_, running_mean,       running_variance,      1.0f,
                                1.0f,   s + kMean * width_, s + kInverse * width_, nullptr,
                                nullptr};
  if (context.is_training()) {
    if (count_ == 0 || context.is_in_batches()) {
      std::uint64_t rows[] = {n};
      context.team().sum(rows);
      count_ = rows[0];
    }
    float* const sums = s + kSumsAt * width_;
    float* const squares = s + kSquares * width_;
    const float share = 1.0f / static_cast<float>(std::max<std::uint64_t>(1, count_));
    float* const partial = sums_.room(stream, n, 2, width_);
    const detail::RowTiles tiles(n);
    with_type(kept_rows().type(), [&]<class T>(T) {
      const T* x = kept_rows().as<T>();
      detail::pass_where(stream, n, width_, detail::StatisticsBody<T>{{width_}, x}, partial);
      run_columns(stream, width_, detail::TotalsKernel<T>{tiles, width_, x, partial, sums});
      sum_over_ranks(context, sums, width_);
      run_columns(stream, width_,
                  detail::SquaresKernel<T>{tiles, width_, x, partial, sums, share, squares});
    });
    sum_over_ranks(context, squares, width_);
    moments.sums = sums;
    moments.squares = squares;
    moments.share = share;
    moments.unbiased = 1.0f / static_cast<float>(std::max<std::uint64_t>(2, count_) - 1);
    moments.running_mean = running_mean;
    moments.running_variance = running_variance;
  }
  run_columns(stream, 1, moments);
}

void Norm::forward(Context& context, const Epilogue& epilogue, std::uint64_t n, Numbers y,
                   Pass pass) {
  const exec::Stream& stream = context.stream();
  if (kind_ == NormKind::none) return apply(stream, epilogue, n, width_, y);
  const float* weight = parameters_.value(weight_);
  if (kind_ == NormKind::layer) {
    const Numbers normal = normal_.take(context, n * width_);
    auto* deviations = deviations_.take(context, n);
    with_type(y.type(), [&]<class T>(T) {
      detail::run_where(
          stream, n,
          detail::LayerNormKernel<T>{width_, weight, y.as<T>(), normal.as<T>(), deviations});
    });
    return apply(stream, epilogue, n, width_, y);
  }
  if (pass == Pass::first) take_moments(context, n);
  const float* s = statistics_.data();
  const detail::ColumnNorm norm{s + kMean * width_, s + kInverse * width_, weight};
  with_type(y.type(), [&]<class T>(T) {
    detail::pass_where(stream, n, width_,
                       detail::EpilogueBody<T>{epilogue, epilogue.residual.as<T>(), norm, width_,
                                               kept_rows().as<T>(), y.as<T>()});
  });
}

void Norm::backward(Context& context, const Epilogue& epilogue, std::uint64_t n, ConstNumbers y,
                    Numbers dy, float* bias_gradient, Numbers residual,
                    const ScaledGradient& scaled) {
  const exec::Stream& stream = context.stream();
  const auto copy_residual = [&] {
    if (residual != nullptr)
      exec::copy(stream, residual.raw(), dy.raw(), n * width_ * size_of(dy.type()));
  };
  if (kind_ != NormKind::batch) {
    sums_.apply_backward(stream, epilogue, n, width_, y, dy, bias_gradient, scaled);
    copy_residual();
    if (kind_ == NormKind::none) return;
    sums_.add(stream, {.k = width_, .a = dy, .b = kept_rows()}, n, parameters_.gradient(weight_));
    return with_type(dy.type(), [&]<class T>(T) {
      detail::run_where(
          stream, n,
          detail::LayerBackwardKernel<T>{width_, parameters_.value(weight_), kept_rows().as<T>(),
                                         deviations_.data(), dy.as<T>()});
    });
  }
  float* const s = statistics_.data();
  const float* weight = parameters_.value(weight_);
  const detail::ColumnNorm norm{s + kMean * width_, s + kInverse * width_, weight};
  float* const sums = s + kGradients * width_;
  float* const products = s + kProducts * width_;
  with_type(dy.type(), [&]<class T>(T) {
    detail::pass_where(stream, n, width_,
                       detail::EpilogueBackwardBody<T, 2>{
                           epilogue, norm, width_, kept_rows().as<T>(), y.as<T>(), dy.as<T>()},
                       sums_.room(stream, n, 2, width_));
  });
  exec::fill_bytes(stream, sums, 0, 2 * width_ * sizeof(float));
  sums_.finish(stream, n, 2, width_, sums, products);
  copy_residual();
  // Gradients are summed over the ranks later: each gives its own part.
  add_self(stream, 1, width_, nullptr, sums, bias_gradient);
  add_self(stream, 1, width_, nullptr, products, parameters_.gradient(weight_));
  sum_over_ranks(context, sums, 2 * width_);
  const float share = 1.0f / static_cast<float>(std::max<std::uint64_t>(1, count_));
  with_type(dy.type(), [&]<class T>(T) {
    detail::pass_where(stream, n, width_,
                       detail::BatchBackwardBody<T>{{width_},
                                                    norm.mean,
                                                    norm.inverse,
                                                    weight,
                                                    sums,
                                                    products,
                                                    share,
                                                    kept_rows().as<T>(),
                                                    dy.as<T>()});
  });
}

}  // namespace warren::learn
