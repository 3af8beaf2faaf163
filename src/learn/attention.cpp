// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/attention.hpp"

#include "learn/attention_kernels.hpp"

namespace warren::learn {
namespace {

// Of every edge and head; nobody else's.
constexpr std::size_t kWeightsSlot = 5;

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

}  // namespace

void Attention::forward(Context& context, const Dropout& dropout, const float* z, const float* l,
                        const float* r, float* y) {
  const exec::Stream& stream = context.stream();
  const exec::Device& device = stream.device();
  const Neighbours& n = *out_;
  const std::uint64_t heads = shape_.heads;
  const std::uint64_t k = heads * shape_.width;
  const std::uint64_t rows = n.rows();
  float* weights = context.scratch(kWeightsSlot, n.entries() * heads);
  keep(device, y_, rows * k);
  keep(device, positive_, rows * k);
  keep(device, statistics_, rows * heads * detail::kStatistics);
  keep(device, share_, rows * heads);
  const float* pulled_z = n.pull(context, z, k, 0);
  const float* pulled_r = n.pull(context, r, heads, 1);
  run_rows(context, n,
           detail::AttentionWeightsKernel{{},
                                          n.view(),
                                          n.input_ids(),
                                          dropout,
                                          heads,
                                          shape_.slope,
                                          l,
                                          {r, pulled_r, n.own_columns(), heads},
                                          weights,
                                          statistics_.data(),
                                          share_.data()});
  run_rows(context, n,
           detail::AttentionSumKernel{{},
                                      n.view(),
                                      heads,
                                      shape_.width,
                                      weights,
                                      {z, pulled_z, n.own_columns(), k},
                                      y_.data(),
                                      positive_.data()});
  exec::copy(stream, y, y_.data(), rows * k * sizeof(float));
}

void Attention::backward(Context& context, const Dropout& dropout, const float* z, const float* r,
                         const float* dy, float* dz, float* dl, float* dr) {
  const exec::Stream& stream = context.stream();
  const Neighbours& n = *in_;
  const std::uint64_t heads = shape_.heads;
  const std::uint64_t width = shape_.width;
  const std::uint64_t k = heads * width;
  const std::uint64_t rows = n.rows();
  const std::uint64_t targets = out_->rows();
  const std::uint64_t many = detail::kStatistics * heads;
  head_dots(stream, targets, heads, width, dy, y_.data(), false,
            statistics_.data() + detail::kDot * heads, many);
  run(stream, targets,
      detail::LeftGradientKernel{heads, width, shape_.slope, dy, positive_.data(), share_.data(),
                                 statistics_.data(), dl});
  const float* pulled_dy = n.pull(context, dy, k, 0);
  const float* pulled_statistics = n.pull(context, statistics_.data(), many, 1);
  // From here on nothing of forward is needed but the statistics.
  float* weights = context.scratch(kWeightsSlot, n.entries() * heads);
  keep(stream.device(), share_, rows * heads);
  keep(stream.device(), positive_, rows * k);
  float* t = share_.data();
  run_rows(context, n,
           detail::AttentionColumnWeightsKernel{{},
                                                n.view(),
                                                n.input_ids(),
                                                dropout,
                                                heads,
                                                shape_.slope,
                                                r,
                                                {statistics_.data(), pulled_statistics, targets, many},
                                                weights,
                                                t});
  run_rows(
      context, n,
      detail::AttentionSumKernel{
          {}, n.view(), heads, width, weights, {dy, pulled_dy, targets, k}, dz, positive_.data()});
  run(stream, rows,
      detail::RightGradientKernel{heads, width, shape_.slope, z, dz, positive_.data(), t, dr});
}

void add_outer(const exec::Stream& stream, std::uint64_t n, std::uint64_t heads,
               std::uint64_t width, const float* dl, const float* left, const float* dr,
               const float* right, float* dz) {
  run(stream, n, detail::AddOuterKernel{heads, width, dl, left, dr, right, dz});
}

}  // namespace warren::learn
