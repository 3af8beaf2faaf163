// SPDX-License-Identifier: Apache-2.0
// What a product with a rank's rows of a matrix is made of, beside the matrix.
#pragma once

#include <cstdint>
#include <functional>

#include "warren/exec/stream.hpp"

namespace warren::sparse {

/// y = alpha row_scale (A x + self x) + beta y: this rank's rows of x and y on its device, k
/// columns of each. From one row to the next are `x_stride` and `y_stride` elements; what lies
/// between k and those stays as it is in y, and may be read and moved of x.
template <class T>
struct MatrixOperands {
  const T* x = nullptr;
  std::uint64_t x_stride = 0;
  T* y = nullptr;
  std::uint64_t y_stride = 0;
  std::uint64_t k = 0;
  float alpha = 1.0f;
  float beta = 0.0f;                 ///< 0: y is not read.
  const float* row_scale = nullptr;  ///< By row, on the device; nullptr: all ones.
  const float* self = nullptr;       ///< Of a diagonal beside A, likewise; nullptr: none.
};

/// Calls work(), which puts kernels that multiply on the stream: for who measures them.
using AroundWork =
    std::function<void(const exec::Stream& stream, const std::function<void()>& work)>;

}  // namespace warren::sparse
