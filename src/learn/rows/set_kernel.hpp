// SPDX-License-Identifier: Apache-2.0
// A value written in the stream's order, which kernels read that are captured once and run often.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/learn/optimizer.hpp"

namespace warren::learn::detail {

/// One task.
template <class T>
struct SetKernel {
  T value;
  T* to;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t) const {
    *to = value;
  }
};

template <class Backend, class T>
void run_set(const exec::Stream& stream, const SetKernel<T>& kernel) {
  exec::launch<Backend, exec::Thread>(stream, 1, kernel);
}

#if WARREN_HAS_CUDA
// In loss.cu.
extern template void run_set<exec::Cuda>(const exec::Stream&, const SetKernel<std::uint64_t>&);
extern template void run_set<exec::Cuda>(const exec::Stream&, const SetKernel<UpdateStep>&);
extern template void run_set<exec::Cuda>(const exec::Stream&, const SetKernel<float>&);
#endif

/// Asynchronous.
template <class T>
void set_value(const exec::Stream& stream, const T& value, T* to) {
  exec::with_backend(stream.device(), [&](auto backend) {
    run_set<decltype(backend)>(stream, SetKernel<T>{value, to});
  });
}

}  // namespace warren::learn::detail
