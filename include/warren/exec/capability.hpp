// SPDX-License-Identifier: Apache-2.0
// Compute capabilities: what kernels may use of a GPU, and how much of its kinds of memory they may
// take. A capability is a number such as 75, 90 or 120, for 7.5, 9.0 and 12.0.
//
// Device code of a newer form is compiled for the capabilities that have it (__CUDA_ARCH__); the
// host asks features_of() for the smallest of the GPU's capability, the kernel's own (a GPU may run
// PTX of an older one), and the limit that the environment sets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warren::exec {

/// Kernels are compiled for this one and later ones.
inline constexpr int kOldestCapability = 75;

/// What newer GPUs alone have, where there is another form for older ones.
struct GpuFeatures {
  bool has_copies_behind = false;      ///< Copies to shared memory beside the kernel. From 8.0 on.
  bool has_bfloat16_products = false;  ///< On tensor cores. From 8.0 on.
  bool has_clusters = false;           ///< Thread block clusters. From 9.0 on.
  bool has_vector_reductions = false;  ///< 16 bytes in one atomic addition. From 9.0 on.
};
[[nodiscard]] GpuFeatures features_of(int capability);

/// Of one streaming multiprocessor, and of one block on it.
struct GpuLimits {
  std::uint32_t threads = 0;
  std::uint32_t blocks = 0;
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t reserved_bytes = 0;      ///< Of shared memory, by each block, beside its own.
  std::uint32_t shared_block_bytes = 0;  ///< The most that a block may have.
  std::uint32_t shared_unit_bytes = 1;   ///< Blocks get multiples of it.
};
/// Those of the CUDA programming guide. Of a capability that is not listed there: those of the
/// listed one before it. Throws UsageError for one older than kOldestCapability.
[[nodiscard]] GpuLimits limits_of(int capability);

/// The smaller one of each.
[[nodiscard]] GpuLimits smaller(const GpuLimits& a, const GpuLimits& b);

/// What one block of a kernel takes.
struct BlockNeeds {
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;     ///< Of a thread, as ptxas says.
  std::uint64_t shared_bytes = 0;  ///< Static and dynamic together.
};
/// Blocks that one multiprocessor holds at a time; 0: not even one.
[[nodiscard]] std::uint32_t resident_blocks(const GpuLimits& limits, const BlockNeeds& needs);

/// "9.0" of 90.
[[nodiscard]] std::string capability_name(int capability);

/// What the environment allows kernels to use, in WARREN_LIMIT_CAPABILITY ("80" or "8.0"): a number
/// that is larger than any capability where that is not set or empty. For tests of what older GPUs
/// do. Throws UsageError for what is no capability from kOldestCapability on.
[[nodiscard]] int capability_limit();
/// The smaller one of the two.
[[nodiscard]] int limited(int capability);

/// Why a GPU cannot run kernels that were compiled for `built_for`, a list such as CMake's
/// CMAKE_CUDA_ARCHITECTURES with commas ("80-real,90"); empty if it can. One line, which names the
/// GPU and the cure.
[[nodiscard]] std::string why_too_old(std::string_view gpu, int capability,
                                      std::string_view built_for);

}  // namespace warren::exec
