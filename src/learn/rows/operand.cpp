// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/operand.hpp"

#include "warren/learn/elementwise.hpp"

namespace warren::learn {

void SparseOperand::take(const exec::Stream& stream, std::uint64_t rows, std::uint64_t entries) {
  const exec::Device& device = stream.device();
  offsets_ = memory::Buffer<EdgeOffset>(device, rows + 1);
  column_ids_ = memory::Buffer<Vertex>(device, entries);
  values_ = memory::Buffer<float>(device, entries);
  view_.rows = rows;
  view_.offsets = offsets_.data();
  view_.column_ids = column_ids_.data();
  view_.values = values_.data();
  transposed_offsets_ = memory::Buffer<EdgeOffset>(device, columns_ + 1);
  value_ids_ = memory::Buffer<EdgeOffset>(device, entries);
  row_ids_ = memory::Buffer<Vertex>(device, entries);
  transposed_.rows = columns_;
  transposed_.offsets = transposed_offsets_.data();
  transposed_.column_ids = row_ids_.data();
  transposed_.value_ids = value_ids_.data();
  transposed_.values = values_.data();
}

SparseOperand::SparseOperand(const exec::Stream& stream, const SparseOperandSizes& sizes)
    : columns_(sizes.columns),
      plan_(stream, sizes.plan),
      transposed_plan_(stream, sizes.transposed_plan) {
  take(stream, sizes.rows, sizes.entries);
}

SparseOperand::SparseOperand(const exec::Stream& stream, const SparseRows& rows)
    : columns_(rows.columns) {
  take(stream, rows.rows, rows.column_ids.size());
  offsets_.upload(stream, rows.offsets);
  column_ids_.upload(stream, rows.column_ids);
  values_.upload(stream, rows.values);
  plan_ = sparse::SpmmPlan(stream, rows.offsets);

  std::vector<EdgeOffset> offsets(columns_ + 1, 0);
  for (const Vertex c : rows.column_ids) ++offsets[c + 1ull];
  for (std::uint64_t c = 0; c < columns_; ++c) offsets[c + 1] += offsets[c];
  std::vector<EdgeOffset> place(offsets.begin(), offsets.end() - 1);
  std::vector<EdgeOffset> value_ids(rows.column_ids.size());
  std::vector<Vertex> row_ids(rows.column_ids.size());
  for (std::uint64_t r = 0; r < rows.rows; ++r) {
    for (EdgeOffset e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e) {
      const EdgeOffset to = place[rows.column_ids[e]]++;
      value_ids[to] = e;
      row_ids[to] = static_cast<Vertex>(r);
    }
  }
  transposed_offsets_.upload(stream, offsets);
  value_ids_.upload(stream, value_ids);
  row_ids_.upload(stream, row_ids);
  transposed_plan_ = sparse::SpmmPlan(stream, offsets);  // It waits for the copies, too.
}

void SparseOperand::drop(const exec::Stream& stream, const Dropout& dropout) {
  view_.values = transposed_.values = values_.data();
  if (!dropout.is_on() || values_.size() == 0) return;
  if (dropped_.size() == 0) dropped_ = memory::Buffer<float>(stream.device(), values_.size());
  drop_entries(stream, dropout, view_.rows, offsets_.data(), column_ids_.data(), values_.data(),
               dropped_.data());
  view_.values = transposed_.values = dropped_.data();
}

void SparseOperand::multiply(const exec::Stream& stream, ConstNumbers w, Numbers y, std::uint64_t k,
                             std::uint64_t stride, float beta) const {
  if (view_.rows == 0) return;
  with_type(y.type(), [&]<class T>(T) {
    sparse::spmm(stream, view_, plan_, sparse::RowTable<T>(w.as<T>(), stride), y.as<T>(), stride, k,
                 {.beta = beta});
  });
}

void SparseOperand::multiply_transposed(const exec::Stream& stream, const float* dy, float* dw,
                                        std::uint64_t k, std::uint64_t stride) const {
  sparse::spmm(stream, transposed_, transposed_plan_, sparse::RowTable<float>(dy, stride), dw, k, k,
               {.beta = 1.0f});
}

namespace {

/// What is given where it lies as products want it, or a copy that does.
struct LaidOut {
  Workspace::Block memory;
  ConstNumbers numbers;
};

/// w (width x k) with rows `stride` apart, in a type.
LaidOut laid_out(Context& context, const float* w, NumberType type, std::uint64_t width,
                 std::uint64_t k, std::uint64_t stride) {
  if (stride == k && type == NumberType::float32) return {{}, w};
  LaidOut copy{context.workspace().take_bytes(width * stride * size_of(type)), {}};
  const Numbers to(copy.memory.data(), type);
  scale_rows(context.stream(), width, k, stride, nullptr, w, to);
  copy.numbers = to;
  return copy;
}

/// Rows as float32.
LaidOut widened(Context& context, ConstNumbers rows, std::uint64_t n, std::uint64_t stride) {
  if (rows.type() == NumberType::float32) return {{}, rows};
  LaidOut copy{context.workspace().take_bytes(n * stride * sizeof(float)), {}};
  const Numbers to(copy.memory.data(), NumberType::float32);
  scale_rows(context.stream(), n, stride, stride, nullptr, rows, to);
  copy.numbers = to;
  return copy;
}

}  // namespace

void transform(Context& context, const Operand& x, const float* w, Numbers y, std::uint64_t k,
               float beta, std::uint64_t stride) {
  const std::uint64_t wide = stride == 0 ? k : stride;
  context.measured(Part::dense, [&] {
    const LaidOut weight = laid_out(context, w, y.type(), x.width, k, wide);
    if (x.sparse != nullptr)
      return x.sparse->multiply(context.stream(), weight.numbers, y, wide, wide, beta);
    with_type(y.type(), [&]<class T>(T) {
      context.dense().multiply(context.stream(), {x.rows, wide, x.width}, x.dense.as<T>(),
                               weight.numbers.as<T>(), y.as<T>(), 1.0f, beta);
    });
  });
}

void add_weight_gradient(Context& context, const Operand& x, ConstNumbers dy, float* dw,
                         std::uint64_t k, std::uint64_t stride) {
  const std::uint64_t wide = stride == 0 ? k : stride;
  context.measured(Part::dense, [&] {
    if (x.sparse != nullptr) {
      const LaidOut floats = widened(context, dy, x.rows, wide);
      return x.sparse->multiply_transposed(context.stream(), floats.numbers.as<float>(), dw, k,
                                           wide);
    }
    const exec::DenseShape shape{.m = x.width, .n = wide, .k = x.rows, .transpose_a = true};
    const bool is_apart = wide != k;
    Workspace::Taken<float> apart;
    if (is_apart) apart = context.workspace().take<float>(x.width * wide);
    float* const product = is_apart ? apart.data() : dw;
    with_type(dy.type(), [&]<class T>(T) {
      context.dense().multiply(context.stream(), shape, x.dense.as<T>(), dy.as<T>(), product, 1.0f,
                               is_apart ? 0.0f : 1.0f);
    });
    if (is_apart) add_scaled_rows(context.stream(), x.width, k, nullptr, product, wide, dw, k);
  });
}

void input_gradient(Context& context, std::uint64_t rows, ConstNumbers dy, const float* w,
                    Numbers dx, std::uint64_t width, std::uint64_t k, float beta,
                    std::uint64_t stride) {
  const std::uint64_t wide = stride == 0 ? k : stride;
  context.measured(Part::dense, [&] {
    const LaidOut weight = laid_out(context, w, dx.type(), width, k, wide);
    with_type(dx.type(), [&]<class T>(T) {
      context.dense().multiply(context.stream(),
                               {.m = rows, .n = width, .k = wide, .transpose_b = true}, dy.as<T>(),
                               weight.numbers.as<T>(), dx.as<T>(), 1.0f, beta);
    });
  });
}

}  // namespace warren::learn
