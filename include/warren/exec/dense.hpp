// SPDX-License-Identifier: Apache-2.0
// Dense products on one device: OpenBLAS on the CPU, cuBLASLt on GPUs.
#pragma once

#include <cstdint>
#include <memory>

#include "warren/exec/stream.hpp"

namespace warren::exec {

/// op(A) is m x k, op(B) is k x n, C is m x n; all row-major without gaps. A transposed operand is
/// stored as k x m, or n x k.
struct DenseShape {
  std::uint64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};

struct DenseOptions {
  /// GPUs: float32 operands may be rounded to TF32 (10 bits of fraction); sums stay float32.
  bool allow_tf32 = true;
};

/// What dense products on a device need: the library's handle and its workspace. One stream uses it
/// at a time.
class DenseProducts {
 public:
  /// Throws DeviceError where cuBLASLt cannot be loaded, MemoryError.
  explicit DenseProducts(const Device& device, const DenseOptions& options = {});
  ~DenseProducts();
  DenseProducts(const DenseProducts&) = delete;
  DenseProducts& operator=(const DenseProducts&) = delete;

  /// C = alpha op(A) op(B) + beta C in the stream's order; T is float, Half or BFloat16, C is of T
  /// or float, sums are float32. beta = 0: C is not read. All on the stream's device; C overlaps
  /// neither A nor B. Repeats bit for bit on one device with one number of threads. Throws
  /// UsageError for a size of 2^31 or more, DeviceError when the library refuses.
  template <class T, class C = T>
  void multiply(const Stream& stream, const DenseShape& shape, const T* a, const T* b, C* c,
                float alpha = 1.0f, float beta = 0.0f);

 private:
  struct Library;
  Device device_;
  DenseOptions options_;
  std::unique_ptr<Library> library_;
};

}  // namespace warren::exec
