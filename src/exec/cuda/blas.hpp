// SPDX-License-Identifier: Apache-2.0
// Dense products by cuBLASLt, taken from the shared library when first needed: one binary starts
// without it.
#pragma once

#include <array>
#include <map>

#include <cublasLt.h>

#include "warren/exec/dense.hpp"
#include "warren/exec/half.hpp"
#include "warren/exec/memory.hpp"

namespace warren::exec::cuda {

template <class T>
constexpr cudaDataType_t blas_type() {
  if constexpr (sizeof(T) == sizeof(float)) return CUDA_R_32F;
  return std::is_same_v<T, Half> ? CUDA_R_16F : CUDA_R_16BF;
}

/// Of the operands, and of the result.
struct BlasTypes {
  cudaDataType_t operands, result;
};

class Blas {
 public:
  Blas(const Device& device, bool allow_tf32);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  void multiply(const Stream& stream, const DenseShape& shape, const BlasTypes& types,
                const void* a, const void* b, void* c, float alpha, float beta);

 private:
  using Key = std::array<std::uint64_t, 10>;
  struct Plan;
  const Plan& plan(const DenseShape& shape, const BlasTypes& types, const Key& key);
  /// B by columns, in memory of this object's.
  const void* turned(const Stream& stream, const DenseShape& shape, const void* b);
  void lay_out(Plan& plan, const DenseShape& shape, const BlasTypes& types) const;
  /// The library's choice for a shape.
  [[nodiscard]] cublasLtMatmulAlgo_t choose(const DenseShape& shape, const BlasTypes& types,
                                            const Key& key) const;

  Device device_;
  bool allow_tf32_;
  cublasLtHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
  void* turned_ = nullptr;
  std::map<Key, std::unique_ptr<Plan>> plans_;      // By shape.
  std::map<Key, cublasLtMatmulAlgo_t> algorithms_;  // By shape, large sizes rounded up.
};

}  // namespace warren::exec::cuda
