// SPDX-License-Identifier: Apache-2.0
// What a layer reads: dense rows, or sparse ones (features that are mostly zeros); and products
// with weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/dataset/sparse_rows.hpp"
#include "warren/learn/context.hpp"
#include "warren/learn/padding.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::learn {

/// How large a sparse operand is: all that its memory depends on.
struct SparseOperandSizes {
  std::uint64_t rows = 0, columns = 0, entries = 0;
  sparse::SpmmPlanSizes plan, transposed_plan;
};

/// A sparse matrix of this rank's rows on its device, with its transpose.
class SparseOperand {
 public:
  SparseOperand() = default;
  /// Synchronises. Throws MemoryError.
  SparseOperand(const exec::Stream& stream, const SparseRows& rows);
  /// The memory of one alone: for dry runs (exec::DryRun).
  SparseOperand(const exec::Stream& stream, const SparseOperandSizes& sizes);

  /// The values that products use from here on: those given at first, with dropout.
  void drop(const exec::Stream& stream, const Dropout& dropout);
  [[nodiscard]] std::uint64_t columns() const { return columns_; }
  [[nodiscard]] std::uint64_t entries() const { return values_.size(); }
  [[nodiscard]] std::uint64_t bytes() const {
    return offsets_.bytes() + transposed_offsets_.bytes() + value_ids_.bytes() +
           column_ids_.bytes() + row_ids_.bytes() + values_.bytes() + dropped_.bytes() +
           plan_.bytes() + transposed_plan_.bytes();
  }

  /// y = X w + beta y, w of columns() x k; rows of both `stride` apart. w and y of one type.
  void multiply(const exec::Stream& stream, ConstNumbers w, Numbers y, std::uint64_t k,
                std::uint64_t stride, float beta) const;
  /// dw += X^T dy, float32; rows of dy `stride` apart.
  void multiply_transposed(const exec::Stream& stream, const float* dy, float* dw, std::uint64_t k,
                           std::uint64_t stride) const;

 private:
  /// Takes the device's arrays, whose contents come later.
  void take(const exec::Stream& stream, std::uint64_t rows, std::uint64_t entries);

  std::uint64_t columns_ = 0;
  memory::Buffer<EdgeOffset> offsets_, transposed_offsets_, value_ids_;
  memory::Buffer<Vertex> column_ids_, row_ids_;
  memory::Buffer<float> values_, dropped_;
  sparse::MatrixView view_, transposed_;
  sparse::SpmmPlan plan_, transposed_plan_;
};

/// rows x width, one of the two.
struct Operand {
  std::uint64_t rows = 0;
  ConstNumbers dense = {};
  const SparseOperand* sparse = nullptr;
  std::uint64_t width = 0;
  /// Not 0: the same rows wherever an operand has this number, those that other ranks have
  /// included: what is made of them may be kept, which all ranks then do alike.
  std::uint64_t constant = 0;
  /// Dense rows of a batch are by their columns' weights in the block that reads them already.
  bool is_scaled = false;

  [[nodiscard]] static Operand of(std::uint64_t rows, ConstNumbers values, std::uint64_t width) {
    return {rows, values, nullptr, width, 0, false};
  }
  /// Its first rows. Of dense ones only.
  [[nodiscard]] Operand first(std::uint64_t count) const {
    return {count, dense, sparse, width, 0, is_scaled};
  }
};

/// y = X w + beta y: y rows x k, w width x k. `stride`, here and below: from a row of the matrix k
/// wide to the next, k or padded(k), 0 for k; what lies between is 0 in operands and becomes 0 in
/// results. Weights and their gradients are float32. X, y and their gradients are of one type: of
/// 16 bits, weights are rounded to it before they are multiplied; sums are float32 with every type.
void transform(Context& context, const Operand& x, const float* w, Numbers y, std::uint64_t k,
               float beta = 0.0f, std::uint64_t stride = 0);
/// dw += X^T dy.
void add_weight_gradient(Context& context, const Operand& x, ConstNumbers dy, float* dw,
                         std::uint64_t k, std::uint64_t stride = 0);
/// dx = dy w^T + beta dx for `rows` rows, w width x k.
void input_gradient(Context& context, std::uint64_t rows, ConstNumbers dy, const float* w,
                    Numbers dx, std::uint64_t width, std::uint64_t k, float beta = 0.0f,
                    std::uint64_t stride = 0);

}  // namespace warren::learn
