// SPDX-License-Identifier: Apache-2.0
// Questions about kernels that the CUDA runtime answers.
#include "warren/exec/kernel_fit.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/cuda_check.hpp"

namespace warren::exec {

namespace {

/// Asked once: every launch of a program wants to know.
int compiled_for(const Device& device, const void* kernel) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, int> known;
  const std::scoped_lock lock(mutex);
  int& found = known[{device.index(), kernel}];
  if (found != 0) return found;
  device.activate();
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  return found = attributes.ptxVersion;
}

}  // namespace

int code_capability(const Device& device, const void* kernel) {
  return std::min(device.capability(), compiled_for(device, kernel));
}

std::uint32_t known_blocks(const Device& device, const void* kernel, std::uint32_t kernels,
                           const std::function<std::uint32_t()>& ask) {
  // The limit of the environment may change, in tests.
  using Key = std::tuple<int, const void*, std::uint32_t, int>;
  static std::mutex mutex;
  static std::map<Key, std::uint32_t> known;
  const Key key{device.index(), kernel, kernels, code_capability(device, kernel)};
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  device.activate();
  return known[key] = ask();
}

std::uint32_t fitting_threads(const Device& device, std::uint32_t threads,
                              std::uint64_t warp_bytes) {
  constexpr std::uint32_t kWarp = 32;
  const std::uint64_t most = device.limits().shared_block_bytes;
  if (threads / kWarp * warp_bytes <= most) return threads;
  return std::max(kWarp, static_cast<std::uint32_t>(most / warp_bytes) * kWarp);
}

void check_shared_memory(const Device& device, std::uint64_t bytes) {
  const std::uint64_t most = device.limits().shared_block_bytes;
  if (bytes <= most) return;
  throw UsageError(fmt::format(
      "a block takes {} of shared memory, and {} ({}) gives it {} at most: use another GPU, or "
      "the CPU: device cpu",
      human_bytes(bytes), device.name(), device.model(), human_bytes(most)));
}

void refuse_block(const Device& device, std::uint32_t threads, std::uint64_t bytes) {
  throw UsageError(fmt::format(
      "a block of {} threads with {} of shared memory does not fit {} ({}): use another GPU, fewer "
      "ranks for each of them, or the CPU: device cpu",
      threads, human_bytes(bytes), device.name(), device.model()));
}

}  // namespace warren::exec
