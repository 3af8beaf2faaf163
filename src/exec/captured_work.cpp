// SPDX-License-Identifier: Apache-2.0
#include "warren/exec/captured_work.hpp"

#include "warren/core/error.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {

void CapturedWork::begin(const Stream& stream) {
  require(stream.device().is_cuda(), "work is captured on GPUs alone");
#if WARREN_HAS_CUDA
  cuda::begin_capture(stream.device().index(), stream.native());
#endif
}

void CapturedWork::abandon([[maybe_unused]] const Stream& stream) noexcept {
#if WARREN_HAS_CUDA
  cuda::abandon_capture(stream.native());
#endif
}

CapturedWork CapturedWork::end([[maybe_unused]] const Stream& stream) {
  CapturedWork work;
#if WARREN_HAS_CUDA
  work.handle_ = cuda::end_capture(stream.device().index(), stream.native());
#endif
  return work;
}

void CapturedWork::run([[maybe_unused]] const Stream& stream) const {
  require(handle_ != nullptr, "there is no captured work to run");
#if WARREN_HAS_CUDA
  cuda::run_captured(stream.device().index(), stream.native(), handle_.get());
#endif
}

void record_time(Event& event, const Stream& stream) {
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda())
    return cuda::record_time(stream.device().index(), event.native(), stream.native());
#endif
  event.record(stream);
}

}  // namespace warren::exec
