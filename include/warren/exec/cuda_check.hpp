// SPDX-License-Identifier: Apache-2.0
// The one checker of CUDA calls: throws DeviceError with the call's place, the error's name and its
// meaning.
#pragma once

#if WARREN_HAS_CUDA
#include <source_location>
#include <string>

#include <cuda_runtime_api.h>

#include "warren/core/error.hpp"

namespace warren::exec {

inline void cuda_check(cudaError_t status, const char* what,
                       std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  int device = -1;
  (void)cudaGetDevice(&device);
  (void)cudaGetLastError();
  throw DeviceError(std::string(what) + " failed on cuda:" + std::to_string(device) + ": " +
                    cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + "), at " +
                    where.file_name() + ":" + std::to_string(where.line()));
}

}  // namespace warren::exec
#endif
