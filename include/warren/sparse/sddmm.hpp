// SPDX-License-Identifier: Apache-2.0
// Sampled dense-dense products on one device.
#pragma once

#include <cstdint>

#include "warren/sparse/spmm.hpp"

namespace warren::sparse {

/// out[e] = weight(e) <X[row(e)], Y[column(e)]> for every entry e of A: A's values times the
/// products of rows, where both would stand. X (rows of A x k) and Y (columns of A x k) are
/// row-major with strides of at least k elements, out is float32, indexed as A's entries are; all
/// on the stream's device. A's scales are applied to rows and columns, `self` is not an entry.
/// `plan` is one of A's for spmm(). The gradient of A's values in C = A B is sddmm(dC, B).
/// Asynchronous; repeats bit for bit. Throws UsageError for k = 0 or a stride below k, DeviceError
/// when the launch fails.
template <class T>
void sddmm(const exec::Stream& stream, const MatrixView& a, const SpmmPlan& plan, const T* x,
           std::uint64_t x_stride, const T* y, std::uint64_t y_stride, std::uint64_t k, float* out);

}  // namespace warren::sparse
