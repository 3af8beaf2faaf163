// SPDX-License-Identifier: Apache-2.0
// Where code runs: one GPU, or the CPU (a share of its cores). A Device is a small value; copies
// name the same device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "warren/exec/capability.hpp"
#include "warren/exec/thread_pool.hpp"

namespace warren::exec {

enum class DeviceKind { cpu, cuda };

class MemoryResource;  // memory.hpp

/// Bytes of a device's memory: of the card, or of the host for the CPU.
struct MemoryInfo {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
};

class Device {
 public:
  /// The CPU with `threads` threads of its own (0: all that the process may use). Throws UsageError
  /// for a negative count.
  [[nodiscard]] static Device cpu(int threads = 0);
  /// GPU number `index`. Throws UsageError when there is no such GPU (the message says how many
  /// there are, or why there is none), when it is one that this build has no kernels for, or when
  /// WARREN_LIMIT_CAPABILITY is no capability.
  [[nodiscard]] static Device cuda(int index);

  [[nodiscard]] DeviceKind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_cuda() const noexcept { return kind_ == DeviceKind::cuda; }
  [[nodiscard]] int index() const noexcept { return index_; }
  /// "cpu" or "cuda:INDEX".
  [[nodiscard]] std::string name() const;
  /// The product's name: "NVIDIA H200", or the CPU's model.
  [[nodiscard]] std::string model() const;
  [[nodiscard]] MemoryInfo memory() const;
  /// Streaming multiprocessors of a GPU; threads of the CPU.
  [[nodiscard]] int processors() const;
  /// A GPU's compute capability (90 for 9.0), as far as the environment allows it
  /// (capability_limit()); 0 for the CPU.
  [[nodiscard]] int capability() const;
  /// True of a GPU whose kernels the driver ends after some seconds, as where it drives a display.
  [[nodiscard]] bool limits_kernel_time() const;
  /// What one multiprocessor of a GPU has, no more than capability() has. Throws UsageError for the
  /// CPU.
  [[nodiscard]] GpuLimits limits() const;
  /// The CPU's threads; on a GPU, a pool of one for the host side of the work.
  [[nodiscard]] ThreadPool& pool() const { return *pool_; }

  /// The same device, whose memory exec::allocate() takes from `resource` (nullptr: where the
  /// process takes it). What is made of the result (streams, teams, arrays) keeps the resource, and
  /// a resource lives as long as a device that names it, or a block of its memory.
  [[nodiscard]] Device with_memory(std::shared_ptr<MemoryResource> resource) const {
    Device device = *this;
    device.memory_resource_ = std::move(resource);
    return device;
  }
  /// nullptr: the process's.
  [[nodiscard]] const std::shared_ptr<MemoryResource>& memory_resource() const noexcept {
    return memory_resource_;
  }

  /// Makes this device the calling thread's current one (a no-op on the CPU).
  void activate() const;
  /// Waits for all work on the device and throws DeviceError if any of it failed.
  void synchronize() const;

  /// Of the hardware alone: threads and memory resources may differ.
  friend bool operator==(const Device& a, const Device& b) {
    return a.kind_ == b.kind_ && a.index_ == b.index_;
  }

 private:
  Device(DeviceKind kind, int index, std::shared_ptr<ThreadPool> pool)
      : kind_(kind), index_(index), pool_(std::move(pool)) {}

  DeviceKind kind_;
  int index_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<MemoryResource> memory_resource_;
};

/// GPUs that can be used now: 0 without a driver, a GPU, or the CUDA backend. Never throws.
[[nodiscard]] int cuda_device_count() noexcept;
/// Why cuda_device_count() is 0, and the cure, without a full stop; empty where it is not 0.
[[nodiscard]] std::string why_no_cuda_device();
/// Versions for `warren info`, as "13.0"; empty where absent.
[[nodiscard]] std::string cuda_runtime_version();
[[nodiscard]] std::string cuda_driver_version();

}  // namespace warren::exec
