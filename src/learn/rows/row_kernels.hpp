// SPDX-License-Identifier: Apache-2.0
// What layers need beside products: passes over the rows of dense matrices, and kernels that have a
// worker for each row.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/learn/elementwise.hpp"

#include "learn/rows/row_pass.hpp"

namespace warren::learn::detail {

/// Columns that a lane keeps sums of at a time.
inline constexpr std::uint32_t kTile = 8;

/// f(u, column) for the columns of a tile that are below k.
template <class W, class F>
WARREN_HD void tile_columns(const W& worker, std::uint64_t first, std::uint64_t k, F&& f) {
  const std::uint64_t lanes = worker.size();
  if (first + kTile * lanes <= k) {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kTile; ++u) f(u, first + u * lanes + worker.lane());
  } else {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kTile; ++u) {
      const std::uint64_t column = first + u * lanes + worker.lane();
      if (column < k) f(u, column);
    }
  }
}

/// A body whose rows are known by where they begin, of which columns have nothing in common.
struct PlainRows {
  std::uint64_t k;
  struct Row {
    std::uint64_t r, at;
  };
  template <std::uint32_t N>
  struct Column {};
  WARREN_HD Row row(std::uint64_t r) const { return {r, r * k}; }
  template <std::uint32_t N>
  WARREN_HD Column<N> column(std::uint64_t, std::uint64_t) const {
    return {};
  }
};

/// y = dropout(x).
template <class T>
struct DropoutBody : PlainRows {
  static constexpr std::uint32_t kSums = 0;
  static constexpr std::uint32_t kInFlight = kRowsOf4<T>;
  Dropout dropout;
  const T* x;
  T* y;

  struct Row {
    std::uint64_t at, key;
  };
  template <class F>
  WARREN_HD void specialised(F&& f) const {
    DropoutBody mine = *this;
    mine.dropout = dropout.resolved();
    f(mine);
  }
  [[nodiscard]] std::uintptr_t addresses() const { return address(x) | address(y); }
  WARREN_HD Row row(std::uint64_t r) const { return {r * k, dropout.row_key(r)}; }
  template <std::uint32_t N>
  WARREN_HD Pack<T, N> load(const Row& row, std::uint64_t c) const {
    return load_pack<N>(x + row.at + c);
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row& row, const Column<N>&, std::uint64_t c, const Pack<T, N>& loaded,
                     Floats<N>*) const {
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i)
      result.at[i] = loaded.get(i) * dropout.factor(row.key, c + i);
    store_pack<N>(result, y + row.at + c);
  }
};

struct DropoutEntriesKernel {
  Dropout dropout;
  const EdgeOffset* offsets;
  const Vertex* columns;
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t key = dropout.row_key(row);
    const EdgeOffset begin = offsets[row];
    worker.for_each(offsets[row + 1] - begin, [&](std::uint64_t i) {
      y[begin + i] = x[begin + i] * dropout.factor(key, columns[begin + i]);
    });
  }
};

/// Sums of a[r][c] b[r][c], or of a[r][c] without b.
template <class T>
struct ProductSumsBody : PlainRows {
  static constexpr std::uint32_t kSums = 1;
  static constexpr std::uint32_t kInFlight = 2 * kRowsOf4<T>;
  const T* a;
  const T* b;

  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> a, b;
  };
  template <class F>
  WARREN_HD void specialised(F&& f) const {
    f(*this);
  }
  [[nodiscard]] std::uintptr_t addresses() const { return address(a) | address(b); }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(const Row& row, std::uint64_t c) const {
    Loaded<N> loaded = {};
    loaded.a = load_pack<N>(a + row.at + c);
    if (b != nullptr) loaded.b = load_pack<N>(b + row.at + c);
    return loaded;
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row&, const Column<N>&, std::uint64_t, const Loaded<N>& loaded,
                     Floats<N>* terms) const {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i)
      terms[0].at[i] = b == nullptr ? loaded.a.get(i) : loaded.a.get(i) * loaded.b.get(i);
  }
};

/// Sums of x[r][c] scale[r][c / width] for two scales.
template <class T>
struct HeadSumsBody : PlainRows {
  static constexpr std::uint32_t kSums = 2;
  static constexpr std::uint32_t kInFlight = 4;
  std::uint64_t heads, width;
  const T* x;
  const float* first;
  const float* second;

  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> x;
    Floats<N> first, second;
  };
  template <class F>
  WARREN_HD void specialised(F&& f) const {
    f(*this);
  }
  [[nodiscard]] std::uintptr_t addresses() const { return address(x) | (k % 4 == 0 ? 0 : 1); }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(const Row& row, std::uint64_t c) const {
    Loaded<N> loaded;
    loaded.x = load_pack<N>(x + row.at + c);
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      const std::uint64_t at =
          row.r * heads + static_cast<std::uint32_t>(c + i) / static_cast<std::uint32_t>(width);
      loaded.first.at[i] = first[at];
      loaded.second.at[i] = second[at];
    }
    return loaded;
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row&, const Column<N>&, std::uint64_t, const Loaded<N>& loaded,
                     Floats<N>* terms) const {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      terms[0].at[i] = loaded.x.get(i) * loaded.first.at[i];
      terms[1].at[i] = loaded.x.get(i) * loaded.second.at[i];
    }
  }
};

/// y += (1 + *epsilon) x.
template <class T>
struct AddSelfBody : PlainRows {
  static constexpr std::uint32_t kSums = 0;
  static constexpr std::uint32_t kInFlight = kRowsOf4<T>;
  const float* epsilon;
  const T* x;
  T* y;

  template <std::uint32_t N>
  struct Column {
    float factor;
  };
  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> x, y;
  };
  template <class F>
  WARREN_HD void specialised(F&& f) const {
    f(*this);
  }
  [[nodiscard]] std::uintptr_t addresses() const { return address(x) | address(y); }
  template <std::uint32_t N>
  WARREN_HD Column<N> column(std::uint64_t, std::uint64_t) const {
    return {1.0f + (epsilon == nullptr ? 0.0f : *epsilon)};
  }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(const Row& row, std::uint64_t c) const {
    return {load_pack<N>(x + row.at + c), load_pack<N>(y + row.at + c)};
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row& row, const Column<N>& column, std::uint64_t c,
                     const Loaded<N>& loaded, Floats<N>*) const {
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i)
      result.at[i] = loaded.y.get(i) + column.factor * loaded.x.get(i);
    store_pack<N>(result, y + row.at + c);
  }
};

/// y = scale x, or y += scale x; rows of y k apart, those of x `stride`. Columns from `width` on
/// count as 0.
template <class From, class To>
struct ScaleRowsBody : PlainRows {
  static constexpr std::uint32_t kSums = 0;
  static constexpr std::uint32_t kInFlight = kRowsOf4<From>;
  std::uint64_t width, stride;
  bool is_added;
  const float* scale;
  const From* x;
  To* y;

  struct Row {
    std::uint64_t from, at;
    float factor;
  };
  template <class F>
  WARREN_HD void specialised(F&& f) const {
    f(*this);
  }
  /// Rows that end between multiples of four are read number by number.
  [[nodiscard]] std::uintptr_t addresses() const {
    return address(x) | address(y) | (width % 4 == 0 && stride % 4 == 0 ? 0 : 1);
  }
  WARREN_HD Row row(std::uint64_t r) const {
    return {r * stride, r * k, scale == nullptr ? 1.0f : scale[r]};
  }
  template <std::uint32_t N>
  struct Loaded {
    Pack<From, N> x;
    Pack<To, N> y;
  };
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(const Row& row, std::uint64_t c) const {
    Loaded<N> loaded = {};
    if (c < width) loaded.x = load_pack<N>(x + row.from + c);
    if (is_added) loaded.y = load_pack<N>(y + row.at + c);
    return loaded;
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row& row, const Column<N>&, std::uint64_t c, const Loaded<N>& loaded,
                     Floats<N>*) const {
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i)
      result.at[i] = loaded.y.get(i) + row.factor * loaded.x.get(i);
    store_pack<N>(result, y + row.at + c);
  }
};

template <class T>
struct GatherRowsKernel {
  std::uint64_t k;
  const Vertex* rows;
  const T* x;
  T* out;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const T* from = x + rows[i] * k;
    worker.for_each(k, [&](std::uint64_t c) { out[i * k + c] = from[c]; });
  }
};

struct CopyNamedKernel {
  static constexpr std::uint64_t kEach = 256;
  std::uint64_t n;
  const Vertex* from;
  const Vertex* names;
  Vertex* out;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t first = task * kEach;
    const std::uint64_t size = n - first < kEach ? n - first : kEach;
    worker.for_each(size, [&](std::uint64_t i) { out[first + i] = names[from[first + i]]; });
  }
};

struct RenumberKernel {
  std::uint64_t k;
  const Vertex* names;
  Vertex first;
  Vertex* arg;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    worker.for_each(k, [&](std::uint64_t c) {
      Vertex& at = arg[row * k + c];
      if (names == nullptr) {
        at -= first;
      } else if (at != kNoVertex) {
        at = names[at];
      }
    });
  }
};

template <class Backend, class Kernel>
void run_kernel(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::launch_wide<Backend, exec::Warp>(stream, tasks, kernel);
}

/// On the stream's device.
template <class Kernel>
void run_where(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::with_backend(stream.device(),
                     [&](auto backend) { run_kernel<decltype(backend)>(stream, tasks, kernel); });
}

/// As run_pass(), on the stream's device.
template <class Body>
void pass_where(const exec::Stream& stream, std::uint64_t n, std::uint64_t k, const Body& body,
                float* partial = nullptr) {
  exec::with_backend(stream.device(), [&](auto backend) {
    run_pass<decltype(backend)>(stream, body, n, k, partial);
  });
}

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const DropoutEntriesKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const GatherRowsKernel<std::uint32_t>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const GatherRowsKernel<std::uint16_t>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const CopyNamedKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const RenumberKernel&);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const DropoutBody<float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const ProductSumsBody<float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const HeadSumsBody<float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const AddSelfBody<float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<float, float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const DropoutBody<Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const ProductSumsBody<Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const HeadSumsBody<Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const AddSelfBody<Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<Half, Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const DropoutBody<BFloat16>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const ProductSumsBody<BFloat16>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const HeadSumsBody<BFloat16>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const AddSelfBody<BFloat16>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const ScaleRowsBody<BFloat16, BFloat16>&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<float, Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<Half, float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const ScaleRowsBody<float, BFloat16>&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const ScaleRowsBody<BFloat16, float>&, std::uint64_t,
                                          std::uint64_t, float*);
#endif

}  // namespace warren::learn::detail
