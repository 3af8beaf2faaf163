// SPDX-License-Identifier: Apache-2.0
// GAT's first layer, whose rows are narrow and whose input has no gradient: attention over x, then
// the product.
#include "warren/core/error.hpp"
#include "warren/exec/dry_run.hpp"
#include "warren/learn/convolution.hpp"

#include "learn/attention/gat/attention_kernels.hpp"
#include "learn/attention/narrow/aggregate_first_logits.hpp"
#include "learn/attention/narrow/aggregate_first_walk.hpp"
#include "learn/attention/narrow/aggregate_first_weights.hpp"
#include "learn/layers/convolution_parts.hpp"
#include "learn/layers/edge_dropout.hpp"

namespace warren::learn {
namespace {

class GatFirst final : public Convolution {
 public:
  GatFirst(Parameters& parameters, const ConvolutionShape& shape,
           const Neighbourhood& neighbourhood, const AttentionShape& attention, float edge_dropout)
      : parameters_(parameters),
        shape_(shape),
        attention_(attention),
        edge_dropout_(edge_dropout),
        out_(neighbourhood.out),
        weights_(add_gat_weights(parameters, shape, attention)),
        kept_(or_own(shape.kept)),
        logits_(kept_),
        aggregated_(kept_),
        statistics_(kept_) {}

  void forward(Context& context, const Operand& x, Numbers y,
               const ForwardPass& /*pass*/) override {
    refill(context, x, nullptr);
    const auto blocks = block_weights(context);
    transform(context, sums(), blocks, y, shape_.out);
  }

  void refill(Context& context, const Operand& x, Numbers /*y*/) override {
    const exec::Stream& stream = context.stream();
    const Neighbours& n = *out_;
    const std::uint64_t heads = attention_.heads, rows = n.rows();
    const std::uint64_t columns = n.own_columns() + n.halo();
    aggregated_.take(context, exec::bytes_of(rows, width()));
    statistics_.take(context, rows * heads * detail::kStatistics);
    auto* r = logits_.take(context, columns * heads);
    const auto folded = context.workspace().take<float>(2 * width() + rows * heads);
    float* const u = folded;
    float* const l = u + 2 * width();
    detail::run_where(stream, 2 * width(), detail::FoldKernel{weights(), u});
    begin_pull(context, x);
    const auto set_logits = [&]<class T>(T, ConstNumbers part, std::uint64_t first,
                                         std::uint64_t count, std::uint64_t targets) {
      const detail::FirstLogits<T> logits{heads,        shape_.in, targets, count,
                                          part.as<T>(), u,         l,       r + first * heads};
      detail::run_where(stream, logits.tasks(), logits);
    };
    with_type(x.dense.type(), [&]<class T>(T type) {
      set_logits(type, x.dense, 0, n.own_columns(), rows);
      if (n.is_shared()) {
        context.measured(Part::communicate, [&] { n.end_pull(context); });
        set_logits(type, pulled_, n.own_columns(), n.halo(), 0);
      }
      largest(context, l);
      walk<T>(context, x, nullptr, 0, nullptr);
    });
  }

  [[nodiscard]] bool reads_transposed() const override { return false; }
  void backward(Context& context, const Operand& x, Numbers dy, Numbers /*dx*/,
                const GivenGradient& /*given*/) override {
    const exec::Stream& stream = context.stream();
    const std::uint64_t rows = out_->rows();
    begin_pull(context, x);
    const TakenRows gradient = context.take_rows(rows * width());
    const auto blocks = block_weights(context);
    input_gradient(context, rows, dy, blocks, gradient, width(), shape_.out);
    const auto to_blocks = context.workspace().take<float>(width() * shape_.out);
    exec::fill_bytes(stream, to_blocks, 0, width() * shape_.out * sizeof(float));
    add_weight_gradient(context, sums(), dy, to_blocks, shape_.out);
    if (out_->is_shared()) context.measured(Part::communicate, [&] { out_->end_pull(context); });
    std::uint64_t workers = 0;
    Workspace::Taken<float> partials;
    with_type(x.dense.type(), [&]<class T>(T) {
      workers = detail::first_workers(
          exec::sizes_of(stream.device()),
          context.has_tensor_sums() && detail::fits_tensor_cores<T>(attention_.heads));
      partials = context.workspace().take<float>(workers * 2 * width());
      walk<T>(context, x, gradient.data().template as<T>(), workers, partials);
    });
    const auto folded = context.workspace().take<float>(2 * width());
    float* const du = folded;
    exec::fill_bytes(stream, du, 0, 2 * width() * sizeof(float));
    const detail::AddPartialsKernel add{workers, 2, width(), partials, {du, du + width()}};
    exec::with_backend(stream.device(), [&](auto backend) {
      detail::run_blocks<decltype(backend)>(stream, 2 * width(), add);
    });
    detail::run_where(
        stream, shape_.in,
        detail::UnfoldKernel{weights(), to_blocks, du, parameters_.gradient(weights_.weight)});
    detail::run_where(stream, shape_.out,
                      detail::UnfoldSidesKernel{weights(), du, parameters_.gradient(weights_.left),
                                                parameters_.gradient(weights_.right)});
  }

 private:
  /// Of what is multiplied: x's columns for every head.
  [[nodiscard]] std::uint64_t width() const { return attention_.heads * shape_.in; }
  [[nodiscard]] Operand sums() const {
    return Operand::of(out_->rows(), aggregated_.data(), width());
  }
  [[nodiscard]] float* statistics() const { return statistics_.data(); }
  [[nodiscard]] float* logits() const { return logits_.data(); }
  [[nodiscard]] detail::FirstWeights weights() const {
    return {attention_.heads,
            shape_.in,
            attention_.width,
            parameters_.value(weights_.weight),
            parameters_.value(weights_.left),
            parameters_.value(weights_.right)};
  }
  [[nodiscard]] Workspace::Taken<float> block_weights(Context& context) const {
    auto to = context.workspace().take<float>(width() * shape_.out);
    detail::run_where(context.stream(), width(), detail::BlockDiagonalKernel{weights(), to});
    return to;
  }
  void begin_pull(Context& context, const Operand& x) {
    if (!out_->is_shared()) return;
    context.measured(Part::communicate,
                     [&] { pulled_ = out_->begin_pull(context, x.dense, shape_.in); });
  }
  void largest(Context& context, const float* l) {
    const std::uint64_t columns = out_->own_columns() + out_->halo();
    const detail::LargestKernel<false> kernel{{},
                                              out_->view(),
                                              attention_.heads,
                                              attention_.slope,
                                              l,
                                              {logits(), nullptr, columns, attention_.heads},
                                              statistics()};
    context.measured(Part::aggregate, [&] {
      exec::with_backend(context.stream().device(), [&](auto backend) {
        sparse::detail::run_rows<decltype(backend), detail::LargestKernel<false>>(
            context.stream(), out_->view(), out_->row_plan(), kernel);
      });
    });
  }
  /// Forward, or backward where there are workers for it.
  template <class T>
  void walk(Context& context, const Operand& x, const T* gradients, std::uint64_t workers,
            float* partials) {
    const Neighbours& n = *out_;
    const sparse::SpmmPlan& plan = n.plan();
    const exec::Stream& stream = context.stream();
    const EdgeDropoutKeys dropped =
        edge_dropout(context, n, context.dropout(edge_dropout_, shape_.purpose));
    detail::FirstJob<T> job{};
    job.a = n.view();
    job.tasks = plan.task_data();
    job.task_count = plan.tasks();
    job.splits = plan.split_data();
    job.split_count = plan.splits();
    job.heads = attention_.heads;
    job.columns = static_cast<std::uint32_t>(shape_.in);
    job.slope = attention_.slope;
    job.dropout = dropped.view();
    job.x = {x.dense.as<T>(), pulled_.as<T>(), n.own_columns(), shape_.in};
    job.r = logits();
    job.statistics = statistics();
    job.sums = aggregated_.data().template as<T>();
    job.gradients = gradients;
    job.workers = workers;
    job.tensor_sums = context.has_tensor_sums();
    job.partials = workers == 0 ? plan.partials(stream, job.piece_stride()) : partials;
    context.measured(Part::aggregate, [&] {
      exec::with_backend(stream.device(), [&](auto backend) {
        detail::run_first<decltype(backend), T>(stream, job);
      });
    });
  }

  Parameters& parameters_;
  ConvolutionShape shape_;
  AttentionShape attention_;
  float edge_dropout_;
  std::shared_ptr<const Neighbours> out_;
  GatWeights weights_;
  ConstNumbers pulled_;
  std::shared_ptr<Kept> kept_;
  KeptArray<float> logits_;      // r of every column and head.
  KeptRows aggregated_;          // Of every row and head: x summed over its neighbours.
  KeptArray<float> statistics_;  // Likewise.
};

}  // namespace

bool attends_first(const ConvolutionShape& shape, const AttentionShape& attention) {
  return !attention.edge_weights && !shape.needs_input_gradient && !shape.is_sparse &&
         shape.in % 4 == 0 && shape.in <= detail::kFirstColumns &&
         attention.heads * shape.in <= 2 * shape.out;
}

std::unique_ptr<Convolution> make_gat_first(Parameters& parameters, const ConvolutionShape& shape,
                                            const Neighbourhood& neighbourhood,
                                            const AttentionShape& attention, float edge_dropout) {
  return std::make_unique<GatFirst>(parameters, shape, neighbourhood, attention, edge_dropout);
}

}  // namespace warren::learn
