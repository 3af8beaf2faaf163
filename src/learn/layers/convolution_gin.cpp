// SPDX-License-Identifier: Apache-2.0
// GIN: a layer of two products within, of the neighbours' sums.
#include "warren/learn/convolution.hpp"

#include "learn/layers/convolution_parts.hpp"

namespace warren::learn {
namespace {

class Gin final : public Convolution {
 public:
  Gin(Parameters& parameters, const ConvolutionShape& shape,
      std::shared_ptr<const Aggregation> aggregation, NormKind norm)
      : parameters_(parameters),
        shape_(shape),
        aggregation_(std::move(aggregation)),
        is_first_(aggregates_first(shape)),
        epsilon_(parameters.add(
            {.name = shape.name + ".epsilon", .rows = 1, .columns = 1, .decay = shape.decay})),
        first_(add(".first.weight", shape.in, shape.out, shape.in)),
        bias_(add(".first.bias", 1, shape.out, shape.in)),
        second_(add(".second.weight", shape.out, shape.out, shape.out)),
        kept_(or_own(shape.kept)),
        hidden_(kept_),
        norm_(parameters, norm, shape.name + ".first.norm", shape.out, kept_),
        aggregated_(kept_) {}

  void forward(Context& context, const Operand& x, Numbers y, const ForwardPass& pass) override {
    set_hidden(context, x, pass);
    transform(context, hidden(), parameters_.value(second_), y, shape_.out);
  }

  void refill(Context& context, const Operand& x, Numbers /*y*/) override {
    set_hidden(context, x, {.spare = {}, .pass = Pass::repeated});
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                const GivenGradient& /*given*/) override {
    const exec::Stream& stream = context.stream();
    const std::uint64_t n = aggregation_->rows();
    const float* epsilon = parameters_.value(epsilon_);
    const float* w = parameters_.value(first_);
    float* dw = parameters_.gradient(first_);
    const TakenRows du = context.take_rows(n * shape_.out);
    add_weight_gradient(context, hidden(), dy, parameters_.gradient(second_), shape_.out);
    input_gradient(context, n, dy, parameters_.value(second_), du, shape_.out, shape_.out);
    norm_.backward(context, epilogue(), n, hidden().dense, du, parameters_.gradient(bias_));
    if (is_first_) {
      add_weight_gradient(context, aggregated(), du, dw, shape_.out);
      // d epsilon = <ds, x>.
      const TakenRows ds = context.take_rows(n * shape_.in);
      input_gradient(context, n, du, w, ds, shape_.in, shape_.out);
      sums_.add_all(stream, {.k = shape_.in, .a = ds, .b = x.dense}, n,
                    parameters_.gradient(epsilon_));
      if (!shape_.needs_input_gradient) return;
      aggregation_->backward(context, ds, dx, shape_.in);
      return add_self(stream, n, shape_.in, epsilon, ds, dx);
    }
    // d epsilon = <du, x W>.
    const TakenRows z = context.take_rows(x.rows * shape_.out);
    transform(context, x, w, z, shape_.out);
    sums_.add_all(stream, {.k = shape_.out, .a = du, .b = z}, n, parameters_.gradient(epsilon_));
    aggregation_->backward(context, du, z, shape_.out);
    add_self(stream, n, shape_.out, epsilon, du, z);
    add_weight_gradient(context, x, z, dw, shape_.out);
    if (shape_.needs_input_gradient)
      input_gradient(context, x.rows, z, w, dx, shape_.in, shape_.out);
  }

 private:
  /// What the second product is of, and what backward() needs beside.
  void set_hidden(Context& context, const Operand& x, const ForwardPass& pass) {
    const exec::Stream& stream = context.stream();
    const std::uint64_t n = aggregation_->rows();
    const float* epsilon = parameters_.value(epsilon_);
    const float* w = parameters_.value(first_);
    const Numbers inner = hidden_.take(context, exec::bytes_of(n, shape_.out));
    const Numbers before = norm_.input(context, n, inner);
    if (is_first_) {
      const Numbers sums = aggregated_.take(context, exec::bytes_of(n, shape_.in));
      aggregation_->forward(context, x.dense, sums, shape_.in);
      add_self(stream, n, shape_.in, epsilon, x.dense, sums);
      transform(context, aggregated(), w, before, shape_.out);
    } else {
      const TakenRows z = context.take_rows(x.rows * shape_.out, pass.spare);
      transform(context, x, w, z, shape_.out);
      aggregation_->forward(context, z, before, shape_.out);
      add_self(stream, n, shape_.out, epsilon, z, before);
    }
    norm_.forward(context, epilogue(), n, inner, pass.pass);
  }

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
                            .decay = shape_.decay});
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::shared_ptr<const Aggregation> aggregation_;
  bool is_first_;
  std::size_t epsilon_, first_, bias_, second_;
  std::shared_ptr<Kept> kept_;
  KeptRows hidden_;  // What the second product is of.
  Norm norm_;
  KeptRows aggregated_;  // The input's sums over neighbours, where these come first.
  ColumnSums sums_;
};

}  // namespace

std::unique_ptr<Convolution> make_gin(Parameters& parameters, const ConvolutionShape& shape,
                                      std::shared_ptr<const Aggregation> aggregation,
                                      NormKind norm) {
  return std::make_unique<Gin>(parameters, shape, std::move(aggregation), norm);
}

}  // namespace warren::learn
