// SPDX-License-Identifier: Apache-2.0
// Graph convolutions: what a layer computes from its neighbours before bias and activation. Each
// has forward, backward, and its parameters.
#pragma once

#include <memory>
#include <string>

#include "warren/learn/attention.hpp"
#include "warren/learn/elementwise.hpp"
#include "warren/learn/kept.hpp"
#include "warren/learn/neighbours.hpp"
#include "warren/learn/norm.hpp"
#include "warren/learn/operand.hpp"
#include "warren/learn/parameters.hpp"

namespace warren::learn {

/// What a forward pass may use, and whether it is the first one of its input.
struct ForwardPass {
  SpareRows spare;  ///< Of the context's type.
  Pass pass = Pass::first;
};

/// What a backward pass may do with the gradient that it is given, and how that lies.
struct GivenGradient {
  bool is_spent = false;   ///< dy may be overwritten.
  bool is_scaled = false;  ///< dx has dy's rows scaled as Convolution::gradient_scale() asked for.
};

class Convolution {
 public:
  virtual ~Convolution() = default;
  /// y (rows x out) from x, both of the context's type. Collective.
  virtual void forward(Context& context, const Operand& x, Numbers y,
                       const ForwardPass& pass = {}) = 0;
  /// Makes what backward() needs of forward(context, x, y) again, which others have taken the
  /// memory of since; y, whose memory may be used, is unspecified afterwards. Collective.
  virtual void refill(Context& context, const Operand& x, Numbers y) {
    forward(context, x, y, {.spare = {}, .pass = Pass::repeated});
  }
  /// Adds the parameters' gradients and, where the shape asks for it, sets dx (rows x in); x as in
  /// forward(). What dy holds afterwards is unspecified if it is spent, else as before. If it is
  /// scaled, dx has those rows to begin with, and dy is read only where reads_plain_gradient() says
  /// so. Collective.
  virtual void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                        const GivenGradient& given = {}) = 0;
  /// Where backward() needs rows of dy scaled: by these numbers, one for each row, on the device.
  /// Whoever makes dy may then leave the scaled rows in dx, and tells backward(). nullptr: there is
  /// nothing to scale, or no room in dx.
  [[nodiscard]] virtual const float* gradient_scale(Context& /*context*/) const { return nullptr; }
  /// Whether backward() reads dy itself as well, where it is given scaled rows.
  [[nodiscard]] virtual bool reads_plain_gradient() const { return true; }
  /// Whether it reads the matrix of neighbours against edges where it looks at edges at all.
  [[nodiscard]] virtual bool reads_transposed() const { return true; }
};

/// Sizes of a convolution, and where its parameters go.
struct ConvolutionShape {
  std::string name;  ///< Parameters' names begin with it.
  std::uint64_t in = 0, out = 0;
  bool is_sparse = false;  ///< The operand is: it is transformed first.
  bool needs_input_gradient = true;
  float decay = 1.0f;         ///< Parameter::decay of its weights.
  std::uint64_t purpose = 0;  ///< Of its random numbers; it may use the eight from here.
  /// Where it keeps what backward() needs of forward(); nullptr: in memory of its own.
  std::shared_ptr<Kept> kept = nullptr;
};

/// y = A x W, A normalised symmetrically with self-loops (GCN: Kipf and Welling, ICLR 2017).
/// Aggregates before or after the product with W, whichever moves fewer columns in forward and
/// backward together.
[[nodiscard]] std::unique_ptr<Convolution> make_gcn(Parameters& parameters,
                                                    const ConvolutionShape& shape,
                                                    std::shared_ptr<const Aggregation> aggregation);

/// y = x W_self + A x W_neighbours, A the sum or mean over neighbours (GraphSAGE: Hamilton, Ying
/// and Leskovec, NIPS 2017).
[[nodiscard]] std::unique_ptr<Convolution> make_sage(
    Parameters& parameters, const ConvolutionShape& shape,
    std::shared_ptr<const Aggregation> aggregation);
/// The same with the largest of each column over the neighbours, 0 without any. x must be dense.
[[nodiscard]] std::unique_ptr<Convolution> make_sage_max(Parameters& parameters,
                                                         const ConvolutionShape& shape,
                                                         const Neighbourhood& neighbourhood);

/// y = ReLU(norm(((1 + epsilon) x + A x) W_1) + b_1) W_2, A the sum over neighbours, epsilon learnt
/// (GIN: Xu et al., ICLR 2019).
[[nodiscard]] std::unique_ptr<Convolution> make_gin(Parameters& parameters,
                                                    const ConvolutionShape& shape,
                                                    std::shared_ptr<const Aggregation> aggregation,
                                                    NormKind norm);

/// Attention (Attention's formula) with z = x W, l = <z, a_left>, r = <z, a_right>; heads side by
/// side. shape.out = heads x width. A narrow x without a gradient is summed over neighbours, for
/// each head, before it is multiplied.
[[nodiscard]] std::unique_ptr<Convolution> make_gat(Parameters& parameters,
                                                    const ConvolutionShape& shape,
                                                    const Neighbourhood& neighbourhood,
                                                    const AttentionShape& attention,
                                                    float edge_dropout);

/// Attention (AttentionV2's formula) with z = x W_source and q = x W_target; heads side by side.
/// shape.out = heads x width. PyTorch Geometric's GATv2Conv without sharing of weights, its two
/// products without a bias.
[[nodiscard]] std::unique_ptr<Convolution> make_gatv2(Parameters& parameters,
                                                      const ConvolutionShape& shape,
                                                      const Neighbourhood& neighbourhood,
                                                      const AttentionShape& attention,
                                                      float edge_dropout);

/// y = x W, no neighbours.
[[nodiscard]] std::unique_ptr<Convolution> make_linear(Parameters& parameters,
                                                       const ConvolutionShape& shape);

}  // namespace warren::learn
