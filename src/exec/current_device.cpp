// SPDX-License-Identifier: Apache-2.0
#include "warren/exec/current_device.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {
namespace {

#if WARREN_HAS_CUDA
int current() noexcept { return cuda::current_device(); }
void make_current(int index) noexcept { cuda::set_current_device(index); }
#else
int current() noexcept { return -1; }
void make_current(int /*index*/) noexcept {}
#endif

}  // namespace

KeepCurrentDevice::KeepCurrentDevice() noexcept : index_(current()) {}
KeepCurrentDevice::~KeepCurrentDevice() { make_current(index_); }

}  // namespace warren::exec
