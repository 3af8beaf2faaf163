// SPDX-License-Identifier: Apache-2.0
// Attention whose ranking of neighbours depends on the vertex that attends (GATv2: Brody, Alon and
// Yahav, "How Attentive are Graph Attention Networks?", ICLR 2022, equation 7), several heads at
// once:
//
//   s_ij = <a, LeakyReLU(q_i + z_j)>,  w_ij = exp(s_ij) / sum over j' of exp(s_ij'),
//   y_i = sum over the neighbours j of d_ij w_ij z_j
//
// with d_ij a dropout of edges. Nothing is kept for an edge between forward and backward: a
// neighbour's row is read once in forward, where logits, their softmax with a running maximum and
// the weighted sum are made in one walk, and logits are made anew in backward. With
// g_ij = d_ij <dy_i, z_j>, e_ij = w_ij (g_ij - sum over j' of w_ij' g_ij') the gradient of s_ij and
// f(u) = 1 where u > 0, else the slope,
//
//   t_i = sum over j of e_ij f(q_i + z_j),  dq_i = a t_i,
//   v_j = sum over i of e_ij f(q_i + z_j),  dz_j = a v_j + sum over i of d_ij w_ij dy_i,
//   da = sum over i of q_i t_i + sum over j of z_j v_j,
//
// since LeakyReLU(u) = u f(u); products of vectors by columns.
//
// Edges may have a weight x_ij, which then is a feature of theirs: with a vector b of each head
// u_ij = q_i + z_j + x_ij b stands for q_i + z_j, and
//
//   v'_j = sum over i of x_ij e_ij f(u_ij),  db = a sum over j of v'_j,
//
// while da has b sum over j of v'_j besides.
#pragma once

#include "warren/learn/attention.hpp"
#include "warren/learn/elementwise.hpp"

namespace warren::learn {

class AttentionV2 {
 public:
  /// `neighbourhood` with self-loops, as GATv2 wants them; rows without entries become 0.
  /// What backward needs of forward is kept in `kept`; nullptr: in memory of its own.
  AttentionV2(const Neighbourhood& neighbourhood, const AttentionShape& shape,
              std::shared_ptr<Kept> kept = nullptr)
      : out_(neighbourhood.out),
        in_(neighbourhood.in),
        shape_(shape),
        statistics_(or_own(std::move(kept))) {}

  /// Rows of y and of q; of blocks fewer than of z.
  [[nodiscard]] std::uint64_t rows() const { return out_->rows(); }

  /// y (rows x heads x width, without gaps) from z (own columns x heads x width) and q (rows x
  /// heads x width), whose rows are padded(heads x width) apart, 0 between them; all three of the
  /// context's type. a: heads x width; b: the same, with AttentionShape::edge_weights, else
  /// nullptr. All this rank's rows on its device. Keeps two numbers of each row and head for
  /// backward. Collective; asynchronous but for what ranks exchange; repeats bit for bit. Throws
  /// MemoryError, DeviceError.
  void forward(Context& context, const Dropout& dropout, ConstNumbers z, ConstNumbers q,
               const float* a, const float* b, Numbers y);
  /// dq (as q), and da += its rows' part, from dy (rows as q's), with all else as forward() had and
  /// left it. Before backward_sources(). As forward() else.
  void backward_targets(Context& context, const Dropout& dropout, ConstNumbers z, ConstNumbers q,
                        const float* a, const float* b, ConstNumbers dy, Numbers dq, float* da);
  /// dz (as z), and da and, of weighted edges, db += its rows' part. dz may have dq's memory.
  void backward_sources(Context& context, const Dropout& dropout, ConstNumbers z, ConstNumbers q,
                        const float* a, const float* b, ConstNumbers dy, Numbers dz, float* da,
                        float* db);

 private:
  std::shared_ptr<const Neighbours> out_, in_;
  AttentionShape shape_;
  /// Of every row and head: the logarithm of its powers' sum; sum over j of w_ij g_ij.
  KeptArray<float> statistics_;
  /// Of da, and of db behind it: a row for each task and each row that is split.
  memory::Buffer<float> parts_;
  ColumnSums sums_;
};

}  // namespace warren::learn
