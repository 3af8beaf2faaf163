// SPDX-License-Identifier: Apache-2.0
// What is done to the elements and rows of dense matrices: row-major without gaps, on the stream's
// device. Numbers are float32, float16 or bfloat16, all of a call the same where nothing else is
// said, and are computed with as float32; sums, biases and scales are float32. All functions are
// asynchronous and repeat bit for bit, and throw DeviceError when a launch fails, UsageError for
// numbers of different types.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"
#include "warren/exec/stream.hpp"
#include "warren/learn/numbers.hpp"
#include "warren/learn/random.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::learn {

enum class Activation { none, relu, elu, leaky_relu };

/// dropout(activation(y + bias + residual)): what follows a product.
struct Epilogue {
  const float* bias = nullptr;  ///< k, or nullptr.
  ConstNumbers residual = {};   ///< n x k, or nullptr.
  Activation activation = Activation::none;
  float slope = 0.01f;  ///< Of leaky ReLU, below 0.
  Dropout dropout = {};
};

/// y <- dropout(activation(y + bias + residual)), n x k.
void apply(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n, std::uint64_t k,
           Numbers y);
/// dy <- the gradient of y as it was before apply(); y as it is after it.
void apply_backward(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n,
                    std::uint64_t k, ConstNumbers y, Numbers dy);

/// y = dropout(x), n x k.
void drop(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n, std::uint64_t k,
          ConstNumbers x, Numbers y);
/// y[e] = dropout(x[e]), float32, for the entries of a sparse matrix of n rows.
void drop_entries(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n,
                  const EdgeOffset* offsets, const Vertex* columns, const float* x, float* y);

/// a[r][c] b[r][c], or a[r][c] where b is nullptr.
struct ColumnTerms {
  std::uint64_t k = 0;
  ConstNumbers a = {};
  ConstNumbers b = {};
};
/// Rows of a gradient, each times a number of its own, for what reads them next.
struct ScaledGradient {
  const float* scale = nullptr;  ///< n numbers on the device; nullptr: no such rows are made.
  Numbers rows = {};             ///< n x k; may be y, which is lost then.
  bool keeps_plain = true;       ///< Whether dy gets what is not scaled.
};

/// Sums over rows. Keeps the room that they need.
class ColumnSums {
 public:
  /// out[c] += sum over the n rows of the terms.
  void add(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n, float* out);
  /// *out += sum over rows and columns.
  void add_all(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n, float* out);
  /// first_out[h][c] += sum over rows of x[r][h][c] first[r][h], c below `width`, rows of x
  /// `stride` apart; and the same with second.
  void add_heads(const exec::Stream& stream, std::uint64_t n, std::uint64_t heads,
                 std::uint64_t width, std::uint64_t stride, ConstNumbers x, const float* first,
                 const float* second, float* first_out, float* second_out);
  /// apply_backward(), and bias_gradient[c] += the sum of the new dy's column c, and the new dy's
  /// scaled rows, in one pass.
  void apply_backward(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n,
                      std::uint64_t k, ConstNumbers y, Numbers dy, float* bias_gradient,
                      const ScaledGradient& scaled = {});

 private:
  friend class Norm;
  /// Leaves the tiles' sums of the terms.
  void sum(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n);
  /// Room for `sums` sums over n rows of k columns, as passes over rows leave them.
  float* room(const exec::Stream& stream, std::uint64_t n, std::uint64_t sums, std::uint64_t k);
  /// first[c] += and second[c] += those sums, of as many as there are.
  void finish(const exec::Stream& stream, std::uint64_t n, std::uint64_t sums, std::uint64_t k,
              float* first, float* second);
  memory::Buffer<float> partial_;
};

/// y += (1 + *epsilon) x; epsilon on the device, nullptr for 0.
void add_self(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const float* epsilon,
              ConstNumbers x, Numbers y);

/// out[i][:] = x[rows[i]][:], rows of `row_bytes` bytes, an even number.
void gather_rows(const exec::Stream& stream, std::uint64_t count, std::uint64_t row_bytes,
                 const Vertex* rows, const void* x, void* out);

/// out[i][:] = scale[i] x[i][:] (nullptr: 1) with rows `stride` >= k apart, the rest of them 0. out
/// may be x where stride = k. One of the two may be float32 and the other of 16 bits: what is
/// written is then rounded to the nearest.
void scale_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, std::uint64_t stride,
                const float* scale, ConstNumbers x, Numbers out);

/// y[i][:] += scale[i] x[i][:] (nullptr: 1), k wide; rows of x and y so far apart. Types as in
/// scale_rows().
void add_scaled_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k,
                     const float* scale, ConstNumbers x, std::uint64_t x_stride, Numbers y,
                     std::uint64_t y_stride);

/// out[i] = names[from[i]].
void copy_named(const exec::Stream& stream, std::uint64_t n, const Vertex* from,
                const Vertex* names, Vertex* out);

/// arg[r][c] = names[arg[r][c]], but for kNoVertex; without names arg -= first.
void renumber(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const Vertex* names,
              Vertex first, Vertex* arg);

}  // namespace warren::learn
