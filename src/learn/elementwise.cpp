// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/elementwise.hpp"

#include "learn/epilogue_kernels.hpp"
#include "learn/row_kernels.hpp"

namespace warren::learn {
namespace {

template <class Kernel>
void run(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_kernel<decltype(backend)>(stream, tasks, kernel);
  });
}

template <class Body>
void pass(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const Body& body,
          float* partial = nullptr) {
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_pass<decltype(backend)>(stream, body, n, k, partial);
  });
}

}  // namespace

void apply(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n, std::uint64_t k,
           float* y) {
  pass(stream, n, k, detail::EpilogueBody{epilogue, {}, k, y, y});
}

void apply_backward(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n,
                    std::uint64_t k, const float* y, float* dy) {
  if (epilogue.activation == Activation::none && !epilogue.dropout.is_on()) return;
  pass(stream, n, k, detail::EpilogueBackwardBody<0>{epilogue, {}, k, nullptr, y, dy});
}

void drop(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n, std::uint64_t k,
          const float* x, float* y) {
  pass(stream, n, k, detail::DropoutBody{{k}, dropout, x, y});
}

void drop_entries(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n,
                  const EdgeOffset* offsets, const Vertex* columns, const float* x, float* y) {
  run(stream, n, detail::DropoutEntriesKernel{dropout, offsets, columns, x, y});
}

float* ColumnSums::room(const exec::Stream& stream, std::uint64_t n, std::uint64_t sums,
                        std::uint64_t k) {
  const std::uint64_t size = detail::Slabs(n).count() * sums * k;
  if (partial_.size() < size) {
    partial_.reset();
    partial_ = memory::Buffer<float>(stream.device(), size);
  }
  return partial_.data();
}

void ColumnSums::finish(const exec::Stream& stream, std::uint64_t n, std::uint64_t sums,
                        std::uint64_t k, float* first, float* second) {
  if (n == 0) return;
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_blocks<decltype(backend)>(
        stream, sums * k,
        detail::AddPartialsKernel{
            detail::Slabs(n).count(), sums, k, partial_.data(), {first, second}});
  });
}

void ColumnSums::add(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n,
                     float* out) {
  pass(stream, n, terms.k, detail::ProductSumsBody{{terms.k}, terms.a, terms.b},
       room(stream, n, 1, terms.k));
  finish(stream, n, 1, terms.k, out, nullptr);
}

void ColumnSums::add_all(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n,
                         float* out) {
  if (n == 0 || terms.k == 0) return;
  const std::uint64_t slabs = detail::Slabs(n).count();
  pass(stream, n, terms.k, detail::ProductSumsBody{{terms.k}, terms.a, terms.b},
       room(stream, n, 1, terms.k));
  // The slabs' rows of sums into the first of them, and that into one number.
  exec::with_backend(stream.device(), [&](auto backend) {
    float* sums = partial_.data();
    detail::run_blocks<decltype(backend)>(
        stream, terms.k,
        detail::AddPartialsKernel{slabs - 1, 1, terms.k, sums + terms.k, {sums, nullptr}});
    detail::run_blocks<decltype(backend)>(
        stream, 1, detail::AddPartialsKernel{terms.k, 1, 1, sums, {out, nullptr}});
  });
}

void ColumnSums::add_heads(const exec::Stream& stream, std::uint64_t n, std::uint64_t heads,
                           std::uint64_t width, std::uint64_t stride, const float* x,
                           const float* first, const float* second, float* first_out,
                           float* second_out) {
  const std::uint64_t k = heads * width;
  pass(stream, n, k, detail::HeadSumsBody{{stride}, heads, width, x, first, second},
       room(stream, n, 2, k));
  finish(stream, n, 2, k, first_out, second_out);
}

void ColumnSums::apply_backward(const exec::Stream& stream, const Epilogue& epilogue,
                                std::uint64_t n, std::uint64_t k, const float* y, float* dy,
                                float* bias_gradient) {
  pass(stream, n, k, detail::EpilogueBackwardBody<1>{epilogue, {}, k, nullptr, y, dy},
       room(stream, n, 1, k));
  finish(stream, n, 1, k, bias_gradient, nullptr);
}

void add_self(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const float* epsilon,
              const float* x, float* y) {
  pass(stream, n, k, detail::AddSelfBody{{k}, epsilon, x, y});
}

void gather_rows(const exec::Stream& stream, std::uint64_t count, std::uint64_t k,
                 const Vertex* rows, const float* x, float* out) {
  run(stream, count, detail::GatherRowsKernel{k, rows, x, out});
}

void scale_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, std::uint64_t stride,
                const float* scale, const float* x, float* out) {
  pass(stream, n, stride, detail::ScaleRowsBody{{stride}, k, k, false, scale, x, out});
}

void add_scaled_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k,
                     const float* scale, const float* x, std::uint64_t x_stride, float* y,
                     std::uint64_t y_stride) {
  pass(stream, n, y_stride, detail::ScaleRowsBody{{y_stride}, k, x_stride, true, scale, x, y});
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
