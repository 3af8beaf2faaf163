// SPDX-License-Identifier: Apache-2.0
// The JSON of a benchmark, with what it says of its origin.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "warren/exec/device.hpp"

namespace warren::bench {

/// The results as one object with `command` (this process' command line, the program without its
/// folder), `warren`, `machine` and `date` (warren/stamp/stamp.hpp). A list of rows becomes the
/// object's `results`. `ranks` says how many GPUs were used.
[[nodiscard]] nlohmann::json report(const nlohmann::json& results, exec::DeviceKind kind,
                                    int ranks = 1);

/// Writes report(...) to the file `out`, unless that name is empty. Throws InputError where the
/// file cannot be written.
void write_report(const std::string& out, const nlohmann::json& results, exec::DeviceKind kind,
                  int ranks = 1);

}  // namespace warren::bench
