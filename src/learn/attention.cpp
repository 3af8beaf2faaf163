// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/attention.hpp"

#include "learn/attention_kernels.hpp"

namespace warren::learn {
namespace {

// Nobody else's: the keys of columns, and dy with padded rows.
constexpr std::size_t kKeysSlot = 5;
constexpr std::size_t kGradientSlot = 8;

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

template <class Kernel>
void run(const exec::Stream& stream, std::uint64_t rows, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_kernel<decltype(backend)>(stream, rows, kernel);
  });
}

void keep(const exec::Device& device, memory::Buffer<float>& buffer, std::uint64_t size) {
  if (buffer.size() >= size) return;
  buffer.reset();
  buffer = memory::Buffer<float>(device, size);
}

/// For the columns that rows of `n` name.
detail::EdgeDropout edge_dropout(Context& context, const Neighbours& n, const Dropout& dropout) {
  if (!dropout.is_on()) return {};
  const std::uint64_t columns = n.rows() + n.halo();
  static_assert(sizeof(std::uint32_t) == sizeof(float));
  auto* keys = reinterpret_cast<std::uint32_t*>(context.scratch(kKeysSlot, columns));
  run(context.stream(), columns, detail::EdgeKeysKernel{dropout, n.input_ids(), keys});
  return {keys, dropout.probability};
}

template <class Side>
void walk(Context& context, const Neighbours& n, const AttentionShape& shape, const Side& side,
          const float* own, const float* pulled, float* all, float* positive) {
  const exec::Stream& stream = context.stream();
  const sparse::SpmmPlan& plan = n.plan();
  if (plan.tasks() == 0) return;
  const std::uint64_t k = padded(shape.heads * shape.width);
  detail::AttentionJob<Side> job{};
  job.side = side;
  job.a = n.view();
  job.heads = shape.heads;
  job.width = shape.width;
  job.k = k;
  job.x = {own, pulled, n.rows(), k};
  job.all = all;
  job.positive = positive;
  job.tasks = plan.task_data();
  job.task_count = plan.tasks();
  job.splits = plan.split_data();
  job.split_count = plan.splits();
  job.partial_stride = 2 * k + padded(2 * shape.heads);
  job.partials = plan.partials(stream, job.partial_stride);
  context.measured(Part::aggregate, [&] {
    exec::with_backend(stream.device(),
                       [&](auto backend) { detail::run_walk<decltype(backend)>(stream, job); });
  });
}

}  // namespace

void Attention::forward(Context& context, const Dropout& dropout, const float* z, const float* left,
                        const float* right, float* r, float* y) {
  const exec::Stream& stream = context.stream();
  const exec::Device& device = stream.device();
  const Neighbours& n = *out_;
  const auto [heads, width, slope] = shape_;
  const std::uint64_t k = padded(heads * width);
  const std::uint64_t rows = n.rows();
  keep(device, y_, rows * k);
  keep(device, positive_, rows * k);
  keep(device, statistics_, rows * heads * detail::kStatistics);
  keep(device, share_, rows * heads);
  // l is needed no longer than until it stands in the statistics.
  float* l = share_.data();
  run(stream, rows, detail::LogitsKernel{heads, width, k, z, left, right, l, r});
  const float* pulled_z = n.pull(context, z, k, 0);
  const float* pulled_r = n.pull(context, r, heads, 1);
  const detail::TwoParts all_r{r, pulled_r, rows, heads};
  run_rows(context, n,
           detail::LargestKernel{{}, n.view(), heads, slope, l, all_r, statistics_.data()});
  walk(context, n, shape_,
       detail::ForwardSide{heads, slope, edge_dropout(context, n, dropout), all_r,
                           statistics_.data(), share_.data(), y, heads * width},
       z, pulled_z, y_.data(), positive_.data());
}

void Attention::backward(Context& context, const Dropout& dropout, const float* z,
                         const float* left, const float* right, const float* r, const float* dy,
                         float* dz, float* dl, float* dr) {
  const exec::Stream& stream = context.stream();
  const Neighbours& n = *in_;
  const auto [heads, width, slope] = shape_;
  const std::uint64_t k = padded(heads * width);
  const std::uint64_t rows = n.rows();
  if (k != heads * width) {
    float* copy = context.scratch(kGradientSlot, rows * k);
    scale_rows(stream, rows, heads * width, k, nullptr, dy, copy);
    dy = copy;
  }
  float* statistics = statistics_.data();
  run(stream, rows,
      detail::LeftGradientKernel{heads, width, k, slope, dy, y_.data(), positive_.data(),
                                 share_.data(), statistics, dl});
  const std::uint64_t many = heads * detail::kStatistics;
  const float* pulled_dy = n.pull(context, dy, k, 0);
  const float* pulled_statistics = n.pull(context, statistics, many, 1);
  // From here on nothing of forward is needed but the statistics.
  float* t = share_.data();
  walk(context, n, shape_,
       detail::BackwardSide{heads,
                            slope,
                            edge_dropout(context, n, dropout),
                            r,
                            {statistics, pulled_statistics, rows, many},
                            t},
       dy, pulled_dy, dz, positive_.data());
  run(stream, rows,
      detail::RightGradientKernel{heads, width, k, slope, z, positive_.data(), t, left, right, dl,
                                  dz, dr});
}

}  // namespace warren::learn
