// SPDX-License-Identifier: Apache-2.0
// Devices: the CPU from the system's files, GPUs through the CUDA backend where it is built.
#include "warren/exec/device.hpp"

#include <fstream>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {
namespace {

std::uint64_t meminfo_bytes(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string rest;
  std::uint64_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    std::getline(file, rest);
    if (name == key) return kibibytes * 1024;
  }
  return 0;
}

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
          count == 0 ? fmt::format("cuda:{} was asked for, but no GPU can be used here (no GPU, no "
                                   "driver, or a build without CUDA)",
                                   index)
                     : fmt::format("cuda:{} was asked for, but there are {} GPUs, numbered from 0",
                                   index, count));
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
  return {meminfo_bytes("MemTotal:"), meminfo_bytes("MemAvailable:")};
}

int Device::processors() const {
#if WARREN_HAS_CUDA
  if (is_cuda()) return cuda::multiprocessors(index_);
#endif
  return pool_->size();
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
