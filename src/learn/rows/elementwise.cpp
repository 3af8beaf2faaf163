// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/elementwise.hpp"

#include "learn/rows/epilogue_kernels.hpp"
#include "learn/rows/row_kernels.hpp"

namespace warren::learn {
namespace {

/// y = scale x, or y += scale x, for the types that x and y have.
void scale_into(const exec::Stream& stream, std::uint64_t n, std::uint64_t width,
                std::uint64_t stride, bool is_added, const float* factors, ConstNumbers x,
                Numbers y, std::uint64_t y_stride) {
  const auto go = [&]<class From, class To>(From, To) {
    detail::pass_where(stream, n, y_stride,
                       detail::ScaleRowsBody<From, To>{
                           {y_stride}, width, stride, is_added, factors, x.as<From>(), y.as<To>()});
  };
  with_type(y.type(), [&]<class To>(To) {
    if (x.type() == y.type()) return go(To{}, To{});
    if constexpr (sizeof(To) != sizeof(float)) return go(float{}, To{});
    if (x.type() == NumberType::float16) return go(Half{}, float{});
    go(BFloat16{}, float{});
  });
}

}  // namespace

void apply(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n, std::uint64_t k,
           Numbers y) {
  with_type(y.type(), [&]<class T>(T) {
    detail::pass_where(
        stream, n, k,
        detail::EpilogueBody<T>{epilogue, epilogue.residual.as<T>(), {}, k, y.as<T>(), y.as<T>()});
  });
}

void apply_backward(const exec::Stream& stream, const Epilogue& epilogue, std::uint64_t n,
                    std::uint64_t k, ConstNumbers y, Numbers dy) {
  if (epilogue.activation == Activation::none && !epilogue.dropout.is_on()) return;
  with_type(y.type(), [&]<class T>(T) {
    detail::pass_where(
        stream, n, k,
        detail::EpilogueBackwardBody<T, 0>{epilogue, {}, k, nullptr, y.as<T>(), dy.as<T>()});
  });
}

void drop(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n, std::uint64_t k,
          ConstNumbers x, Numbers y) {
  with_type(y.type(), [&]<class T>(T) {
    detail::pass_where(stream, n, k, detail::DropoutBody<T>{{k}, dropout, x.as<T>(), y.as<T>()});
  });
}

void drop_entries(const exec::Stream& stream, const Dropout& dropout, std::uint64_t n,
                  const EdgeOffset* offsets, const Vertex* columns, const float* x, float* y) {
  detail::run_where(stream, n, detail::DropoutEntriesKernel{dropout, offsets, columns, x, y});
}

float* ColumnSums::room(const exec::Stream& stream, std::uint64_t n, std::uint64_t sums,
                        std::uint64_t k) {
  const std::uint64_t size = detail::RowTiles(n).count() * sums * k;
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
            detail::RowTiles(n).count(), sums, k, partial_.data(), {first, second}});
  });
}

void ColumnSums::sum(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n) {
  with_type(terms.a.type(), [&]<class T>(T) {
    detail::pass_where(stream, n, terms.k,
                       detail::ProductSumsBody<T>{{terms.k}, terms.a.as<T>(), terms.b.as<T>()},
                       room(stream, n, 1, terms.k));
  });
}

void ColumnSums::add(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n,
                     float* out) {
  sum(stream, terms, n);
  finish(stream, n, 1, terms.k, out, nullptr);
}

void ColumnSums::add_all(const exec::Stream& stream, const ColumnTerms& terms, std::uint64_t n,
                         float* out) {
  if (n == 0 || terms.k == 0) return;
  const std::uint64_t tiles = detail::RowTiles(n).count();
  sum(stream, terms, n);
  // The tiles' rows of sums into the first of them, and that into one number.
  exec::with_backend(stream.device(), [&](auto backend) {
    float* sums = partial_.data();
    detail::run_blocks<decltype(backend)>(
        stream, terms.k,
        detail::AddPartialsKernel{tiles - 1, 1, terms.k, sums + terms.k, {sums, nullptr}});
    detail::run_blocks<decltype(backend)>(
        stream, 1, detail::AddPartialsKernel{terms.k, 1, 1, sums, {out, nullptr}});
  });
}

void ColumnSums::add_heads(const exec::Stream& stream, std::uint64_t n, std::uint64_t heads,
                           std::uint64_t width, std::uint64_t stride, ConstNumbers x,
                           const float* first, const float* second, float* first_out,
                           float* second_out) {
  const std::uint64_t k = heads * width;
  with_type(x.type(), [&]<class T>(T) {
    detail::pass_where(stream, n, k,
                       detail::HeadSumsBody<T>{{stride}, heads, width, x.as<T>(), first, second},
                       room(stream, n, 2, k));
  });
  finish(stream, n, 2, k, first_out, second_out);
}

void ColumnSums::apply_backward(const exec::Stream& stream, const Epilogue& epilogue,
                                std::uint64_t n, std::uint64_t k, ConstNumbers y, Numbers dy,
                                float* bias_gradient, const ScaledGradient& scaled) {
  with_type(dy.type(), [&]<class T>(T) {
    T* const rows = scaled.scale != nullptr ? scaled.rows.as<T>() : nullptr;
    detail::pass_where(stream, n, k,
                       detail::EpilogueBackwardBody<T, 1>{epilogue,
                                                          {},
                                                          k,
                                                          nullptr,
                                                          y.as<T>(),
                                                          dy.as<T>(),
                                                          scaled.scale,
                                                          rows,
                                                          scaled.keeps_plain},
                       room(stream, n, 1, k));
  });
  finish(stream, n, 1, k, bias_gradient, nullptr);
}

void add_self(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const float* epsilon,
              ConstNumbers x, Numbers y) {
  with_type(y.type(), [&]<class T>(T) {
    detail::pass_where(stream, n, k, detail::AddSelfBody<T>{{k}, epsilon, x.as<T>(), y.as<T>()});
  });
}

void gather_rows(const exec::Stream& stream, std::uint64_t count, std::uint64_t row_bytes,
                 const Vertex* rows, const void* x, void* out) {
  const auto go = [&]<class T>(T) {
    detail::run_where(stream, count,
                      detail::GatherRowsKernel<T>{row_bytes / sizeof(T), rows,
                                                  static_cast<const T*>(x), static_cast<T*>(out)});
  };
  if (row_bytes % sizeof(std::uint32_t) == 0) return go(std::uint32_t{});
  go(std::uint16_t{});
}

void scale_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, std::uint64_t stride,
                const float* scale, ConstNumbers x, Numbers out) {
  scale_into(stream, n, k, k, false, scale, x, out, stride);
}

void add_scaled_rows(const exec::Stream& stream, std::uint64_t n, std::uint64_t k,
                     const float* scale, ConstNumbers x, std::uint64_t x_stride, Numbers y,
                     std::uint64_t y_stride) {
  scale_into(stream, n, k, x_stride, true, scale, x, y, y_stride);
}

void copy_named(const exec::Stream& stream, std::uint64_t n, const Vertex* from,
                const Vertex* names, Vertex* out) {
  constexpr std::uint64_t kEach = detail::CopyNamedKernel::kEach;
  detail::run_where(stream, (n + kEach - 1) / kEach, detail::CopyNamedKernel{n, from, names, out});
}

void renumber(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const Vertex* names,
              Vertex first, Vertex* arg) {
  detail::run_where(stream, n, detail::RenumberKernel{k, names, first, arg});
}

}  // namespace warren::learn
