// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/edge_ops.hpp"

#include <vector>

#include "warren/core/error.hpp"
#include "warren/sparse/edge_ops_kernels.hpp"

namespace warren::sparse {
namespace {

template <class Kernel>
void run(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan,
         const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_rows<decltype(backend), Kernel>(stream, a, plan, kernel);
  });
}

}  // namespace

RowPlan::RowPlan(const exec::Stream& stream, std::span<const EdgeOffset> offsets) {
  std::vector<Vertex> rows;
  for (std::uint64_t r = 0; r + 1 < offsets.size(); ++r) {
    if (offsets[r + 1] - offsets[r] > kLong) rows.push_back(static_cast<Vertex>(r));
  }
  long_rows_ = memory::Buffer<Vertex>(stream.device(), rows.size());
  long_rows_.upload(stream, rows);
  stream.synchronize();
}

void edge_softmax(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan,
                  std::uint64_t heads, const float* x, float* y) {
  require(heads > 0, "edge_softmax: no heads");
  run(stream, a, plan, detail::Softmax{{}, heads, x, y});
}

void edge_softmax_backward(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan,
                           std::uint64_t heads, const float* y, const float* dy, float* dx) {
  require(heads > 0, "edge_softmax_backward: no heads");
  run(stream, a, plan, detail::SoftmaxBackward{{}, heads, y, dy, dx});
}

void segment_max(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan,
                 std::uint64_t k, const float* b, float* c, Vertex* arg) {
  require(k > 0, "segment_max: k is 0");
  run(stream, a, plan, detail::SegmentMax{{}, a, k, b, c, arg});
}

void segment_max_backward(const exec::Stream& stream, const MatrixView& a_transposed,
                          const RowPlan& plan_transposed, std::uint64_t k, const float* dc,
                          const Vertex* arg, float* db) {
  require(k > 0, "segment_max_backward: k is 0");
  run(stream, a_transposed, plan_transposed,
      detail::SegmentMaxBackward{{}, a_transposed, k, dc, arg, db});
}

}  // namespace warren::sparse
