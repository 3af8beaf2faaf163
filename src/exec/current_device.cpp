// SPDX-License-Identifier: Apache-2.0
#include "warren/exec/current_device.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {

#if WARREN_HAS_CUDA
KeepCurrentDevice::KeepCurrentDevice() noexcept : index_(cuda::current_device()) {}
KeepCurrentDevice::~KeepCurrentDevice() { cuda::set_current_device(index_); }
#else
KeepCurrentDevice::KeepCurrentDevice() noexcept : index_(-1) {}
KeepCurrentDevice::~KeepCurrentDevice() = default;
#endif

}  // namespace warren::exec
