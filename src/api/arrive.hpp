// SPDX-License-Identifier: Apache-2.0
// The caller's arrays, on their way to the device that a rank works on.
#pragma once

#include <cstdint>

#include "warren/api/array_view.hpp"
#include "warren/exec/device.hpp"
#include "warren/exec/memory.hpp"
#include "warren/exec/stream.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::api {

/// Copies a view's bytes to `to` on the stream's device, in its order; on the CPU at once.
inline void copy_bytes_in(const exec::Stream& stream, const ArrayView<unsigned char>& from,
                          void* to) {
  if (from.empty()) return;
  if (from.is_on_gpu() && !stream.device().is_cuda()) {
    const exec::Stream there(exec::Device::cuda(from.gpu()));
    there.wait(from.gpu(), from.stream());
    exec::copy(there, to, from.data(), from.size());
    there.synchronize();
    return;
  }
  if (from.is_on_gpu()) stream.wait(from.gpu(), from.stream());
  exec::copy(stream, to, from.data(), from.size());
}
template <class T>
void copy_in(const exec::Stream& stream, const ArrayView<T>& from, T* to) {
  copy_bytes_in(stream,
                ArrayView<unsigned char>(reinterpret_cast<const unsigned char*>(from.data()),
                                         from.size() * sizeof(T), from.gpu(), from.stream()),
                to);
}

/// Whether the device's kernels read a view where it is: they load 16 bytes at a time.
template <class T>
[[nodiscard]] bool is_in_place(const exec::Device& device, const ArrayView<T>& view) {
  constexpr std::uintptr_t kLoad = 16;
  if (!view.is_on_gpu()) return !device.is_cuda();
  return device.is_cuda() && device.index() == view.gpu() &&
         reinterpret_cast<std::uintptr_t>(view.data()) % kLoad == 0;
}

/// Where the stream's device reads a view's elements, for what is put on the stream from here on:
/// where they are, or in `kept`, to which they are copied.
template <class T>
[[nodiscard]] const T* arrive(const exec::Stream& stream, const ArrayView<T>& view,
                              memory::Buffer<T>& kept) {
  if (view.empty()) return nullptr;
  if (is_in_place(stream.device(), view)) {
    if (view.is_on_gpu()) stream.wait(view.gpu(), view.stream());
    return view.data();
  }
  T* const copied = memory::at_least(stream, kept, view.size());
  copy_in(stream, view, copied);
  return copied;
}

}  // namespace warren::api
