// SPDX-License-Identifier: Apache-2.0
// What the host has for this process: the system's memory, within the control groups' limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warren/exec/device.hpp"

namespace warren::exec {

/// MemTotal and MemAvailable, or less where a control group of the process has a limit.
[[nodiscard]] MemoryInfo host_memory();

/// Folders of the control groups, of either version, that limit the memory of a process whose
/// /proc/self/cgroup is `groups`; `root` is where they are mounted.
[[nodiscard]] std::vector<std::string> limiting_groups(const std::string& groups,
                                                       const std::string& root);
/// What the group has and has left: pages of files that it has not used lately count as left.
[[nodiscard]] MemoryInfo group_memory(const std::string& folder);

}  // namespace warren::exec
