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
//
// Edges may have a weight w_ij, which then is a feature of theirs:
//
//   s_ij = LeakyReLU(l_i + r_j + w_ij c)
//
// with a number c of each head. Its gradient is a sum over edges of products with dy as well, whose
// terms are by w_ij: backward adds up a third vector for it.
#pragma once

#include "warren/learn/kept.hpp"
#include "warren/learn/neighbours.hpp"
#include "warren/learn/operand.hpp"

namespace warren::learn {

struct AttentionShape {
  std::uint64_t heads = 1;
  std::uint64_t width = 1;  ///< Of a head; rows are heads x width wide.
  float slope = 0.2f;       ///< Of the leaky ReLU.
  /// Logits count the values of the matrix' entries, which has some then: the weights of edges.
  bool edge_weights = false;
};

class Attention {
 public:
  /// `neighbourhood` with self-loops, as GAT wants them. What backward() needs is kept in `kept`;
  /// nullptr: in memory of its own.
  Attention(const Neighbourhood& neighbourhood, const AttentionShape& shape,
            std::shared_ptr<Kept> kept = nullptr)
      : out_(neighbourhood.out),
        in_(neighbourhood.in),
        shape_(shape),
        kept_(or_own(std::move(kept))),
        all_(kept_),
        positive_(kept_),
        statistics_(kept_),
        shares_(kept_) {}

  /// Rows of y; of blocks fewer than of z.
  [[nodiscard]] std::uint64_t rows() const { return out_->rows(); }

  /// y (rows x heads x width) from z (own columns x heads x width, rows padded(heads x width)
  /// apart), both of the context's type, with l = <z, left> and r = <z, right>, left and right of
  /// heads x width; sets r (own columns x heads). `by_weight`: c of each head, with
  /// AttentionShape::edge_weights, else nullptr. All this rank's rows on its device. Keeps what
  /// backward needs. Collective; repeats bit for bit.
  void forward(Context& context, const Dropout& dropout, ConstNumbers z, const float* left,
               const float* right, const float* by_weight, float* r, Numbers y);
  /// dz (as z), dl and dr from dy (as y), with all else as forward() had and left it. `room`, where
  /// it is not nullptr, is memory for as many rows as y has, padded(heads x width) apart: padded
  /// rows of dy then take none of their own. Collective.
  void backward(Context& context, const Dropout& dropout, ConstNumbers z, const float* left,
                const float* right, const float* by_weight, const float* r, ConstNumbers dy,
                Numbers dz, float* dl, float* dr, Numbers room = {});
  /// With by_weight, after backward(): own columns x heads, whose columns' sums over all ranks are
  /// the gradient of by_weight. Until forward().
  [[nodiscard]] const float* by_weight_terms() const { return by_weight_terms_; }

 private:
  std::shared_ptr<const Neighbours> out_, in_;
  AttentionShape shape_;
  std::shared_ptr<Kept> kept_;
  // Backward has other things in all but the statistics.
  KeptRows all_;                 // y as forward made it, rows padded.
  KeptRows positive_;            // The positive terms' part of it.
  KeptArray<float> statistics_;  // Of every row and head: l, maximum, 1 / sum, <dy, y>.
  KeptArray<float> shares_;      // Of every row and head: the weights of positive terms.
  const float* by_weight_terms_ = nullptr;
};

}  // namespace warren::learn
