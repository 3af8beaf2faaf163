// SPDX-License-Identifier: Apache-2.0
// The table of compute capabilities, as the CUDA programming guide's "Technical Specifications per
// Compute Capability" has it, and the arithmetic of its occupancy calculator.
#include "warren/exec/capability.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"

namespace warren::exec {
namespace {

constexpr std::uint32_t kKiB = 1024;

struct Row {
  int capability;
  GpuLimits limits;
};
/// threads, blocks, registers; shared memory: all, a block's own, a block's most, unit.
constexpr Row kRows[] = {
    {75, {1024, 16, 65536, 64 * kKiB, 0, 64 * kKiB, 256}},
    {80, {2048, 32, 65536, 164 * kKiB, kKiB, 163 * kKiB, 128}},
    {86, {1536, 16, 65536, 100 * kKiB, kKiB, 99 * kKiB, 128}},
    {87, {1536, 16, 65536, 164 * kKiB, kKiB, 163 * kKiB, 128}},
    {89, {1536, 24, 65536, 100 * kKiB, kKiB, 99 * kKiB, 128}},
    {90, {2048, 32, 65536, 228 * kKiB, kKiB, 227 * kKiB, 128}},
    {100, {2048, 32, 65536, 228 * kKiB, kKiB, 227 * kKiB, 128}},
    {110, {1536, 24, 65536, 228 * kKiB, kKiB, 227 * kKiB, 128}},
    {120, {1536, 24, 65536, 100 * kKiB, kKiB, 99 * kKiB, 128}},
};

template <class T>
T rounded_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

/// "80" or "8.0", "120" or "12.0".
std::optional<int> parsed(std::string_view text) {
  std::string digits(text);
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    if (point + 2 != digits.size()) return {};
    digits.erase(point, 1);
  }
  int value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end || digits.size() > 3 || value < kOldestCapability)
    return {};
  return value;
}

}  // namespace

GpuFeatures features_of(int capability) {
  return {.has_copies_behind = capability >= 80,
          .has_bfloat16_products = capability >= 80,
          .has_clusters = capability >= 90,
          .has_vector_reductions = capability >= 90};
}

GpuLimits limits_of(int capability) {
  require(capability >= kOldestCapability,
          fmt::format("compute capability {}: the oldest that kernels run on is {}",
                      capability_name(capability), capability_name(kOldestCapability)));
  const Row* found = kRows;
  for (const Row& row : kRows) {
    if (row.capability <= capability) found = &row;
  }
  return found->limits;
}

GpuLimits smaller(const GpuLimits& a, const GpuLimits& b) {
  return {.threads = std::min(a.threads, b.threads),
          .blocks = std::min(a.blocks, b.blocks),
          .registers = std::min(a.registers, b.registers),
          .shared_bytes = std::min(a.shared_bytes, b.shared_bytes),
          .reserved_bytes = std::max(a.reserved_bytes, b.reserved_bytes),
          .shared_block_bytes = std::min(a.shared_block_bytes, b.shared_block_bytes),
          .shared_unit_bytes = std::max(a.shared_unit_bytes, b.shared_unit_bytes)};
}

std::uint32_t resident_blocks(const GpuLimits& limits, const BlockNeeds& needs) {
  constexpr std::uint32_t kWarp = 32, kParts = 4;  // Of a multiprocessor, each with its registers.
  constexpr std::uint32_t kRegisterUnit = 256;     // Of a warp.
  constexpr std::uint32_t kMostBlockThreads = 1024, kMostRegisters = 255;
  if (needs.threads == 0 || needs.threads > kMostBlockThreads || needs.registers > kMostRegisters ||
      needs.shared_bytes > limits.shared_block_bytes)
    return 0;
  const std::uint32_t warps = (needs.threads + kWarp - 1) / kWarp;
  std::uint32_t blocks = std::min(limits.blocks, limits.threads / kWarp / warps);
  if (needs.registers > 0) {
    const std::uint32_t of_warp = rounded_up(needs.registers * kWarp, kRegisterUnit);
    const std::uint32_t resident = limits.registers / kParts / of_warp * kParts;
    blocks = std::min(blocks, resident / warps);
  }
  const std::uint64_t shared = rounded_up<std::uint64_t>(needs.shared_bytes + limits.reserved_bytes,
                                                         limits.shared_unit_bytes);
  if (shared > 0)
    blocks = std::min(blocks, static_cast<std::uint32_t>(limits.shared_bytes / shared));
  return blocks;
}

std::string capability_name(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

int capability_limit() {
  const char* const text = std::getenv("WARREN_LIMIT_CAPABILITY");
  if (text == nullptr || *text == '\0') return std::numeric_limits<int>::max();
  const std::optional<int> value = parsed(text);
  require(value.has_value(),
          fmt::format("WARREN_LIMIT_CAPABILITY: got \"{}\"; give a compute capability from {} on, "
                      "such as 80 or 8.0, or leave it unset",
                      printable(text), capability_name(kOldestCapability)));
  return *value;
}

int limited(int capability) { return std::min(capability, capability_limit()); }

std::string why_too_old(std::string_view gpu, int capability, std::string_view built_for) {
  if (capability < kOldestCapability) {
    return fmt::format(
        "{} has compute capability {}, and kernels need {} or later (Turing: T4, RTX 20, GTX 16); "
        "choose the CPU: device cpu",
        gpu, capability_name(capability), capability_name(kOldestCapability));
  }
  std::string names;
  while (!built_for.empty()) {
    const std::string_view word = built_for.substr(0, built_for.find(','));
    built_for.remove_prefix(std::min(word.size() + 1, built_for.size()));
    const std::string_view number = word.substr(0, word.find('-'));
    int value = 0;
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    // "native" and "all" of CMake's own: unknown here.
    if (error != std::errc{}) return {};
    const bool has_ptx = !word.ends_with("-real"), has_binary = !word.ends_with("-virtual");
    if (has_ptx && value <= capability) return {};
    if (has_binary && value / 10 == capability / 10 && value <= capability) return {};
    names += fmt::format("{}{}", names.empty() ? "" : ", ", capability_name(value));
  }
  return fmt::format(
      "{} has compute capability {}, and this build has kernels for {} alone; build it with "
      "-DWARREN_CUDA_ARCHITECTURES={} (or native, or all), or choose the CPU: device cpu",
      gpu, capability_name(capability), names.empty() ? "none" : names, capability);
}

}  // namespace warren::exec
