// SPDX-License-Identifier: Apache-2.0
// Normalisation of a layer's output, with the epilogue that follows it:
//
//   batch: y[r][c] = g[c] (x[r][c] - mean[c]) / sqrt(variance[c] + 1e-5), over all vertices of all
//          ranks (Ioffe and Szegedy, ICML 2015); outside training with running means of both
//   layer: the same with mean and variance of each row (Ba, Kiros and Hinton, 2016)
//
// The shift that the papers add is the bias that follows.
#pragma once

#include <string>

#include "warren/learn/elementwise.hpp"
#include "warren/learn/kept.hpp"
#include "warren/learn/parameters.hpp"

namespace warren::learn {

enum class NormKind { none, batch, layer };

/// A forward pass, or one made once more for its backward pass: what a pass learns from its input
/// stays then as the first one left it.
enum class Pass : std::uint8_t { first, repeated };

class Norm {
 public:
  /// Adds its parameters; with NormKind::none it does nothing. Its rows are kept in `kept`;
  /// nullptr: in memory of its own.
  Norm(Parameters& parameters, NormKind kind, const std::string& name, std::uint64_t width,
       std::shared_ptr<Kept> kept = nullptr);

  /// Where forward() wants its input (n x width) for an output at y: batch norm keeps it for
  /// backward(), other kinds have it at y.
  [[nodiscard]] Numbers input(Context& context, std::uint64_t n, Numbers y);
  /// y <- the epilogue of the normalised input(context, y). In training a batch norm moves its
  /// running means by a tenth; a repeated pass has the moments of the first one instead.
  /// Collective; repeats bit for bit.
  void forward(Context& context, const Epilogue& epilogue, std::uint64_t n, Numbers y,
               Pass pass = Pass::first);
  /// dy <- the gradient of forward()'s input, y as forward() made it; adds the gradients of g and
  /// of the epilogue's bias. That of its residual goes to `residual`, where that is not nullptr.
  /// `scaled`: of NormKind::none alone. After forward() in training. Collective.
  void backward(Context& context, const Epilogue& epilogue, std::uint64_t n, ConstNumbers y,
                Numbers dy, float* bias_gradient, Numbers residual = nullptr,
                const ScaledGradient& scaled = {});

 private:
  void sum_over_ranks(Context& context, float* sums, std::uint64_t count) const;
  void take_moments(Context& context, std::uint64_t n);

  Parameters& parameters_;
  NormKind kind_;
  std::uint64_t width_;
  std::size_t weight_ = 0, mean_ = 0, variance_ = 0;
  [[nodiscard]] Numbers kept_rows() const { return normal_.data(); }

  std::shared_ptr<Kept> kept_;
  KeptRows normal_;                   // Batch: the input; layer: the input, normalised.
  KeptArray<float> deviations_;       // Layer: 1 / deviation of rows.
  memory::Buffer<float> statistics_;  // Batch: of columns, as norm.cpp has them.
  std::uint64_t count_ = 0;           // Rows of all ranks.
  ColumnSums sums_;
};

}  // namespace warren::learn
