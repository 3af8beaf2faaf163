// SPDX-License-Identifier: Apache-2.0
// Sorting, scanning and compacting through CUB; clearing.
#include <algorithm>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>

#include "warren/exec/cuda_check.hpp"
#include "warren/exec/memory.hpp"

#include "exec/cuda/algorithms.hpp"

namespace warren::exec::cuda {
namespace {

/// CUB's two calls: how much scratch, then the work.
template <class Call>
void with_scratch(const Stream& stream, const char* name, Call&& call) {
  const Device& device = stream.device();
  device.activate();
  std::size_t bytes = 0;
  cuda_check(call(nullptr, bytes), name);
  void* scratch = allocate(device, MemoryKind::device, bytes == 0 ? 1 : bytes);
  const cudaError_t status = call(scratch, bytes);
  const cudaError_t done = cudaStreamSynchronize(static_cast<cudaStream_t>(stream.native()));
  deallocate(device, MemoryKind::device, scratch, bytes == 0 ? 1 : bytes);
  cuda_check(status, name);
  cuda_check(done, name);
}

struct Ranges {
  WordRange range[kMostRanges];
};

/// Row y of blocks clears range y.
__global__ void clear_kernel(const __grid_constant__ Ranges ranges) {
  const WordRange range = ranges.range[blockIdx.y];
  auto* const words = static_cast<std::uint64_t*>(range.first);
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < range.count;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    words[i] = 0;
}

cudaStream_t native(const Stream& stream) { return static_cast<cudaStream_t>(stream.native()); }

}  // namespace

std::uint64_t* sort_keys(const Stream& stream, std::uint64_t* keys, std::uint64_t* spare,
                         std::uint64_t count, int bits) {
  cub::DoubleBuffer<std::uint64_t> buffers(keys, spare);
  with_scratch(stream, "cub::DeviceRadixSort::SortKeys", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, buffers, count, 0, bits, native(stream));
  });
  return buffers.Current();
}

std::uint64_t sort_pairs_scratch(const Stream& stream, std::uint64_t count, int bits) {
  stream.device().activate();
  std::size_t bytes = 0;
  const std::uint32_t* in = nullptr;
  std::uint32_t* out = nullptr;
  cuda_check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, in, out, count, 0, bits,
                                             native(stream)),
             "cub::DeviceRadixSort::SortPairs");
  return bytes;
}

void sort_pairs(const Stream& stream, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                const std::uint32_t* values, std::uint32_t* sorted_values, std::uint64_t count,
                int bits, void* scratch, std::uint64_t scratch_bytes) {
  stream.device().activate();
  std::size_t bytes = scratch_bytes;
  cuda_check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values,
                                             sorted_values, count, 0, bits, native(stream)),
             "cub::DeviceRadixSort::SortPairs");
}

std::uint64_t unique_keys(const Stream& stream, const std::uint64_t* keys, std::uint64_t* unique,
                          std::uint64_t count) {
  auto* selected = static_cast<std::uint64_t*>(
      allocate(stream.device(), MemoryKind::pinned, sizeof(std::uint64_t)));
  with_scratch(stream, "cub::DeviceSelect::Unique", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, keys, unique, selected,
                                     static_cast<std::int64_t>(count), native(stream));
  });
  const std::uint64_t result = *selected;
  deallocate(stream.device(), MemoryKind::pinned, selected, sizeof(std::uint64_t));
  return result;
}

void exclusive_sum(const Stream& stream, const std::uint32_t* values, std::uint64_t* sums,
                   std::uint64_t count) {
  fill_bytes(stream, sums, 0, sizeof(std::uint64_t));
  if (count == 0) return stream.synchronize();
  with_scratch(stream, "cub::DeviceScan::InclusiveScanInit",
               [&](void* scratch, std::size_t& bytes) {
                 return cub::DeviceScan::InclusiveScanInit(
                     scratch, bytes, values, sums + 1, ::cuda::std::plus<std::uint64_t>{},
                     std::uint64_t{0}, static_cast<std::int64_t>(count), native(stream));
               });
}

void clear_words(const Stream& stream, std::span<const WordRange> ranges) {
  constexpr std::uint64_t kThreads = 256, kMostBlocks = 128, kWordsOfThread = 4;
  std::uint64_t most = 0;
  for (const WordRange& range : ranges) most = std::max(most, range.count);
  if (most == 0) return;
  Ranges given{};
  std::copy(ranges.begin(), ranges.end(), given.range);
  const std::uint64_t blocks =
      std::min(kMostBlocks, (most + kThreads * kWordsOfThread - 1) / (kThreads * kWordsOfThread));
  stream.device().activate();
  clear_kernel<<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(ranges.size())),
                 kThreads, 0, native(stream)>>>(given);
  cuda_check(cudaGetLastError(), "clear_kernel");
}

}  // namespace warren::exec::cuda
