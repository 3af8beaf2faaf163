// SPDX-License-Identifier: Apache-2.0
// The abstraction benchmark's loops on a GPU, and their kernels written by hand.
#include "warren/exec/cuda_check.hpp"

#include "abstraction_cases.hpp"

namespace warren::bench {
namespace {

constexpr unsigned kThreads = 256;

template <unsigned kLanes>
__global__ void row_sums(const std::uint64_t* offsets, const std::uint32_t* targets, const float* x,
                         float* y, std::uint64_t rows) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned mask =
      kLanes == 32 ? ~0u : ((1u << (kLanes % 32)) - 1u) << (threadIdx.x % 32 / kLanes * kLanes);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * (kThreads / kLanes);
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
       row < rows; row += stride) {
    float sum = 0.0f;
    for (std::uint64_t e = offsets[row] + lane; e < offsets[row + 1]; e += kLanes)
      sum += x[targets[e]];
    for (unsigned step = kLanes / 2; step > 0; step /= 2)
      sum += __shfl_xor_sync(mask, sum, step, kLanes);
    if (lane == 0) y[row] = sum;
  }
}

__global__ void axpy(const float* x, float* y, std::uint64_t elements) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
       i += stride)
    y[i] = 2.0f * x[i] + y[i];
}

}  // namespace

template <>
void run_by_hand<exec::Cuda>(const exec::Stream& stream, Loop loop, const Problem& p,
                             std::uint32_t times) {
  const auto native = static_cast<cudaStream_t>(stream.native());
  const auto most = static_cast<std::uint64_t>(stream.device().processors()) * 64;
  const auto grid = [&](std::uint64_t tasks, unsigned lanes) {
    const std::uint64_t blocks = (tasks * lanes + kThreads - 1) / kThreads;
    return static_cast<unsigned>(blocks < most ? blocks : most);
  };
  for (std::uint32_t i = 0; i < times; ++i) {
    switch (loop) {
      case Loop::rows_by_thread:
        row_sums<1>
            <<<grid(p.rows, 1), kThreads, 0, native>>>(p.offsets, p.targets, p.x, p.y, p.rows);
        break;
      case Loop::rows_by_tile:
        row_sums<8>
            <<<grid(p.rows, 8), kThreads, 0, native>>>(p.offsets, p.targets, p.x, p.y, p.rows);
        break;
      case Loop::rows_by_warp:
        row_sums<32>
            <<<grid(p.rows, 32), kThreads, 0, native>>>(p.offsets, p.targets, p.x, p.y, p.rows);
        break;
      case Loop::axpy:
        axpy<<<grid(p.elements, 1), kThreads, 0, native>>>(p.x, p.y, p.elements);
        break;
    }
    exec::cuda_check(cudaGetLastError(), "kernel launch");
  }
  stream.synchronize();
}

template void run_by_launch<exec::Cuda>(const exec::Stream&, Loop, const Problem&, std::uint32_t);
template void run_by_program<exec::Cuda>(team::Team&, const exec::Stream&, Loop, const Problem&,
                                         std::uint32_t);

}  // namespace warren::bench
