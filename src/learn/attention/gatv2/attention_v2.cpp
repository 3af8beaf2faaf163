// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/attention_v2.hpp"

#include "warren/exec/memory.hpp"

#include "learn/attention/gatv2/attention_v2_kernels.hpp"
#include "learn/layers/edge_dropout.hpp"

namespace warren::learn {
namespace {

/// Room for the gradient of a that tasks and splits have each.
std::uint64_t parts_of(const sparse::SpmmPlan& plan) { return plan.tasks() + plan.splits(); }

template <class Side>
void walk(Context& context, const Neighbours& n, const AttentionShape& shape,
          const Dropout& dropout, const Side& side, const float* a, float* gradients) {
  const exec::Stream& stream = context.stream();
  const sparse::SpmmPlan& plan = n.plan();
  if (plan.tasks() == 0) return;
  const std::uint64_t k = context.padded(shape.heads * shape.width);
  const EdgeDropoutKeys dropped = edge_dropout(context, n, dropout);
  detail::HeadJob<Side> job{};
  job.side = side;
  job.a = n.view();
  job.heads = shape.heads;
  job.width = shape.width;
  job.wide = shape.heads == 1 ? k : shape.width;
  job.stride = k;
  job.slope = shape.slope;
  job.attention = a;
  job.dropout = dropped.view();
  job.tasks = plan.task_data();
  job.task_count = plan.tasks();
  job.splits = plan.split_data();
  job.split_count = plan.splits();
  // A multiple of the columns that a lane has.
  job.partial_stride = job.kScalars * k + context.padded(2 * shape.heads);
  job.partials = plan.partials(stream, job.partial_stride);
  job.gradients = gradients;
  context.measured(Part::aggregate, [&] {
    exec::with_backend(stream.device(),
                       [&](auto backend) { detail::run_heads<decltype(backend)>(stream, job); });
  });
}

/// What lies behind the last of several heads is nobody's column.
void clear_gaps(Context& context, const AttentionShape& shape, std::uint64_t rows, Numbers x) {
  const std::uint64_t k = context.padded(shape.heads * shape.width);
  if (shape.heads == 1 || k == shape.heads * shape.width) return;
  exec::fill_bytes(context.stream(), x.raw(), 0, rows * k * size_of(x.type()));
}

}  // namespace

void AttentionV2::forward(Context& context, const Dropout& dropout, ConstNumbers z, ConstNumbers q,
                          const float* a, const float* b, Numbers y) {
  const Neighbours& n = *out_;
  const std::uint64_t heads = shape_.heads;
  const std::uint64_t k = context.padded(heads * shape_.width);
  auto* const statistics = statistics_.take(context, n.rows() * heads * detail::kPair);
  const ConstNumbers pulled = n.pull(context, z, k);
  with_type(z.type(), [&]<class T>(T) {
    const detail::V2ForwardSide<T> side{
        {},        heads,     heads * shape_.width,
        q.as<T>(), k,         {z.as<T>(), pulled.as<T>(), n.own_columns(), k},
        y.as<T>(), statistics};
    if (!shape_.edge_weights) return walk(context, n, shape_, dropout, side, a, nullptr);
    walk(context, n, shape_, dropout, detail::V2WeightedForwardSide<T>{side, b}, a, nullptr);
  });
}

void AttentionV2::backward_targets(Context& context, const Dropout& dropout, ConstNumbers z,
                                   ConstNumbers q, const float* a, const float* b, ConstNumbers dy,
                                   Numbers dq, float* da) {
  const Neighbours& n = *out_;
  const std::uint64_t heads = shape_.heads;
  const std::uint64_t k = context.padded(heads * shape_.width);
  context.keep(parts_, parts_of(n.plan()) * heads * shape_.width);
  clear_gaps(context, shape_, n.rows(), dq);
  const ConstNumbers pulled = n.pull(context, z, k);
  with_type(z.type(), [&]<class T>(T) {
    const detail::V2TargetSide<T> side{heads,
                                       q.as<T>(),
                                       dy.as<T>(),
                                       k,
                                       {z.as<T>(), pulled.as<T>(), n.own_columns(), k},
                                       dq.as<T>(),
                                       statistics_.data()};
    if (!shape_.edge_weights) return walk(context, n, shape_, dropout, side, a, parts_.data());
    walk(context, n, shape_, dropout, detail::V2WeightedTargetSide<T>{side, b}, a, parts_.data());
  });
  sums_.add(context.stream(), {heads * shape_.width, parts_.data()}, parts_of(n.plan()), da);
}

void AttentionV2::backward_sources(Context& context, const Dropout& dropout, ConstNumbers z,
                                   ConstNumbers q, const float* a, const float* b, ConstNumbers dy,
                                   Numbers dz, float* da, float* db) {
  const Neighbours& n = *in_;
  const std::uint64_t heads = shape_.heads;
  const std::uint64_t k = context.padded(heads * shape_.width);
  const std::uint64_t many = heads * detail::kPair;
  const std::uint64_t targets = n.own_columns();
  const std::uint64_t part_size = parts_of(n.plan()) * heads * shape_.width;
  context.keep(parts_, (shape_.edge_weights ? 2 : 1) * part_size);
  clear_gaps(context, shape_, n.rows(), dz);
  const auto* statistics = statistics_.data();
  const ConstNumbers pulled_q = n.pull(context, q, k, 0);
  const ConstNumbers pulled_dy = n.pull(context, dy, k, 1);
  const float* pulled_statistics = n.pull(context, statistics, many, 2);
  with_type(z.type(), [&]<class T>(T) {
    const detail::V2SourceSide<T> side{heads,
                                       z.as<T>(),
                                       k,
                                       {q.as<T>(), pulled_q.as<T>(), targets, k},
                                       {dy.as<T>(), pulled_dy.as<T>(), targets, k},
                                       {statistics, pulled_statistics, targets, many},
                                       dz.as<T>()};
    if (!shape_.edge_weights) return walk(context, n, shape_, dropout, side, a, parts_.data());
    walk(context, n, shape_, dropout, detail::V2WeightedSourceSide<T>{side, b}, a, parts_.data());
  });
  sums_.add(context.stream(), {heads * shape_.width, parts_.data()}, parts_of(n.plan()), da);
  if (shape_.edge_weights)
    sums_.add(context.stream(), {heads * shape_.width, parts_.data() + part_size},
              parts_of(n.plan()), db);
}

}  // namespace warren::learn
