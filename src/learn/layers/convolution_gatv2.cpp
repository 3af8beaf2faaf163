// SPDX-License-Identifier: Apache-2.0
// GATv2: products with two weights around attention.
#include <optional>

#include "warren/core/error.hpp"
#include "warren/learn/attention_v2.hpp"

#include "learn/layers/convolution_parts.hpp"

namespace warren::learn {
namespace {

class GatV2 final : public Convolution {
 public:
  GatV2(Parameters& parameters, const ConvolutionShape& shape, const Neighbourhood& neighbourhood,
        const AttentionShape& attention, float edge_dropout)
      : parameters_(parameters),
        shape_(shape),
        edge_dropout_(edge_dropout),
        attention_(neighbourhood, attention, shape.kept),
        source_(add_glorot(parameters, shape, ".source.weight", shape.in, shape.out)),
        target_(add_glorot(parameters, shape, ".target.weight", shape.in, shape.out)),
        attended_(add_attention(parameters, shape, ".attention", attention)) {
    if (attention.edge_weights) by_weight_ = add_edge_weight(parameters, shape);
    require(attention.heads * attention.width == shape.out,
            "attention: heads times width must be the output's width");
  }

  void forward(Context& context, const Operand& x, Numbers y, const ForwardPass& pass) override {
    const Rows rows = transformed(context, x, pass.spare);
    attention_.forward(context, dropout(context), rows.z, rows.q, parameters_.value(attended_),
                       by_weight(), y);
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                const GivenGradient& /*given*/) override {
    const std::uint64_t targets = attention_.rows();
    const std::uint64_t stride = context.padded(shape_.out);
    const float* a = parameters_.value(attended_);
    float* da = parameters_.gradient(attended_);
    // Made again rather than kept: two products cost less than the room.
    const Rows rows = transformed(context, x, {});
    ConstNumbers wide_dy = dy;
    std::optional<TakenRows> copy;
    if (stride != shape_.out) {
      copy = context.take_rows(targets * stride);
      scale_rows(context.stream(), targets, shape_.out, stride, nullptr, dy, copy->data());
      wide_dy = copy->data();
    }
    // dq, and when it has been used up dz.
    const TakenRows d = context.take_rows(x.rows * stride);
    attention_.backward_targets(context, dropout(context), rows.z, rows.q, a, by_weight(), wide_dy,
                                d, da);
    add_weight_gradient(context, x.first(targets), d, parameters_.gradient(target_), shape_.out,
                        stride);
    if (shape_.needs_input_gradient)
      self_gradient(context, x.rows, targets, d, parameters_.value(target_), dx, shape_);
    attention_.backward_sources(context, dropout(context), rows.z, rows.q, a, by_weight(), wide_dy,
                                d, da, by_weight_ ? parameters_.gradient(*by_weight_) : nullptr);
    add_weight_gradient(context, x, d, parameters_.gradient(source_), shape_.out, stride);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, d, parameters_.value(source_), dx, shape_.in, shape_.out,
                     1.0f, stride);
  }

 private:
  struct Rows {
    TakenRows z, q;
  };
  /// What weights of edges are multiplied by; nullptr: they do not count.
  [[nodiscard]] const float* by_weight() const {
    return by_weight_ ? parameters_.value(*by_weight_) : nullptr;
  }
  /// z = x W_source, and q = x W_target of the rows that attend.
  Rows transformed(Context& context, const Operand& x, const SpareRows& spare) {
    const std::uint64_t targets = attention_.rows();
    const std::uint64_t stride = context.padded(shape_.out);
    Rows rows{context.take_rows(x.rows * stride, spare), context.take_rows(targets * stride)};
    transform(context, x, parameters_.value(source_), rows.z, shape_.out, 0.0f, stride);
    transform(context, x.first(targets), parameters_.value(target_), rows.q, shape_.out, 0.0f,
              stride);
    return rows;
  }
  [[nodiscard]] Dropout dropout(Context& context) const {
    return context.dropout(edge_dropout_, shape_.purpose);
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  float edge_dropout_;
  AttentionV2 attention_;
  std::size_t source_, target_, attended_;
  std::optional<std::size_t> by_weight_;
};

}  // namespace

std::unique_ptr<Convolution> make_gatv2(Parameters& parameters, const ConvolutionShape& shape,
                                        const Neighbourhood& neighbourhood,
                                        const AttentionShape& attention, float edge_dropout) {
  return std::make_unique<GatV2>(parameters, shape, neighbourhood, attention, edge_dropout);
}

}  // namespace warren::learn
