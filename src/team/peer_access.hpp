// SPDX-License-Identifier: Apache-2.0
// Whether one device's kernels can address another's memory.
#pragma once

#include <array>

#include "warren/exec/device.hpp"

namespace warren::team {

/// True if kernels on `from` can read, write and atomically update memory of `to`; opens the path
/// where it must be opened. GPUs that reach each other without native atomics count as unreachable:
/// an update of one would be lost where the other updates the same word. The CPU and a device reach
/// themselves; pinned memory is reached by all.
bool enable_access(const exec::Device& from, const exec::Device& to);
/// The same of two GPUs, without opening the path: memory of another process opens it.
[[nodiscard]] bool can_access(const exec::Device& from, const exec::Device& to);

/// Names a GPU, or a part of one, in all processes: its UUID.
using GpuIdentity = std::array<char, 16>;
[[nodiscard]] GpuIdentity identity_of(const exec::Device& device);

}  // namespace warren::team
