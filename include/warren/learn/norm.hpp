// SPDX-License-Identifier: Apache-2.0
// Normalisation of a layer's output, in place:
//
//   batch: y[r][c] = g[c] (x[r][c] - mean[c]) / sqrt(variance[c] + 1e-5), over all vertices of all
//          ranks (Ioffe and Szegedy, ICML 2015); outside training with running means of both
//   layer: the same with mean and variance of each row (Ba, Kiros and Hinton, 2016)
//
// The shift that the papers add is the bias that follows.
#pragma once

#include <string>

#include "warren/learn/elementwise.hpp"
#include "warren/learn/parameters.hpp"

namespace warren::learn {

enum class NormKind { none, batch, layer };

class Norm {
 public:
  /// Adds its parameters; with NormKind::none it does nothing.
  Norm(Parameters& parameters, NormKind kind, const std::string& name, std::uint64_t width);

  /// x <- y, n x width. In training a batch norm moves its running means by a tenth. Collective;
  /// repeats bit for bit.
  void forward(Context& context, std::uint64_t n, float* x);
  /// dy <- dx, and adds the gradient of g; after forward() in training. Collective.
  void backward(Context& context, std::uint64_t n, float* dy);

 private:
  void sum_over_ranks(Context& context, float* sums) const;

  Parameters& parameters_;
  NormKind kind_;
  std::uint64_t width_;
  std::size_t weight_ = 0, mean_ = 0, variance_ = 0;
  memory::Buffer<float> normal_;      // (x - mean) / deviation.
  memory::Buffer<float> statistics_;  // Sums over columns; of layer norm 1 / deviation of rows.
  std::uint64_t count_ = 0;           // Rows of all ranks.
  ColumnSums sums_;
};

}  // namespace warren::learn
