// SPDX-License-Identifier: Apache-2.0
// What every JSON of warren and of the benchmarks says of its origin: which program made it, on
// which machine, and when.
#pragma once

#include <string>

#include "warren/exec/device.hpp"

namespace warren::stamp {

/// "0.1.0".
[[nodiscard]] const char* version() noexcept;
/// "e1b7c18c1e05", with "-dirty" behind it where tracked files were changed; "unknown" for sources
/// that lie in no git checkout.
[[nodiscard]] const char* commit() noexcept;

/// A JSON object, in one line: `warren` {"version", "commit"}, `machine`, and `date`, as
/// "2026-11-25T19:28:00Z". The machine that a run of `ranks` ranks uses is {"cpu": model,
/// "threads": those of the machine that the process may use}; of GPUs also {"gpus": models, one for
/// each GPU that holds a rank, "driver": "580.95", "cuda_runtime": "13.0"}. A driver that does not
/// tell its number is named by the CUDA version that it serves.
[[nodiscard]] std::string origin(exec::DeviceKind kind, int ranks);

}  // namespace warren::stamp
