// SPDX-License-Identifier: Apache-2.0
// The device that host arrays are accounted to.
#include "warren/memory/host_device.hpp"

namespace warren::memory::detail {

const exec::Device& host_device() {
  static const auto* device = new exec::Device(exec::Device::cpu(1));
  return *device;
}

}  // namespace warren::memory::detail
