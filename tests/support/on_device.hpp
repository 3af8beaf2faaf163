// SPDX-License-Identifier: Apache-2.0
// Values brought to a device.
#pragma once

#include <vector>

#include "warren/memory/buffer.hpp"

namespace warren::testing_support {

template <class T>
memory::Buffer<T> on_device(const exec::Stream& stream, const std::vector<T>& values) {
  memory::Buffer<T> buffer(stream.device(), values.size());
  buffer.upload(stream, values);
  stream.synchronize();
  return buffer;
}

}  // namespace warren::testing_support
