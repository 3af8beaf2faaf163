// SPDX-License-Identifier: Apache-2.0
// The device that host arrays are accounted to.
#include "warren/memory/host_array.hpp"

namespace warren::memory::detail {

const exec::Device& host_device() {
  static const exec::Device device = exec::Device::cpu(1);
  return device;
}

}  // namespace warren::memory::detail
