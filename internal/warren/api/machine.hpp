// SPDX-License-Identifier: Apache-2.0
// The devices of a machine, how they are linked, and what the library was built with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/check_machine.hpp"
#include "warren/api/session.hpp"
#include "warren/exec/device.hpp"
#include "warren/team/links.hpp"

namespace warren {

struct Machine {
  exec::Device host;                  ///< The CPU, with the session's threads.
  std::vector<exec::Device> devices;  ///< All GPUs, or the CPU.
  /// Of ranks that are processes: a JSON object each, with the rank's host and device.
  std::vector<std::string> ranks;
  team::Links links;     ///< Between those ranks, or the devices.
  double seconds = 0.0;  ///< Of measuring them.
};

/// Measures the links. Throws UsageError, DeviceError,
/// MemoryError.
[[nodiscard]] Machine look_at_machine(const std::optional<Session>& session = {});

/// `devices[]`, `ranks[]`, `links[][]`, `host_links[]`, `host`, `versions`, and without a GPU why.
[[nodiscard]] std::string to_json(const Machine& machine);
[[nodiscard]] std::string to_text(const Machine& machine);

/// `checks[]`, and `verified`: whether none has failed.
[[nodiscard]] std::string to_json(const std::vector<CheckResult>& results);
[[nodiscard]] std::string to_text(const std::vector<CheckResult>& results);
[[nodiscard]] bool have_passed(const std::vector<CheckResult>& results);

}  // namespace warren
