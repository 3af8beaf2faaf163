// SPDX-License-Identifier: Apache-2.0
// Streams and events: CUDA's on a GPU; on the CPU work is done at once, so that only clocks are
// left.
#include "warren/exec/stream.hpp"

#include "warren/core/trace.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {

Stream::Stream(const Device& device, [[maybe_unused]] Priority priority) : device_(device) {
#if WARREN_HAS_CUDA
  if (device.is_cuda()) handle_ = cuda::make_stream(device.index(), priority == Priority::high);
#endif
}

Stream Stream::borrow(const Device& device, void* native) {
  return {device, std::shared_ptr<void>(native, [](void*) {})};
}

void Stream::synchronize() const {
#if WARREN_HAS_CUDA
  if (device_.is_cuda()) cuda::synchronize_stream(device_.index(), native());
#endif
}

void Stream::wait([[maybe_unused]] const Event& event) const {
#if WARREN_HAS_CUDA
  if (device_.is_cuda()) cuda::wait_event(device_.index(), native(), event.native());
#endif
}

void Stream::wait([[maybe_unused]] int index, [[maybe_unused]] void* native_stream) const {
#if WARREN_HAS_CUDA
  if (device_.is_cuda()) cuda::wait_stream(device_.index(), native(), index, native_stream);
#endif
}

Event::Event(const Device& device) : device_(device) {
#if WARREN_HAS_CUDA
  if (device.is_cuda()) handle_ = cuda::make_event(device.index());
#endif
}

void Event::record([[maybe_unused]] const Stream& stream) {
#if WARREN_HAS_CUDA
  if (device_.is_cuda()) {
    cuda::record_event(device_.index(), native(), stream.native());
    return;
  }
#endif
  cpu_time_ = now_seconds();
}

void Event::record_on([[maybe_unused]] void* native_stream) {
#if WARREN_HAS_CUDA
  if (device_.is_cuda()) cuda::record_event(device_.index(), native(), native_stream);
#endif
}

void Event::synchronize() const {
#if WARREN_HAS_CUDA
  if (device_.is_cuda()) cuda::synchronize_event(native());
#endif
}

double Event::seconds_since(const Event& earlier) const {
#if WARREN_HAS_CUDA
  if (device_.is_cuda()) return cuda::event_seconds(earlier.native(), native());
#endif
  return cpu_time_ - earlier.cpu_time_;
}

}  // namespace warren::exec
