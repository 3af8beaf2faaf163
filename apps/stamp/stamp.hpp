// SPDX-License-Identifier: Apache-2.0
// What every JSON of `warren` and of the benchmarks says of its origin: which program made it, on
// which machine, and when.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "warren/exec/device.hpp"

namespace warren::stamp {

using Json = nlohmann::ordered_json;

/// {"version": "0.1.0", "commit": "e1b7c18c1e05"}: see commit().
[[nodiscard]] Json program();

/// The machine that a run of `ranks` ranks uses. {"cpu": model, "threads": those of the machine
/// that the process may use}; of GPUs also {"gpus": models, one for each GPU that holds a rank,
/// "driver": "580.95", "cuda_runtime": "13.0"}. A driver that does not tell its number is named by
/// the CUDA version that it serves.
[[nodiscard]] Json machine(exec::DeviceKind kind, int ranks);

/// Now, as "2026-11-25T19:28:00Z".
[[nodiscard]] std::string date();

/// Sets `warren`, `machine` and `date` of an object.
void add(Json& json, exec::DeviceKind kind, int ranks);

}  // namespace warren::stamp
