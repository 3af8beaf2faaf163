// SPDX-License-Identifier: Apache-2.0
// The driver's pools as a memory resource: one for each GPU that asks for a block.
#include <map>
#include <memory>
#include <mutex>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"

#if WARREN_HAS_CUDA
#include "exec/cuda/pool.hpp"
#endif

namespace warren::exec {

#if WARREN_HAS_CUDA

namespace {

class PoolResource final : public MemoryResource {
 public:
  explicit PoolResource(std::uint64_t kept_bytes) : kept_bytes_(kept_bytes) {}

  [[nodiscard]] void* allocate(const Device& device, std::uint64_t bytes) override {
    require(device.is_cuda(),
            "the driver's pools give memory of GPUs, and the device is the CPU: leave the memory "
            "resource out, or choose GPUs");
    return made(device.index()).allocate(bytes);
  }
  void deallocate(const Device& device, void* pointer, std::uint64_t /*bytes*/) noexcept override {
    if (cuda::Pool* const pool = find(device.index()); pool != nullptr) pool->deallocate(pointer);
  }
  [[nodiscard]] std::uint64_t unused(const Device& device) override {
    cuda::Pool* const pool = device.is_cuda() ? find(device.index()) : nullptr;
    return pool != nullptr ? pool->unused() : 0;
  }

 private:
  [[nodiscard]] cuda::Pool& made(int gpu) {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<cuda::Pool>& pool = pools_[gpu];
    if (pool == nullptr) pool = std::make_unique<cuda::Pool>(gpu, kept_bytes_);
    return *pool;
  }
  [[nodiscard]] cuda::Pool* find(int gpu) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = pools_.find(gpu);
    return found != pools_.end() ? found->second.get() : nullptr;
  }

  const std::uint64_t kept_bytes_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<cuda::Pool>> pools_;
};

}  // namespace

#endif

std::shared_ptr<MemoryResource> pool_resource([[maybe_unused]] std::uint64_t kept_bytes) {
  require(cuda_device_count() > 0,
          "a pool of GPU memory was asked for, but " + why_no_cuda_device());
#if WARREN_HAS_CUDA
  return std::make_shared<PoolResource>(kept_bytes);
#else
  return nullptr;
#endif
}

}  // namespace warren::exec
