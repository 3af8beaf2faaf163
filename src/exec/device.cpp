// SPDX-License-Identifier: Apache-2.0
// Devices: the CPU from the system's files, GPUs through the CUDA backend where it is built.
#include "warren/exec/device.hpp"

#include <fstream>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "exec/cuda/runtime.hpp"
#include "exec/host_memory.hpp"
#include "exec/why_no_gpu.hpp"

namespace warren::exec {
namespace {

#if WARREN_HAS_CUDA
/// Of a GPU, asked once: every launch wants to know.
struct GpuFacts {
  int capability = 0;
  GpuLimits limits;
  bool limits_kernel_time = false;
};
const GpuFacts& facts_of(int index) {
  static std::mutex mutex;
  static std::map<int, GpuFacts> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(index);
  if (found != known.end()) return found->second;
  return known
      .emplace(index, GpuFacts{cuda::capability(index), cuda::limits(index),
                               cuda::limits_kernel_time(index)})
      .first->second;
}
#endif

}  // namespace

Device Device::cpu(int threads) {
  require(threads >= 0,
          fmt::format("{} CPU threads: give a positive number, or 0 for all", threads));
  return {DeviceKind::cpu, 0,
          std::make_shared<ThreadPool>(threads == 0 ? hardware_threads() : threads)};
}

Device Device::cuda(int index) {
  const int count = cuda_device_count();
  require(index >= 0 && index < count,
          count == 0 ? fmt::format("cuda:{} was asked for, but {}", index, why_no_cuda_device())
                     : fmt::format("cuda:{} was asked for, but there are {} GPUs, numbered from 0",
                                   index, count));
#if WARREN_HAS_CUDA
  (void)capability_limit();
  const int own = cuda::capability(index);
  // The model's name takes the runtime a millisecond.
  if (!why_too_old({}, own, WARREN_BUILT_FOR).empty()) {
    throw UsageError(why_too_old(fmt::format("cuda:{} ({})", index, cuda::device_model(index)), own,
                                 WARREN_BUILT_FOR));
  }
#endif
  return {DeviceKind::cuda, index, std::make_shared<ThreadPool>(1)};
}

std::string Device::name() const { return is_cuda() ? fmt::format("cuda:{}", index_) : "cpu"; }

std::string Device::model() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) return cuda::device_model(index_);
#endif
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

MemoryInfo Device::memory() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) return cuda::device_memory(index_);
#endif
  return host_memory();
}

int Device::processors() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) return cuda::multiprocessors(index_);
#endif
  return pool_->size();
}

bool Device::limits_kernel_time() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) return facts_of(index_).limits_kernel_time;
#endif
  return false;
}

int Device::capability() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) return limited(facts_of(index_).capability);
#endif
  return 0;
}

GpuLimits Device::limits() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) {
    const GpuFacts& own = facts_of(index_);
    const int allowed = limited(own.capability);
    return allowed < own.capability ? smaller(own.limits, limits_of(allowed)) : own.limits;
  }
#endif
  throw UsageError("the CPU has no multiprocessors: ask a GPU for its limits");
}

void Device::activate() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) cuda::activate(index_);
#endif
}

void Device::synchronize() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) cuda::synchronize_device(index_);
#endif
}

int cuda_device_count() noexcept {
#if WARREN_HAS_CUDA
  return cuda::device_count();
#else
  return 0;
#endif
}

std::string why_no_cuda_device() {
#if WARREN_HAS_CUDA
  return cuda::why_no_device();
#else
  return "this build has no CUDA backend: build with -DWARREN_CUDA=ON, or choose the CPU: device "
         "cpu";
#endif
}

std::string cuda_runtime_version() {
#if WARREN_HAS_CUDA
  return cuda::runtime_version();
#else
  return {};
#endif
}

std::string cuda_driver_version() {
#if WARREN_HAS_CUDA
  return cuda::driver_version();
#else
  return {};
#endif
}

}  // namespace warren::exec
