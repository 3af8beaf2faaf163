// SPDX-License-Identifier: Apache-2.0
// The device of what is in plain host memory, or nowhere yet.
#pragma once

#include "warren/exec/device.hpp"

namespace warren::memory::detail {

/// The CPU, with one thread. Never destroyed: arrays are made and freed until the process ends.
const exec::Device& host_device();

}  // namespace warren::memory::detail
