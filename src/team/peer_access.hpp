// SPDX-License-Identifier: Apache-2.0
// Whether one device's kernels can address another's memory.
#pragma once

#include "warren/exec/device.hpp"

namespace warren::team {

/// True if kernels on `from` can read, write and atomically update memory of `to`; opens the path
/// where it must be opened. GPUs that reach each other without native atomics count as unreachable:
/// an update of one would be lost where the other updates the same word. The CPU and a device reach
/// themselves; pinned memory is reached by all.
bool enable_access(const exec::Device& from, const exec::Device& to);

}  // namespace warren::team
