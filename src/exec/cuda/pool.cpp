// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation (CUDA programming guide, "Stream Ordered Memory Allocator"). Blocks are
// taken and given back in the order of a stream of the pool's own, which nothing else uses. After a
// wait for that stream a new block is any other stream's as well; a block that comes back is one
// that the device is through with, so that no event is needed.
#include "exec/cuda/pool.hpp"

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/cuda_check.hpp"
#include "warren/exec/current_device.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec::cuda {
namespace {

cudaMemPool_t native_pool(void* pool) { return static_cast<cudaMemPool_t>(pool); }
cudaStream_t native_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

/// Kernels of every GPU that can reach the memory may.
void let_peers_in(cudaMemPool_t pool, int index) {
  for (int other = 0; other < device_count(); ++other) {
    if (other == index) continue;
    int can = 0;
    cuda_check(cudaDeviceCanAccessPeer(&can, other, index), "cudaDeviceCanAccessPeer");
    if (can == 0) continue;
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = other;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cuda_check(cudaMemPoolSetAccess(pool, &access, 1), "cudaMemPoolSetAccess");
  }
}

void destroy(void* pool, void* stream) noexcept {
  if (pool != nullptr) (void)cudaMemPoolDestroy(native_pool(pool));
  if (stream != nullptr) (void)cudaStreamDestroy(native_stream(stream));
}

}  // namespace

Pool::Pool(int index, std::uint64_t kept_bytes) : index_(index) {
  int has_pools = 0;
  cuda_check(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, index),
             "cudaDeviceGetAttribute");
  require(has_pools != 0,
          fmt::format("cuda:{} ({}) has no memory pools in its driver: make the session without a "
                      "memory resource",
                      index, device_model(index)));
  activate(index);
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags");
  cudaMemPool_t pool = nullptr;
  try {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = index;
    cuda_check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    cuda_check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes),
               "cudaMemPoolSetAttribute");
    let_peers_in(pool, index);
  } catch (...) {
    destroy(pool, stream);
    throw;
  }
  stream_ = stream;
  pool_ = pool;
}

Pool::~Pool() {
  const KeepCurrentDevice current;
  (void)cudaSetDevice(index_);
  destroy(pool_, stream_);
}

void* Pool::take(std::uint64_t bytes) const {
  void* pointer = nullptr;
  const cudaError_t status =
      cudaMallocFromPoolAsync(&pointer, bytes, native_pool(pool_), native_stream(stream_));
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  cuda_check(status, "cudaMallocFromPoolAsync");
  cuda_check(cudaStreamSynchronize(native_stream(stream_)), "cudaStreamSynchronize");
  return pointer;
}

void* Pool::allocate(std::uint64_t bytes) {
  activate(index_);
  void* pointer = take(bytes);
  if (pointer != nullptr) return pointer;
  // What it keeps may lie in pieces that are too small each.
  cuda_check(cudaStreamSynchronize(native_stream(stream_)), "cudaStreamSynchronize");
  cuda_check(cudaMemPoolTrimTo(native_pool(pool_), 0), "cudaMemPoolTrimTo");
  return take(bytes);
}

void Pool::deallocate(void* pointer) noexcept {
  (void)cudaSetDevice(index_);
  (void)cudaFreeAsync(pointer, native_stream(stream_));
  // The threshold holds when the stream is waited for.
  (void)cudaStreamSynchronize(native_stream(stream_));
}

std::uint64_t Pool::unused() const noexcept {
  std::uint64_t held = 0;
  std::uint64_t used = 0;
  if (cudaMemPoolGetAttribute(native_pool(pool_), cudaMemPoolAttrReservedMemCurrent, &held) !=
          cudaSuccess ||
      cudaMemPoolGetAttribute(native_pool(pool_), cudaMemPoolAttrUsedMemCurrent, &used) !=
          cudaSuccess)
    return 0;
  return held > used ? held - used : 0;
}

}  // namespace warren::exec::cuda
