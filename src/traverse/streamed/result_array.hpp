// SPDX-License-Identifier: Apache-2.0
// What is told of all vertices, in host memory: the memory in which it was found, or a copy of a
// GPU's.
#pragma once

#include <memory>

#include "warren/memory/buffer.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::traverse {

/// The elements of a buffer, as values of a type of the same size. Synchronises.
template <class To, class From>
[[nodiscard]] memory::HostArray<To> on_host_as(
    const exec::Stream& stream, const std::shared_ptr<memory::Buffer<From>>& buffer) {
  static_assert(sizeof(To) == sizeof(From));
  stream.synchronize();
  if (!stream.device().is_cuda())
    return {reinterpret_cast<To*>(buffer->data()), buffer->size(), buffer};
  memory::HostArray<To> copied(buffer->size());
  exec::copy(stream, copied.data(), buffer->data(), buffer->bytes());
  stream.synchronize();
  return copied;
}
template <class T>
[[nodiscard]] memory::HostArray<T> on_host(const exec::Stream& stream,
                                           const std::shared_ptr<memory::Buffer<T>>& buffer) {
  return on_host_as<T>(stream, buffer);
}

}  // namespace warren::traverse
