// SPDX-License-Identifier: Apache-2.0
// What convolutions have in common.
#pragma once

#include "warren/learn/convolution.hpp"

namespace warren::learn {

/// Columns aggregated in forward and backward: before the product `in` and, where the input's
/// gradient is asked for, `in` again; after it twice `out`.
inline bool aggregates_first(bool is_sparse, bool needs_input_gradient, std::uint64_t in,
                             std::uint64_t out) {
  return !is_sparse && (needs_input_gradient ? 2 : 1) * in < 2 * out;
}
inline bool aggregates_first(const ConvolutionShape& shape) {
  return aggregates_first(shape.is_sparse, shape.needs_input_gradient, shape.in, shape.out);
}

/// dx = dy w^T of the rows that have a dy, which are the first ones; 0 of the rest of `sources`.
/// Rows of dy are padded(shape.out) apart.
inline void self_gradient(Context& context, std::uint64_t sources, std::uint64_t rows,
                          ConstNumbers dy, const float* w, Numbers dx,
                          const ConvolutionShape& shape) {
  input_gradient(context, rows, dy, w, dx, shape.in, shape.out, 0.0f, context.padded(shape.out));
  if (sources > rows)
    exec::fill_bytes(context.stream(), dx.from(rows * shape.in).raw(), 0,
                     (sources - rows) * shape.in * size_of(dx.type()));
}

/// One of a layer's weights, drawn by Glorot's rule.
inline std::size_t add_glorot(Parameters& parameters, const ConvolutionShape& shape,
                              const char* name, std::uint64_t rows, std::uint64_t columns) {
  return parameters.add({.name = shape.name + name,
                         .rows = rows,
                         .columns = columns,
                         .initial = Initial::glorot,
                         .decay = shape.decay});
}
/// The weight: in x out.
inline std::size_t add_weight(Parameters& parameters, const ConvolutionShape& shape) {
  return add_glorot(parameters, shape, ".weight", shape.in, shape.out);
}

/// One of GraphSAGE's: in x out, drawn by the size of the input.
inline std::size_t add_sage_weight(Parameters& parameters, const ConvolutionShape& shape,
                                   const char* name) {
  return parameters.add({.name = shape.name + name,
                         .rows = shape.in,
                         .columns = shape.out,
                         .initial = Initial::fan_in,
                         .fan_in = shape.in,
                         .decay = shape.decay});
}

/// Attention's vector of each head, heads x width, drawn a tenth as large as by Glorot's rule: at
/// first all neighbours count nearly the same. Drawn by that rule it would make logits as large as
/// the features are: of features of some size softmax then picks one neighbour of each vertex,
/// whose noise nothing averages out, and passes next to no gradient on. Of zeros the gradient of
/// GAT's right vector would be 0 but for rounding, which the optimiser's first steps blow up.
inline std::size_t add_attention(Parameters& parameters, const ConvolutionShape& shape,
                                 const char* name, const AttentionShape& attention) {
  return parameters.add({.name = shape.name + name,
                         .rows = attention.heads,
                         .columns = attention.width,
                         .initial = Initial::fan_in,
                         .fan_in = 17 * (attention.heads + attention.width),  // 100 / 6.
                         .decay = shape.decay});
}

/// What the weights of edges are multiplied by in attention: a row of heads x width.
inline std::size_t add_edge_weight(Parameters& parameters, const ConvolutionShape& shape) {
  return add_glorot(parameters, shape, ".edge.weight", 1, shape.out);
}

/// GAT's: W of in x out, a_left and a_right of heads x width; where edges have weights, the row
/// that these are multiplied by, and a_edge of heads x width.
struct GatWeights {
  std::size_t weight, left, right;
  std::size_t edge_weight = 0, edge = 0;
};
inline GatWeights add_gat_weights(Parameters& parameters, const ConvolutionShape& shape,
                                  const AttentionShape& attention) {
  GatWeights weights;
  weights.weight = add_weight(parameters, shape);
  weights.left = add_attention(parameters, shape, ".left", attention);
  weights.right = add_attention(parameters, shape, ".right", attention);
  if (!attention.edge_weights) return weights;
  weights.edge_weight = add_edge_weight(parameters, shape);
  weights.edge = add_attention(parameters, shape, ".edge.attention", attention);
  return weights;
}

/// Whether attention is taken of x before the product: where that reads fewer columns, x has no
/// gradient, and edges no weights.
[[nodiscard]] bool attends_first(const ConvolutionShape& shape, const AttentionShape& attention);
[[nodiscard]] std::unique_ptr<Convolution> make_gat_first(Parameters& parameters,
                                                          const ConvolutionShape& shape,
                                                          const Neighbourhood& neighbourhood,
                                                          const AttentionShape& attention,
                                                          float edge_dropout);

}  // namespace warren::learn
