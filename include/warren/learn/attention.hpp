// SPDX-License-Identifier: Apache-2.0
// Attention over a vertex' neighbours (GAT: Velickovic et al., ICLR 2018), several heads at once:
//
//   s_ij = LeakyReLU(l_i + r_j),  a_ij = exp(s_ij) / sum over j' of exp(s_ij'),
//   y_i = sum over the neighbours j of d_ij a_ij z_j
//
// with d_ij a dropout of edges. Nothing is kept for an edge between forward and backward: weights
// are made anew from two numbers of each row, and the gradients of l and r, which are sums over
// edges of products with dy, are inner products of vectors that are summed over edges together with
// y. For that the sum of those terms for which l_i + r_j is positive is kept apart.
#pragma once

#include "warren/learn/neighbours.hpp"

namespace warren::learn {

struct AttentionShape {
  std::uint64_t heads = 1;
  std::uint64_t width = 1;  ///< Of a head; rows are heads x width wide.
  float slope = 0.2f;       ///< Of the leaky ReLU.
};

class Attention {
 public:
  /// `neighbourhood` with self-loops, as GAT wants them.
  Attention(const Neighbourhood& neighbourhood, const AttentionShape& shape)
      : out_(neighbourhood.out), in_(neighbourhood.in), shape_(shape) {}

  /// Rows of y; of blocks fewer than of z.
  [[nodiscard]] std::uint64_t rows() const { return out_->rows(); }

  /// y from z (own columns x heads x width), l (rows x heads) and r (own columns x heads), all this
  /// rank's on its device.
  /// Keeps what backward needs. Collective; repeats bit for bit.
  void forward(Context& context, const Dropout& dropout, const float* z, const float* l,
               const float* r, float* y);
  /// dz, dl and dr from dy, with z, r and the dropout as they were in forward. Collective.
  void backward(Context& context, const Dropout& dropout, const float* z, const float* r,
                const float* dy, float* dz, float* dl, float* dr);

 private:
  std::shared_ptr<const Neighbours> out_, in_;
  AttentionShape shape_;
  memory::Buffer<float> y_;           // As forward made it.
  memory::Buffer<float> positive_;    // The positive terms' part of it.
  memory::Buffer<float> statistics_;  // Of every row, heads each: l, maximum, 1 / sum, <dy, y>.
  memory::Buffer<float> share_;       // Of every row and head: the weights of positive terms.
};

/// dz[r][h][c] += dl[r][h] left[h][c] + dr[r][h] right[h][c]: what l = <z, left> and r = <z, right>
/// give to the gradient of z.
void add_outer(const exec::Stream& stream, std::uint64_t n, std::uint64_t heads,
               std::uint64_t width, const float* dl, const float* left, const float* dr,
               const float* right, float* dz);

}  // namespace warren::learn
