// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/elementwise.hpp"

#include "learn/row_kernels.hpp"

namespace warren::learn {
namespace {

template <class Kernel>
void run(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_kernel<decltype(backend)>(stream, tasks, kernel);
  });
}

}  // namespace

void apply(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n, std::uint64_t k,
           float* y) {
  run(stream, n, detail::EpilogueKernel{epilogue, k, y});
}

void apply_backward(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n,
                    std::uint64_t k, const float* y, float* dy) {
  if (epilogue.activation == Activation::none && !epilogue.dropout.is_on()) return;
  run(stream, n, detail::EpilogueBackwardKernel{epilogue, k, y, dy});
}

void drop(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n, std::uint64_t k,
          const float* x, float* y) {
  run(stream, n, detail::DropoutKernel{dropout, k, x, y});
}

void drop_entries(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n,
                  const EdgeOffset* offsets, const Vertex* columns, const float* x, float* y) {
  run(stream, n, detail::DropoutEntriesKernel{dropout, offsets, columns, x, y});
}

void ColumnSums::add(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n,
                     float* out, bool is_one_sum) {
  constexpr std::uint64_t kChunk = detail::ColumnSumsKernel::kChunk;
  const std::uint64_t chunks = (n + kChunk - 1) / kChunk;
  if (chunks == 0 || terms.k == 0) return;
  if (partial_.size() < chunks * terms.k) {
    partial_.reset();
    partial_ = memory::Buffer<float>(stream.device(), chunks * terms.k);
  }
  run(stream, chunks, detail::ColumnSumsKernel{terms, n, partial_.data()});
  run(stream, is_one_sum ? 1 : terms.k,
      detail::AddPartialsKernel{chunks, terms.k, partial_.data(), out, is_one_sum});
}

void ColumnSums::add(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n,
                     float* out) {
  add(stream, terms, n, out, false);
}

void ColumnSums::add_all(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n,
                         float* out) {
  add(stream, terms, n, out, true);
}

void head_dots(const exec::Stream& stream, std::uint64_t n, std::uint64_t heads,
               std::uint64_t width, const float* a, const float* b, bool b_is_one_row, float* out,
               std::uint64_t stride) {
  run(stream, n, detail::HeadDotsKernel{heads, width, a, b, b_is_one_row, out, stride});
}

void add_self(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const float* epsilon,
              const float* x, float* y) {
  run(stream, n, detail::AddSelfKernel{k, epsilon, x, y});
}

void gather_rows(const exec::Stream& stream, std::uint64_t count, std::uint64_t k,
                 const Vertex* rows, const float* x, float* out) {
  run(stream, count, detail::GatherRowsKernel{k, rows, x, out});
}

void scale_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, std::uint64_t stride,
                const float* scale, const float* x, float* out) {
  run(stream, n, detail::ScaleRowsKernel{k, stride, scale, x, out});
}

void add_scaled_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k,
                     const float* scale, const float* x, float* y) {
  run(stream, n, detail::AddScaledRowsKernel{k, scale, x, y});
}

void copy_named(const exec::Stream& stream, std::uint64_t n, const Vertex* from,
                const Vertex* names, Vertex* out) {
  constexpr std::uint64_t kEach = detail::CopyNamedKernel::kEach;
  run(stream, (n + kEach - 1) / kEach, detail::CopyNamedKernel{n, from, names, out});
}

void renumber(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const Vertex* names,
              Vertex first, Vertex* arg) {
  run(stream, n, detail::RenumberKernel{k, names, first, arg});
}

}  // namespace warren::learn
