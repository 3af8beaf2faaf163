// SPDX-License-Identifier: Apache-2.0
// Whether a kernel fits a GPU, and which forms its code has. Of builds with CUDA.
#pragma once

#include <cstdint>
#include <functional>

#include "warren/exec/device.hpp"

namespace warren::exec {

/// Shared memory that a block may have on every GPU.
inline constexpr std::uint64_t kLeastSharedBytes = std::uint64_t{64} << 10;

/// The capability whose forms a kernel may use on `device`: the smallest of the GPU's own, the
/// environment's limit and the one that its code was compiled for. Throws DeviceError.
[[nodiscard]] int code_capability(const Device& device, const void* kernel);

/// What `ask()` says: how many blocks of `kernel` to start on `device`, which so many kernels
/// share. Asked once of each, with what the runtime must be told of the kernel before it is
/// started: it takes longer than the launch. Throws what `ask()` throws, DeviceError.
[[nodiscard]] std::uint32_t known_blocks(const Device& device, const void* kernel,
                                         std::uint32_t kernels,
                                         const std::function<std::uint32_t()>& ask);

/// The threads of a block of warps that take `warp_bytes` of shared memory each: `threads`, or as
/// many as the device's blocks have memory for. At least one warp's.
[[nodiscard]] std::uint32_t fitting_threads(const Device& device, std::uint32_t threads,
                                            std::uint64_t warp_bytes);

/// Throws UsageError, with both sizes, where a block may not have so much shared memory.
void check_shared_memory(const Device& device, std::uint64_t bytes);

/// Throws UsageError: a multiprocessor holds no block of so many threads with so much shared
/// memory.
[[noreturn]] void refuse_block(const Device& device, std::uint32_t threads, std::uint64_t bytes);

}  // namespace warren::exec
