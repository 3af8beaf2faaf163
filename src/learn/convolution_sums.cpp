// SPDX-License-Identifier: Apache-2.0
// Convolutions whose aggregation is linear: GCN, GraphSAGE with sums and means, GIN; and none at
// all.
#include "warren/learn/convolution.hpp"

#include "learn/convolution_parts.hpp"

namespace warren::learn {
namespace {

/// Columns aggregated in forward and backward: before the product `in` and, where the input's
/// gradient is asked for, `in` again; after it twice `out`.
bool aggregates_first(const ConvolutionShape& shape) {
  if (shape.is_sparse) return false;
  return (shape.needs_input_gradient ? 2 : 1) * shape.in < 2 * shape.out;
}

class Linear final : public Convolution {
 public:
  Linear(Parameters& parameters, const ConvolutionShape& shape)
      : parameters_(parameters), shape_(shape), weight_(add_weight(parameters, shape)) {}

  void forward(Context& context, const Operand& x, Numbers y) override {
    transform(context, x, parameters_.value(weight_), y, shape_.out);
  }
  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx) override {
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
        weight_(add_weight(parameters, shape)) {}

  void forward(Context& context, const Operand& x, Numbers y) override {
    const float* w = parameters_.value(weight_);
    if (is_first_) {
      keep(context, aggregated_, exec::bytes_of(aggregation_->rows(), shape_.in));
      // y is made last.
      const bool fits = x.rows == aggregation_->rows() && context.padded(shape_.in) <= shape_.out;
      aggregation_->forward(context, x.dense, aggregated_.data(), shape_.in, 0.0f,
                            {.room = fits ? y : Numbers()});
      return transform(context, aggregated(), w, y, shape_.out);
    }
    const std::uint64_t stride = context.padded(shape_.out);
    const Numbers z = context.scratch(0, x.rows * stride);
    transform(context, x, w, z, shape_.out, 0.0f, stride);
    aggregation_->forward(context, z, y, shape_.out, 0.0f, {.x_stride = stride, .room = z});
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx) override {
    const float* w = parameters_.value(weight_);
    float* dw = parameters_.gradient(weight_);
    if (is_first_) {
      add_weight_gradient(context, aggregated(), dy, dw, shape_.out);
      if (!shape_.needs_input_gradient) return;
      const std::uint64_t rows = aggregation_->rows();
      const Numbers ds = context.scratch(0, rows * shape_.in);
      input_gradient(context, rows, dy, w, ds, shape_.in, shape_.out);
      return aggregation_->backward(context, ds, dx, shape_.in);
    }
    // dx is made last: until then it has the scaled rows of dy, and dy then those of dz.
    const std::uint64_t stride = context.padded(shape_.out);
    const Numbers room = shape_.needs_input_gradient && stride <= shape_.in ? dx : nullptr;
    const bool is_dy_free = room != nullptr && context.are_gradients_spent() &&
                            aggregation_->scales_backward() && stride == shape_.out &&
                            x.rows == aggregation_->rows();
    const Numbers dz = is_dy_free ? dy : context.scratch(0, x.rows * stride);
    aggregation_->backward(context, dy, dz, shape_.out, 0.0f, {.y_stride = stride, .room = room});
    add_weight_gradient(context, x, dz, dw, shape_.out, stride);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, dz, w, dx, shape_.in, shape_.out, 0.0f, stride);
  }

 private:
  [[nodiscard]] Operand aggregated() const {
    return Operand::of(aggregation_->rows(), aggregated_.data(), shape_.in);
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::shared_ptr<const Aggregation> aggregation_;
  bool is_first_;
  std::size_t weight_;
  NumberBuffer aggregated_;
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
        neighbours_(add_sage_weight(parameters, shape, ".neighbours.weight")) {}

  void forward(Context& context, const Operand& x, Numbers y) override {
    const float* w = parameters_.value(neighbours_);
    const std::uint64_t rows = aggregation_->rows();
    transform(context, x.first(rows), parameters_.value(self_), y, shape_.out);
    if (is_first_) {
      keep(context, aggregated_, exec::bytes_of(rows, shape_.in));
      aggregation_->forward(context, x.dense, aggregated_.data(), shape_.in);
      return transform(context, aggregated(), w, y, shape_.out, 1.0f);
    }
    const std::uint64_t stride = context.padded(shape_.out);
    const Numbers z = context.scratch(0, x.rows * stride);
    transform(context, x, w, z, shape_.out, 0.0f, stride);
    aggregation_->forward(context, z, y, shape_.out, 1.0f, {.x_stride = stride, .room = z});
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx) override {
    const float* w = parameters_.value(neighbours_);
    float* dw = parameters_.gradient(neighbours_);
    const std::uint64_t rows = aggregation_->rows();
    const std::uint64_t stride = context.padded(shape_.out);
    if (stride != shape_.out) {
      // Three products read it.
      const Numbers copy = context.scratch(1, rows * stride);
      scale_rows(context.stream(), rows, shape_.out, stride, nullptr, dy, copy);
      dy = copy;
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
      const Numbers ds = context.scratch(0, rows * shape_.in);
      input_gradient(context, rows, dy, w, ds, shape_.in, shape_.out, 0.0f, stride);
      return aggregation_->backward(context, ds, dx, shape_.in, 1.0f);
    }
    // Until dx is made it has the scaled rows of dy.
    const Numbers room = shape_.needs_input_gradient && stride <= shape_.in ? dx : nullptr;
    const Numbers dz = context.scratch(0, x.rows * stride);
    aggregation_->backward(context, dy, dz, shape_.out, 0.0f,
                           {.x_stride = stride, .y_stride = stride, .room = room});
    set_dx();
    add_weight_gradient(context, x, dz, dw, shape_.out, stride);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, dz, w, dx, shape_.in, shape_.out, 1.0f, stride);
  }

 private:
  [[nodiscard]] Operand aggregated() const {
    return Operand::of(aggregation_->rows(), aggregated_.data(), shape_.in);
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::shared_ptr<const Aggregation> aggregation_;
  bool is_first_;
  std::size_t self_, neighbours_;
  NumberBuffer aggregated_;
};

class Gin final : public Convolution {
 public:
  Gin(Parameters& parameters, const ConvolutionShape& shape,
      std::shared_ptr<const Aggregation> aggregation, NormKind norm)
      : parameters_(parameters),
        shape_(shape),
        aggregation_(std::move(aggregation)),
        is_first_(aggregates_first(shape)),
        epsilon_(parameters.add(
            {.name = shape.name + ".epsilon", .rows = 1, .columns = 1, .decays = shape.decays})),
        first_(add(".first.weight", shape.in, shape.out, shape.in)),
        bias_(add(".first.bias", 1, shape.out, shape.in)),
        second_(add(".second.weight", shape.out, shape.out, shape.out)),
        norm_(parameters, norm, shape.name + ".first.norm", shape.out) {}

  void forward(Context& context, const Operand& x, Numbers y) override {
    const exec::Stream& stream = context.stream();
    const std::uint64_t n = aggregation_->rows();
    const float* epsilon = parameters_.value(epsilon_);
    const float* w = parameters_.value(first_);
    keep(context, hidden_, exec::bytes_of(n, shape_.out));
    const Numbers before = norm_.input(context, n, hidden_.data());
    if (is_first_) {
      keep(context, aggregated_, exec::bytes_of(n, shape_.in));
      aggregation_->forward(context, x.dense, aggregated_.data(), shape_.in);
      add_self(stream, n, shape_.in, epsilon, x.dense, aggregated_.data());
      transform(context, aggregated(), w, before, shape_.out);
    } else {
      const Numbers z = context.scratch(0, x.rows * shape_.out);
      transform(context, x, w, z, shape_.out);
      aggregation_->forward(context, z, before, shape_.out);
      add_self(stream, n, shape_.out, epsilon, z, before);
    }
    norm_.forward(context, epilogue(), n, hidden_.data());
    transform(context, hidden(), parameters_.value(second_), y, shape_.out);
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx) override {
    const exec::Stream& stream = context.stream();
    const std::uint64_t n = aggregation_->rows();
    const float* epsilon = parameters_.value(epsilon_);
    const float* w = parameters_.value(first_);
    float* dw = parameters_.gradient(first_);
    const Numbers du = context.scratch(1, n * shape_.out);
    add_weight_gradient(context, hidden(), dy, parameters_.gradient(second_), shape_.out);
    input_gradient(context, n, dy, parameters_.value(second_), du, shape_.out, shape_.out);
    norm_.backward(context, epilogue(), n, hidden_.data(), du, parameters_.gradient(bias_));
    if (is_first_) {
      add_weight_gradient(context, aggregated(), du, dw, shape_.out);
      // d epsilon = <ds, x>.
      const Numbers ds = context.scratch(0, n * shape_.in);
      input_gradient(context, n, du, w, ds, shape_.in, shape_.out);
      sums_.add_all(stream, {.k = shape_.in, .a = ds, .b = x.dense}, n,
                    parameters_.gradient(epsilon_));
      if (!shape_.needs_input_gradient) return;
      aggregation_->backward(context, ds, dx, shape_.in);
      return add_self(stream, n, shape_.in, epsilon, ds, dx);
    }
    // d epsilon = <du, x W>.
    const Numbers z = context.scratch(0, x.rows * shape_.out);
    transform(context, x, w, z, shape_.out);
    sums_.add_all(stream, {.k = shape_.out, .a = du, .b = z}, n, parameters_.gradient(epsilon_));
    aggregation_->backward(context, du, z, shape_.out);
    add_self(stream, n, shape_.out, epsilon, du, z);
    add_weight_gradient(context, x, z, dw, shape_.out);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, z, w, dx, shape_.in, shape_.out);
  }

 private:
  [[nodiscard]] Operand aggregated() const {
    return Operand::of(aggregation_->rows(), aggregated_.data(), shape_.in);
  }
  [[nodiscard]] Operand hidden() const {
    return Operand::of(aggregation_->rows(), hidden_.data(), shape_.out);
  }
  [[nodiscard]] Epilogue epilogue() const {
    return {.bias = parameters_.value(bias_), .activation = Activation::relu};
  }
  std::size_t add(const char* name, std::uint64_t rows, std::uint64_t columns,
                  std::uint64_t fan_in) {
    return parameters_.add({.name = shape_.name + name,
                            .rows = rows,
                            .columns = columns,
                            .initial = Initial::fan_in,
                            .fan_in = fan_in,
                            .decays = shape_.decays});
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::shared_ptr<const Aggregation> aggregation_;
  bool is_first_;
  std::size_t epsilon_, first_, bias_, second_;
  Norm norm_;
  NumberBuffer aggregated_, hidden_;
  ColumnSums sums_;
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

std::unique_ptr<Convolution> make_gin(Parameters& parameters, const ConvolutionShape& shape,
                                      std::shared_ptr<const Aggregation> aggregation,
                                      NormKind norm) {
  return std::make_unique<Gin>(parameters, shape, std::move(aggregation), norm);
}

}  // namespace warren::learn
