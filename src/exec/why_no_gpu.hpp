// SPDX-License-Identifier: Apache-2.0
// Why no GPU can be used, told from what the CUDA runtime answered when it was asked for the number
// of GPUs. Needs neither CUDA nor a GPU.
#pragma once

#include <string>

namespace warren::exec {

/// What there is to tell from.
struct NoGpu {
  int error = 0;                ///< A cudaError_t.
  const char* error_name = "";  ///< Its name.
  int driver = 0;   ///< The CUDA that the driver is for, 1000 x major + 10 x minor; 0: none.
  int toolkit = 0;  ///< The CUDA that this was built with.
  const char* visible = nullptr;  ///< CUDA_VISIBLE_DEVICES, nullptr where that is not set.
};

/// One line, without a full stop: the cause and the cure.
[[nodiscard]] std::string why_no_gpu(const NoGpu& found);

/// "13.0" of 13000; empty for 0.
[[nodiscard]] std::string cuda_version(int version);

}  // namespace warren::exec
