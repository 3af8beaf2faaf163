// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/attention.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "warren/exec/memory.hpp"
#include "warren/sparse/halo_split.hpp"

#include "learn/attention/gat/attention_kernels.hpp"
#include "learn/layers/edge_dropout.hpp"

namespace warren::learn {
namespace {

// Nobody else's: the sums of a walk's first part, and dy with padded rows.

template <class Kernel>
void run_rows(Context& context, const Neighbours& neighbours, const Kernel& kernel) {
  const exec::Stream& stream = context.stream();
  context.measured(Part::aggregate, [&] {
    exec::with_backend(stream.device(), [&](auto backend) {
      sparse::detail::run_rows<decltype(backend), Kernel>(stream, neighbours.view(),
                                                          neighbours.row_plan(), kernel);
    });
  });
}

template <class Side>
void run_job(Context& context, detail::AttentionJob<Side>& job, const sparse::MatrixView& a,
             const sparse::SpmmPlan& plan) {
  if (plan.tasks() == 0) return;
  const exec::Stream& stream = context.stream();
  job.a = a;
  job.tasks = plan.task_data();
  job.task_count = plan.tasks();
  job.splits = plan.split_data();
  job.split_count = plan.splits();
  // A multiple of the columns that a lane has.
  job.partial_stride =
      2 * job.k + context.padded(2 * job.heads) + (Side::kSumsWeighted ? job.k : 0);
  job.partials = plan.partials(stream, job.partial_stride);
  context.measured(Part::aggregate, [&] {
    exec::with_backend(stream.device(),
                       [&](auto backend) { detail::run_walk<decltype(backend)>(stream, job); });
  });
}

/// Over all of the matrix' entries; of several ranks over those of own columns while the halo's
/// rows of x are on their way.
template <class Side>
void walk(Context& context, const Neighbours& n, const AttentionShape& shape, const Side& side,
          ConstNumbers x, Numbers all, Numbers positive) {
  using T = typename Side::Element;
  const std::uint64_t k = context.padded(shape.heads * shape.width);
  detail::AttentionJob<Side> job{};
  job.side = side;
  job.tensor_sums = context.has_tensor_sums();
  job.heads = shape.heads;
  job.width = shape.width;
  job.k = k;
  job.x = {x.as<T>(), nullptr, n.own_columns(), k};
  job.all = all.as<T>();
  job.positive = positive.as<T>();
  const sparse::HaloSplit* split = n.split(context.stream());
  if (split == nullptr) return run_job(context, job, n.view(), n.plan());
  const auto sums = context.workspace().take<float>(n.rows() * shape.heads * 2);
  job.sums = sums;
  ConstNumbers pulled;
  context.measured(Part::communicate, [&] { pulled = n.begin_pull(context, x, k); });
  job.part = detail::WalkPart::first;
  run_job(context, job, split->own(n.view()), split->own_plan());
  context.measured(Part::communicate, [&] { n.end_pull(context); });
  job.x.pulled = pulled.as<T>();
  job.part = detail::WalkPart::rest;
  run_job(context, job, split->halo(n.view()), split->halo_plan());
}

}  // namespace

namespace {

/// Floats of weighted edges' shares and terms, after which rows of packs may begin.
std::uint64_t padded_terms(std::uint64_t rows, std::uint64_t heads) {
  constexpr std::uint64_t kPack = 64;
  return (2 * rows * heads + kPack - 1) / kPack * kPack;
}

}  // namespace

void Attention::forward(Context& context, const Dropout& dropout, ConstNumbers z, const float* left,
                        const float* right, const float* by_weight, float* r, Numbers y) {
  const exec::Stream& stream = context.stream();
  const Neighbours& n = *out_;
  const std::uint64_t heads = shape_.heads;
  const std::uint64_t width = shape_.width;
  const float slope = shape_.slope;
  const std::uint64_t k = context.padded(heads * width);
  const std::uint64_t rows = n.rows();
  const std::uint64_t sources = n.own_columns();
  // Backward has the sources' sums in the same places.
  const std::uint64_t most = std::max(rows, sources);
  const bool is_weighted = shape_.edge_weights;
  by_weight_terms_ = nullptr;
  const bool has_room = z.type() == NumberType::float32;
  const Numbers all_y = all_.take(context, (is_weighted && has_room ? most : rows) * k);
  const Numbers positive = positive_.take(context, most * k);
  auto* statistics = statistics_.take(context, rows * heads * detail::kStatistics);
  // Of weighted edges room for their terms, and of rows of 16 bits for backward's third sums.
  std::uint64_t shares = most * heads;
  if (is_weighted) shares = padded_terms(most, heads) + (has_room ? 0 : most * k);
  auto* share = shares_.take(context, shares);
  with_type(z.type(), [&]<class T>(T) {
    // l is needed no longer than until it stands in the statistics.
    float* l = share;
    const auto shape = detail::HeadShape::of<T>(heads, width, k, {z.raw()});
    detail::run_where(stream, most, detail::LogitsKernel<T>{shape, z.as<T>(), left, right, l, r});
    const float* pulled_r = n.pull(context, r, heads, 1);
    const detail::TwoParts<float> all_r{r, pulled_r, sources, heads};
    const EdgeDropoutKeys dropped = edge_dropout(context, n, dropout);
    const detail::ForwardSide<T> side{heads,      slope, dropped.view(), all_r,
                                      statistics, share, y.as<T>(),      heads * width};
    if (is_weighted) {
      run_rows(
          context, n,
          detail::LargestKernel<true>{{}, n.view(), heads, slope, l, all_r, statistics, by_weight});
      return walk(context, n, shape_, detail::WeightedForwardSide<T>{side, by_weight}, z, all_y,
                  positive);
    }
    run_rows(context, n,
             detail::LargestKernel<false>{{}, n.view(), heads, slope, l, all_r, statistics});
    walk(context, n, shape_, side, z, all_y, positive);
  });
}

void Attention::backward(Context& context, const Dropout& dropout, ConstNumbers z,
                         const float* left, const float* right, const float* by_weight,
                         const float* r, ConstNumbers dy, Numbers dz, float* dl, float* dr,
                         Numbers room) {
  const exec::Stream& stream = context.stream();
  const Neighbours& n = *in_;
  const std::uint64_t heads = shape_.heads;
  const std::uint64_t width = shape_.width;
  const float slope = shape_.slope;
  const std::uint64_t k = context.padded(heads * width);
  const std::uint64_t rows = n.rows();
  const std::uint64_t targets = out_->rows();
  std::optional<TakenRows> copy;
  if (k != heads * width) {
    copy = room != nullptr ? TakenRows(room) : context.take_rows(targets * k);
    scale_rows(stream, targets, heads * width, k, nullptr, dy, copy->data());
    dy = copy->data();
  }
  if (rows > targets)  // Sources alone have no l.
    exec::fill_bytes(stream, dl + targets * heads, 0, (rows - targets) * heads * sizeof(float));
  const Numbers all_y = all_.data();
  const Numbers positive = positive_.data();
  auto* statistics = statistics_.data();
  auto* share = shares_.data();
  with_type(z.type(), [&]<class T>(T) {
    const auto shape = detail::HeadShape::of<T>(
        heads, width, k, {z.raw(), dz.raw(), dy.raw(), all_y.raw(), positive.raw()});
    detail::run_where(stream, targets,
                      detail::LeftGradientKernel<T>{shape, slope, dy.as<T>(), all_y.as<T>(),
                                                    positive.as<T>(), share, statistics, dl});
    const std::uint64_t many = heads * detail::kStatistics;
    const float* pulled_statistics = n.pull(context, statistics, many, 1);
    // From here on nothing of forward is needed but the statistics.
    float* t = share;
    const EdgeDropoutKeys dropped = edge_dropout(context, n, dropout);
    const detail::BackwardSide<T> side{
        heads, slope, dropped.view(), r, {statistics, pulled_statistics, targets, many}, t};
    if (!shape_.edge_weights) {
      walk(context, n, shape_, side, dy, dz, positive);
    } else {
      float* terms = share + rows * heads;
      float* weighted = share + padded_terms(std::max(rows, targets), heads);
      if constexpr (std::is_same_v<T, float>) weighted = all_y.as<float>();
      walk(context, n, shape_, detail::WeightedBackwardSide<T>{side, by_weight, weighted, terms},
           dy, dz, positive);
      detail::run_where(stream, rows,
                        detail::WeightedGradientKernel<T>{shape, z.as<T>(), weighted, terms});
      by_weight_terms_ = terms;
    }
    detail::run_where(stream, rows,
                      detail::RightGradientKernel<T>{shape, slope, z.as<T>(), positive.as<T>(), t,
                                                     left, right, dl, dz.as<T>(), dr});
  });
}

}  // namespace warren::learn
