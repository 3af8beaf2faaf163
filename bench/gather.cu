// SPDX-License-Identifier: Apache-2.0
// The gather benchmark on GPUs, with the gather written by hand for one row width at a time.
#include "gather_cases.hpp"

namespace warren::bench {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocksPerProcessor = 4;
constexpr int kInFlight = 4;

struct Table {
  const char* origin[kMaxRanks];
  std::uint64_t first[kMaxRanks];
  int ranks;
};

template <int kRowBytes>
__global__ void __launch_bounds__(kThreads)
    gather_rows(const __grid_constant__ Table table, const std::uint64_t* indices,
                std::uint64_t count, uint4* out) {
  constexpr int kUnits = kRowBytes / 16;
  constexpr unsigned kLanes = kUnits < 32 ? kUnits : 32;
  const unsigned lane = threadIdx.x % kLanes;
  const std::uint64_t groups = std::uint64_t{gridDim.x} * (kThreads / kLanes);
  for (std::uint64_t row =
           (std::uint64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes) * kInFlight;
       row < count; row += groups * kInFlight) {
    const uint4* from[kInFlight];
#pragma unroll
    for (int r = 0; r < kInFlight; ++r) {
      const std::uint64_t index = row + r < count ? indices[row + r] : indices[row];
      int owner = 0;
      for (int p = 1; p < table.ranks; ++p) owner += index >= table.first[p];
      from[r] = reinterpret_cast<const uint4*>(table.origin[owner] + index * kRowBytes);
    }
#pragma unroll
    for (unsigned u = lane; u < kUnits; u += kLanes) {
      uint4 value[kInFlight];
#pragma unroll
      for (int r = 0; r < kInFlight; ++r) {
        asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value[r].x), "=r"(value[r].y), "=r"(value[r].z), "=r"(value[r].w)
                     : "l"(from[r] + u));
      }
#pragma unroll
      for (int r = 0; r < kInFlight; ++r) {
        if (row + r < count) out[(row + r) * kUnits + u] = value[r];
      }
    }
  }
}

}  // namespace

template <>
void gather_by_hand<exec::Cuda>(const exec::Stream& stream,
                                const memory::GlobalView<std::uint32_t>& view,
                                const std::uint64_t* indices, std::uint64_t count,
                                std::uint32_t* out) {
  stream.device().activate();
  const std::uint64_t row_bytes = view.width * 4;
  Table table{};
  table.ranks = view.ranks;
  for (int q = 0; q < view.ranks; ++q) {
    table.first[q] = view.cuts[q];
    table.origin[q] = reinterpret_cast<const char*>(view.base[q]) - view.cuts[q] * row_bytes;
  }
  const auto native = static_cast<cudaStream_t>(stream.native());
  const unsigned blocks = static_cast<unsigned>(stream.device().processors()) * kBlocksPerProcessor;
  auto* target = reinterpret_cast<uint4*>(out);
  switch (row_bytes) {
    case 64:
      gather_rows<64><<<blocks, kThreads, 0, native>>>(table, indices, count, target);
      break;
    case 128:
      gather_rows<128><<<blocks, kThreads, 0, native>>>(table, indices, count, target);
      break;
    case 512:
      gather_rows<512><<<blocks, kThreads, 0, native>>>(table, indices, count, target);
      break;
    case 2048:
      gather_rows<2048><<<blocks, kThreads, 0, native>>>(table, indices, count, target);
      break;
    default:
      throw UsageError("the gather by hand knows rows of 64, 128, 512 and 2048 bytes");
  }
  exec::cuda_check(cudaGetLastError(), "kernel launch");
}

template void fill_words<exec::Cuda>(const exec::Stream&, std::uint32_t*, std::uint64_t,
                                     std::uint64_t);
template void draw_rows<exec::Cuda>(const exec::Stream&, std::uint64_t*, std::uint64_t,
                                    std::uint64_t, std::uint64_t);

}  // namespace warren::bench
