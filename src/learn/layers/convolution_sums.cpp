// SPDX-License-Identifier: Apache-2.0
// Convolutions whose aggregation is linear: GCN, GraphSAGE with sums and means; and none at all.
#include <optional>

#include "warren/learn/convolution.hpp"

#include "learn/layers/convolution_parts.hpp"

namespace warren::learn {
namespace {

/// What a layer that multiplies first wants the rows of dy scaled by, if dx has room for them: on
/// the whole graph, and as wide as they are.
const float* scale_into_input(const Context& context, const ConvolutionShape& shape,
                              const Aggregation& aggregation) {
  const bool fits = shape.needs_input_gradient && shape.out <= shape.in &&
                    context.padded(shape.out) == shape.out && !context.is_in_batches();
  return fits ? aggregation.backward_scale() : nullptr;
}

class Linear final : public Convolution {
 public:
  Linear(Parameters& parameters, const ConvolutionShape& shape)
      : parameters_(parameters), shape_(shape), weight_(add_weight(parameters, shape)) {}

  void forward(Context& context, const Operand& x, Numbers y,
               const ForwardPass& /*pass*/) override {
    transform(context, x, parameters_.value(weight_), y, shape_.out);
  }
  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                const GivenGradient& /*given*/) override {
    add_weight_gradient(context, x, dy, parameters_.gradient(weight_), shape_.out);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, dy, parameters_.value(weight_), dx, shape_.in, shape_.out);
  }

 private:
  Parameters& parameters_;
  ConvolutionShape shape_;
  std::size_t weight_;
};

class Gcn final : public Convolution {
 public:
  Gcn(Parameters& parameters, const ConvolutionShape& shape,
      std::shared_ptr<const Aggregation> aggregation)
      : parameters_(parameters),
        shape_(shape),
        aggregation_(std::move(aggregation)),
        is_first_(aggregates_first(shape)),
        weight_(add_weight(parameters, shape)),
        kept_(or_own(shape.kept)),
        aggregated_(kept_) {}

  void forward(Context& context, const Operand& x, Numbers y, const ForwardPass& pass) override {
    const float* w = parameters_.value(weight_);
    if (is_first_) {
      refill(context, x, y);
      return transform(context, aggregated(), w, y, shape_.out);
    }
    const std::uint64_t stride = context.padded(shape_.out);
    const TakenRows z = context.take_rows(x.rows * stride, pass.spare);
    transform(context, x, w, z, shape_.out, 0.0f, stride);
    aggregation_->forward(context, z, y, shape_.out, 0.0f, {.x_stride = stride, .room = z});
  }

  void refill(Context& context, const Operand& x, Numbers y) override {
    const Numbers sums = aggregated_.take(context, exec::bytes_of(aggregation_->rows(), shape_.in));
    // y is made last.
    const bool fits = x.rows == aggregation_->rows() && context.padded(shape_.in) <= shape_.out;
    aggregation_->forward(context, x.dense, sums, shape_.in, 0.0f,
                          {.room = fits ? y : Numbers(), .is_scaled = x.is_scaled});
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                const GivenGradient& given) override {
    const float* w = parameters_.value(weight_);
    float* dw = parameters_.gradient(weight_);
    if (is_first_) {
      add_weight_gradient(context, aggregated(), dy, dw, shape_.out);
      if (!shape_.needs_input_gradient) return;
      const std::uint64_t rows = aggregation_->rows();
      const TakenRows ds = context.take_rows(rows * shape_.in);
      input_gradient(context, rows, dy, w, ds, shape_.in, shape_.out);
      return aggregation_->backward(context, ds, dx, shape_.in);
    }
    // dx is made last: until then it has the scaled rows of dy, and dy then those of dz.
    const std::uint64_t stride = context.padded(shape_.out);
    const Numbers room = shape_.needs_input_gradient && stride <= shape_.in ? dx : nullptr;
    const bool is_dy_free = room != nullptr && given.is_spent &&
                            aggregation_->backward_scale() != nullptr && stride == shape_.out &&
                            x.rows == aggregation_->rows();
    const TakenRows dz = is_dy_free ? TakenRows(dy) : context.take_rows(x.rows * stride);
    aggregation_->backward(context, given.is_scaled ? dx : dy, dz, shape_.out, 0.0f,
                           {.y_stride = stride, .room = room, .is_scaled = given.is_scaled});
    add_weight_gradient(context, x, dz, dw, shape_.out, stride);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, dz, w, dx, shape_.in, shape_.out, 0.0f, stride);
  }

  [[nodiscard]] const float* gradient_scale(Context& context) const override {
    return is_first_ ? nullptr : scale_into_input(context, shape_, *aggregation_);
  }
  [[nodiscard]] bool reads_plain_gradient() const override { return false; }

 private:
  [[nodiscard]] Operand aggregated() const {
    return Operand::of(aggregation_->rows(), aggregated_.data(), shape_.in);
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::shared_ptr<const Aggregation> aggregation_;
  bool is_first_;
  std::size_t weight_;
  std::shared_ptr<Kept> kept_;
  KeptRows aggregated_;  // The input's sums over neighbours, where these come first.
};

class Sage final : public Convolution {
 public:
  Sage(Parameters& parameters, const ConvolutionShape& shape,
       std::shared_ptr<const Aggregation> aggregation)
      : parameters_(parameters),
        shape_(shape),
        aggregation_(std::move(aggregation)),
        is_first_(aggregates_first(shape)),
        self_(add_sage_weight(parameters, shape, ".self.weight")),
        neighbours_(add_sage_weight(parameters, shape, ".neighbours.weight")),
        kept_(or_own(shape.kept)),
        aggregated_(kept_) {}

  void forward(Context& context, const Operand& x, Numbers y, const ForwardPass& pass) override {
    const float* w = parameters_.value(neighbours_);
    const std::uint64_t rows = aggregation_->rows();
    transform(context, x.first(rows), parameters_.value(self_), y, shape_.out);
    if (is_first_) {
      // What does not change from epoch to epoch is added up once.
      const bool stands = x.constant != 0 && x.constant == aggregated_of_ && kept_->is_intact();
      if (!stands) refill(context, x, nullptr);
      return transform(context, aggregated(), w, y, shape_.out, 1.0f);
    }
    const std::uint64_t stride = context.padded(shape_.out);
    const TakenRows z = context.take_rows(x.rows * stride, pass.spare);
    transform(context, x, w, z, shape_.out, 0.0f, stride);
    aggregation_->forward(context, z, y, shape_.out, 1.0f, {.x_stride = stride, .room = z});
  }

  void refill(Context& context, const Operand& x, Numbers /*y*/) override {
    aggregated_of_ = 0;  // Until it stands there.
    aggregation_->forward(
        context, x.dense,
        aggregated_.take(context, exec::bytes_of(aggregation_->rows(), shape_.in)), shape_.in);
    aggregated_of_ = x.constant;
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                const GivenGradient& given) override {
    const float* w = parameters_.value(neighbours_);
    float* dw = parameters_.gradient(neighbours_);
    const std::uint64_t rows = aggregation_->rows();
    const std::uint64_t stride = context.padded(shape_.out);
    std::optional<TakenRows> copy;
    if (stride != shape_.out) {
      // Three products read it.
      copy = context.take_rows(rows * stride);
      scale_rows(context.stream(), rows, shape_.out, stride, nullptr, dy, copy->data());
      dy = copy->data();
    }
    add_weight_gradient(context, x.first(rows), dy, parameters_.gradient(self_), shape_.out,
                        stride);
    const auto set_dx = [&] {
      if (shape_.needs_input_gradient)
        self_gradient(context, x.rows, rows, dy, parameters_.value(self_), dx, shape_);
    };
    if (is_first_) {
      add_weight_gradient(context, aggregated(), dy, dw, shape_.out, stride);
      if (!shape_.needs_input_gradient) return;
      set_dx();
      const TakenRows ds = context.take_rows(rows * shape_.in);
      input_gradient(context, rows, dy, w, ds, shape_.in, shape_.out, 0.0f, stride);
      return aggregation_->backward(context, ds, dx, shape_.in, 1.0f);
    }
    // Until dx is made it has the scaled rows of dy.
    const Numbers room = shape_.needs_input_gradient && stride <= shape_.in ? dx : nullptr;
    const TakenRows dz = context.take_rows(x.rows * stride);
    aggregation_->backward(
        context, given.is_scaled ? dx : dy, dz, shape_.out, 0.0f,
        {.x_stride = stride, .y_stride = stride, .room = room, .is_scaled = given.is_scaled});
    set_dx();
    add_weight_gradient(context, x, dz, dw, shape_.out, stride);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, dz, w, dx, shape_.in, shape_.out, 1.0f, stride);
  }

  [[nodiscard]] const float* gradient_scale(Context& context) const override {
    return is_first_ ? nullptr : scale_into_input(context, shape_, *aggregation_);
  }

 private:
  [[nodiscard]] Operand aggregated() const {
    return Operand::of(aggregation_->rows(), aggregated_.data(), shape_.in);
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::shared_ptr<const Aggregation> aggregation_;
  bool is_first_;
  std::uint64_t aggregated_of_ = 0;  // Operand::constant of what stands aggregated.
  std::size_t self_, neighbours_;
  std::shared_ptr<Kept> kept_;
  KeptRows aggregated_;  // The input's sums over neighbours, where these come first.
};

}  // namespace

std::unique_ptr<Convolution> make_linear(Parameters& parameters, const ConvolutionShape& shape) {
  return std::make_unique<Linear>(parameters, shape);
}

std::unique_ptr<Convolution> make_gcn(Parameters& parameters, const ConvolutionShape& shape,
                                      std::shared_ptr<const Aggregation> aggregation) {
  return std::make_unique<Gcn>(parameters, shape, std::move(aggregation));
}

std::unique_ptr<Convolution> make_sage(Parameters& parameters, const ConvolutionShape& shape,
                                       std::shared_ptr<const Aggregation> aggregation) {
  return std::make_unique<Sage>(parameters, shape, std::move(aggregation));
}

}  // namespace warren::learn
