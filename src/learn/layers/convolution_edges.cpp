// SPDX-License-Identifier: Apache-2.0
// Convolutions that look at edges one by one: GraphSAGE with the largest of the neighbours, and
// GAT.
#include "warren/core/error.hpp"
#include "warren/learn/convolution.hpp"

#include "learn/layers/convolution_parts.hpp"
#include "learn/layers/edge_features.hpp"

namespace warren::learn {
namespace {

/// Copies own rows, followed by those of the halo, to `all`.
template <class T>
void join(Context& context, const Neighbours& neighbours, const T* own, std::uint64_t k, T* all) {
  const std::uint64_t rows = neighbours.own_columns();
  const T* pulled = neighbours.pull(context, own, k);
  exec::copy(context.stream(), all, own, rows * k * sizeof(T));
  exec::copy(context.stream(), all + rows * k, pulled, neighbours.halo() * k * sizeof(T));
}

/// Room for own rows and those of the halo as float32, which segment_max() wants in one piece.
class JoinedRows {
 public:
  JoinedRows(Context& context, const Neighbours& neighbours, std::uint64_t k)
      : context_(context), neighbours_(neighbours), k_(k) {
    if (context.type() == NumberType::float32 && neighbours.halo() == 0) return;
    memory_ = context.workspace().take<float>((neighbours.own_columns() + neighbours.halo()) * k);
  }
  /// Of rows of the context's type; where they are all there is and float32, these themselves.
  [[nodiscard]] const float* joined(ConstNumbers own) const {
    const std::uint64_t rows = neighbours_.own_columns();
    float* const all = memory_;
    if (all == nullptr) {
      (void)neighbours_.pull(context_, own.as<float>(), k_);
      return own.as<float>();
    }
    if (own.type() == NumberType::float32) {
      join(context_, neighbours_, own.as<float>(), k_, all);
      return all;
    }
    const ConstNumbers pulled = neighbours_.pull(context_, own, k_);
    scale_rows(context_.stream(), rows, k_, k_, nullptr, own, all);
    scale_rows(context_.stream(), neighbours_.halo(), k_, k_, nullptr, pulled, all + rows * k_);
    return all;
  }

 private:
  Context& context_;
  const Neighbours& neighbours_;
  std::uint64_t k_;
  Workspace::Taken<float> memory_;
};

/// make(float32 room for n x k), rounded to `to` where that is of 16 bits.
template <class Make>
void make_floats(Context& context, std::uint64_t n, std::uint64_t k, Numbers to, Make&& make) {
  if (to.type() == NumberType::float32) return make(to.as<float>());
  const auto wide = context.workspace().take<float>(n * k);
  make(wide.data());
  scale_rows(context.stream(), n, k, k, nullptr, wide.data(), to);
}

class SageMax final : public Convolution {
 public:
  SageMax(Parameters& parameters, const ConvolutionShape& shape, const Neighbourhood& neighbourhood)
      : parameters_(parameters),
        shape_(shape),
        out_(neighbourhood.out),
        in_(neighbourhood.in),
        self_(add_sage_weight(parameters, shape, ".self.weight")),
        neighbours_(add_sage_weight(parameters, shape, ".neighbours.weight")),
        kept_(or_own(shape.kept)),
        largest_(kept_),
        owners_(kept_) {
    require(!shape.is_sparse, "the largest of neighbours is taken of dense rows");
  }

  void forward(Context& context, const Operand& x, Numbers y,
               const ForwardPass& /*pass*/) override {
    refill(context, x, nullptr);
    transform(context, x.first(out_->rows()), parameters_.value(self_), y, shape_.out);
    transform(context, largest(), parameters_.value(neighbours_), y, shape_.out, 1.0f);
  }

  void refill(Context& context, const Operand& x, Numbers /*y*/) override {
    const std::uint64_t rows = out_->rows();
    const std::uint64_t size = rows * shape_.in;
    const Numbers most = largest_.take(context, size);
    auto* arg = owners_.take(context, size);
    const JoinedRows room(context, *out_, shape_.in);
    const float* all = room.joined(x.dense);
    make_floats(context, rows, shape_.in, most, [&](float* to) {
      sparse::segment_max(context.stream(), out_->view(), out_->row_plan(), shape_.in, all, to,
                          arg);
    });
    if (out_->vertices() != nullptr)
      renumber(context.stream(), rows, shape_.in, out_->vertices(), 0, arg);
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                const GivenGradient& /*given*/) override {
    const float* w = parameters_.value(neighbours_);
    const std::uint64_t rows = out_->rows();
    add_weight_gradient(context, x.first(rows), dy, parameters_.gradient(self_), shape_.out);
    add_weight_gradient(context, largest(), dy, parameters_.gradient(neighbours_), shape_.out);
    if (!shape_.needs_input_gradient) return;
    const JoinedRows room(context, *in_, shape_.in);  // In the block that forward's rows were in.
    const TakenRows ds = context.take_rows(rows * shape_.in);
    input_gradient(context, rows, dy, w, ds, shape_.in, shape_.out);
    const float* all_ds = room.joined(ds);
    const std::uint64_t all_rows = rows + in_->halo();
    const auto arg = context.workspace().take<Vertex>(all_rows * shape_.in);
    join<Vertex>(context, *in_, owners_.data(), shape_.in, arg);
    // As segment_max_backward() has them: rows of this rank from 0.
    renumber(context.stream(), all_rows, shape_.in, nullptr, static_cast<Vertex>(in_->first()),
             arg);
    make_floats(context, in_->rows(), shape_.in, dx, [&](float* to) {
      sparse::segment_max_backward(context.stream(), in_->view(), in_->row_plan(), shape_.in,
                                   all_ds, arg, to);
    });
    input_gradient(context, rows, dy, parameters_.value(self_), dx, shape_.in, shape_.out, 1.0f);
  }

 private:
  [[nodiscard]] Operand largest() const {
    return Operand::of(out_->rows(), largest_.data(), shape_.in);
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::shared_ptr<const Neighbours> out_, in_;
  std::size_t self_, neighbours_;
  std::shared_ptr<Kept> kept_;
  KeptRows largest_;          // Of the neighbours' rows.
  KeptArray<Vertex> owners_;  // Whose each of its elements is.
};

class Gat final : public Convolution {
 public:
  Gat(Parameters& parameters, const ConvolutionShape& shape, const Neighbourhood& neighbourhood,
      const AttentionShape& attention, float edge_dropout)
      : parameters_(parameters),
        shape_(shape),
        heads_(attention.heads),
        width_(attention.width),
        is_weighted_(attention.edge_weights),
        edge_dropout_(edge_dropout),
        kept_(or_own(shape.kept)),
        logits_(kept_),
        attention_(neighbourhood, attention, kept_),
        weights_(add_gat_weights(parameters, shape, attention)) {}

  void forward(Context& context, const Operand& x, Numbers y, const ForwardPass& pass) override {
    const std::uint64_t n = x.rows;
    const TakenRows z = context.take_rows(n * stride(context), pass.spare);
    auto* r = logits_.take(context, n * heads_);
    transform(context, x, parameters_.value(weights_.weight), z, shape_.out, 0.0f, stride(context));
    if (is_weighted_) set_by_weight(context);
    attention_.forward(context, dropout(context), z, parameters_.value(weights_.left),
                       parameters_.value(weights_.right), by_weight(), r, y);
  }

  void backward(Context& context, const Operand& x, Numbers dy, Numbers dx,
                const GivenGradient& /*given*/) override {
    const std::uint64_t n = x.rows;
    // Made again rather than kept: a product costs less than the room.
    const TakenRows z = context.take_rows(n * stride(context));
    transform(context, x, parameters_.value(weights_.weight), z, shape_.out, 0.0f, stride(context));
    const TakenRows dz = context.take_rows(n * stride(context));
    const auto dl = context.workspace().take<float>(n * heads_);
    const auto dr = context.workspace().take<float>(n * heads_);
    // dx is made last.
    const Numbers room = shape_.needs_input_gradient && stride(context) <= shape_.in ? dx : nullptr;
    attention_.backward(context, dropout(context), z, parameters_.value(weights_.left),
                        parameters_.value(weights_.right), by_weight(), logits_.data(), dy, dz, dl,
                        dr, room);
    sums_.add_heads(context.stream(), n, heads_, width_, stride(context), z, dl, dr,
                    parameters_.gradient(weights_.left), parameters_.gradient(weights_.right));
    if (is_weighted_) add_by_weight_gradient(context, n);
    add_weight_gradient(context, x, dz, parameters_.gradient(weights_.weight), shape_.out,
                        stride(context));
    if (shape_.needs_input_gradient)
      input_gradient(context, n, dz, parameters_.value(weights_.weight), dx, shape_.in, shape_.out,
                     0.0f, stride(context));
  }

 private:
  /// Of z's rows.
  [[nodiscard]] std::uint64_t stride(const Context& context) const {
    return context.padded(shape_.out);
  }
  [[nodiscard]] Dropout dropout(Context& context) const {
    return context.dropout(edge_dropout_, shape_.purpose);
  }
  /// What weights of edges are multiplied by, of every head; nullptr: they do not count.
  [[nodiscard]] const float* by_weight() const { return by_weight_.data(); }
  void set_by_weight(Context& context) {
    context.keep(by_weight_, 2 * heads_);
    detail::run_where(
        context.stream(), heads_,
        detail::ByWeightKernel{width_, parameters_.value(weights_.edge),
                               parameters_.value(weights_.edge_weight), by_weight_.data()});
  }
  void add_by_weight_gradient(Context& context, std::uint64_t rows) {
    float* gradient = by_weight_.data() + heads_;
    exec::fill_bytes(context.stream(), gradient, 0, heads_ * sizeof(float));
    sums_.add(context.stream(), {heads_, attention_.by_weight_terms()}, rows, gradient);
    detail::run_where(context.stream(), heads_,
                      detail::ByWeightGradientKernel{width_, parameters_.value(weights_.edge),
                                                     parameters_.value(weights_.edge_weight),
                                                     gradient, parameters_.gradient(weights_.edge),
                                                     parameters_.gradient(weights_.edge_weight)});
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  std::uint64_t heads_, width_;
  bool is_weighted_;
  float edge_dropout_;
  std::shared_ptr<Kept> kept_;
  KeptArray<float> logits_;  // r of every row and head.
  Attention attention_;
  GatWeights weights_;
  ColumnSums sums_;
  memory::Buffer<float> by_weight_;  // And its gradient.
};

}  // namespace

std::unique_ptr<Convolution> make_sage_max(Parameters& parameters, const ConvolutionShape& shape,
                                           const Neighbourhood& neighbourhood) {
  return std::make_unique<SageMax>(parameters, shape, neighbourhood);
}

std::unique_ptr<Convolution> make_gat(Parameters& parameters, const ConvolutionShape& shape,
                                      const Neighbourhood& neighbourhood,
                                      const AttentionShape& attention, float edge_dropout) {
  require(attention.heads * attention.width == shape.out,
          "attention: heads times width must be the output's width");
  if (attends_first(shape, attention))
    return make_gat_first(parameters, shape, neighbourhood, attention, edge_dropout);
  return std::make_unique<Gat>(parameters, shape, neighbourhood, attention, edge_dropout);
}

}  // namespace warren::learn
