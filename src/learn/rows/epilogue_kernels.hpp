// SPDX-License-Identifier: Apache-2.0
// What follows a product, in one pass: batch norm, bias, residual, activation and dropout; and
// backward with the sums that the gradients of bias and norm are.
#pragma once

#include "warren/learn/elementwise.hpp"

#include "learn/rows/exponential.hpp"
#include "learn/rows/row_pass.hpp"

namespace warren::learn::detail {

/// f(constants of the activation and of whether elements are dropped): a loop over elements then
/// has no choice left to make.
template <class F>
WARREN_HD void with_curve(const Epilogue& e, F&& f) {
  const auto go = [&](auto activation) {
    if (e.dropout.is_on()) return f(activation, std::true_type{});
    f(activation, std::false_type{});
  };
  switch (e.activation) {
    case Activation::none:
      return go(std::integral_constant<Activation, Activation::none>{});
    case Activation::relu:
      return go(std::integral_constant<Activation, Activation::relu>{});
    case Activation::elu:
      return go(std::integral_constant<Activation, Activation::elu>{});
    case Activation::leaky_relu:
      return go(std::integral_constant<Activation, Activation::leaky_relu>{});
  }
}

/// NaN stays NaN.
template <Activation kKind>
WARREN_HD float activate(float slope, float x) {
  if constexpr (kKind == Activation::none) return x;
  if constexpr (kKind == Activation::relu) return x < 0.0f ? 0.0f : x;
  float below = slope * x;
  if constexpr (kKind == Activation::elu) below = exponential(x) - 1.0f;
  return x <= 0.0f ? below : x;
}

/// What dy is multiplied by, from the activation's result y.
template <Activation kKind>
WARREN_HD float slope_at(float slope, float y) {
  if constexpr (kKind == Activation::none) return 1.0f;
  float below = 0.0f;
  if constexpr (kKind == Activation::elu) below = y + 1.0f;
  if constexpr (kKind == Activation::leaky_relu) below = slope;
  return y > 0.0f ? 1.0f : below;
}

/// (x - mean) inverse weight, by columns; nothing where mean is nullptr.
struct ColumnNorm {
  const float* mean = nullptr;
  const float* inverse = nullptr;
  const float* weight = nullptr;
};

/// y = dropout(activation(norm(x) + bias + residual)); y may be x. The residual is the epilogue's.
template <class T>
struct EpilogueBody {
  static constexpr std::uint32_t kSums = 0;
  static constexpr std::uint32_t kInFlight = kRowsOf4<T>;
  Epilogue e;
  const T* residual;
  ColumnNorm norm;
  std::uint64_t k;
  const T* x;
  T* y;

  template <class F>
  WARREN_HD void specialised(F&& f) const;
  [[nodiscard]] std::uintptr_t addresses() const {
    return address(x) | address(y) | address(residual);
  }
};

template <class T, Activation kKind, bool kDrops, bool kIsNormed>
struct EpilogueOf {
  EpilogueBody<T> b;

  struct Row {
    std::uint64_t at, key;
  };
  template <std::uint32_t N>
  struct Column {
    Floats<N> bias, mean, scale;
  };
  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> x, residual;
  };
  WARREN_HD Row row(std::uint64_t r) const {
    return {r * b.k, kDrops ? b.e.dropout.row_key(r) : 0};
  }
  template <std::uint32_t N>
  WARREN_HD Column<N> column(std::uint64_t, std::uint64_t c) const {
    Column<N> column = {};
    if (b.e.bias != nullptr) column.bias = load_each<N>(b.e.bias + c);
    if constexpr (kIsNormed) {
      column.mean = load_each<N>(b.norm.mean + c);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i)
        column.scale.at[i] = b.norm.inverse[c + i] * b.norm.weight[c + i];
    }
    return column;
  }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(const Row& row, std::uint64_t c) const {
    Loaded<N> loaded = {};
    loaded.x = load_pack<N>(b.x + row.at + c);
    if (b.residual != nullptr) loaded.residual = load_pack<N>(b.residual + row.at + c);
    return loaded;
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row& row, const Column<N>& column, std::uint64_t c,
                     const Loaded<N>& loaded, Floats<N>*) const {
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      float value = loaded.x.get(i);
      if constexpr (kIsNormed) value = (value - column.mean.at[i]) * column.scale.at[i];
      value = activate<kKind>(b.e.slope, value + column.bias.at[i] + loaded.residual.get(i));
      if constexpr (kDrops) value *= b.e.dropout.factor(row.key, c + i);
      result.at[i] = value;
    }
    store_pack<N>(result, b.y + row.at + c);
  }
};

template <class T>
template <class F>
WARREN_HD void EpilogueBody<T>::specialised(F&& f) const {
  with_curve(e, [&](auto kind, auto drops) {
    constexpr Activation kKind = decltype(kind)::value;
    constexpr bool kDrops = decltype(drops)::value;
    EpilogueBody mine = *this;
    if constexpr (kDrops) mine.e.dropout = e.dropout.resolved();
    if (norm.mean == nullptr) return f(EpilogueOf<T, kKind, kDrops, false>{mine});
    f(EpilogueOf<T, kKind, kDrops, true>{mine});
  });
}

/// dy <- the gradient of what bias and residual were added to. One sum: its columns'; the second:
/// those of its products with the normalised x.
template <class T, std::uint32_t kSumsWanted>
struct EpilogueBackwardBody {
  static constexpr std::uint32_t kSums = kSumsWanted;
  static constexpr std::uint32_t kInFlight = kRowsOf4<T>;
  Epilogue e;
  ColumnNorm norm;
  std::uint64_t k;
  const T* x;  ///< As it came to the norm; for the second sum.
  const T* y;
  T* dy;
  const float* scale = nullptr;  ///< Of rows; with it `scaled` gets them, dy where it keeps them.
  T* scaled = nullptr;
  bool keeps_plain = true;

  template <class F>
  WARREN_HD void specialised(F&& f) const;
  [[nodiscard]] std::uintptr_t addresses() const {
    return address(x) | address(y) | address(dy) | address(scaled);
  }
};

template <class T, Activation kKind, bool kDrops, std::uint32_t kSums>
struct EpilogueBackwardOf {
  /// ReLU's result tells what was dropped, too.
  static constexpr bool kDraws = kDrops && kKind != Activation::relu;
  static constexpr bool kIsNormed = kSums == 2;
  EpilogueBackwardBody<T, kSums> b;

  struct Row {
    std::uint64_t at, key;
    float scale;
  };
  template <std::uint32_t N>
  struct Column {
    Floats<N> mean, inverse;
  };
  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> x, y, dy;
  };
  WARREN_HD Row row(std::uint64_t r) const {
    return {r * b.k, kDraws ? b.e.dropout.row_key(r) : 0, b.scale != nullptr ? b.scale[r] : 0.0f};
  }
  template <std::uint32_t N>
  WARREN_HD Column<N> column(std::uint64_t, std::uint64_t c) const {
    Column<N> column = {};
    if constexpr (kIsNormed)
      column = {load_each<N>(b.norm.mean + c), load_each<N>(b.norm.inverse + c)};
    return column;
  }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(const Row& row, std::uint64_t c) const {
    Loaded<N> loaded = {};
    loaded.dy = load_pack<N>(b.dy + row.at + c);
    if constexpr (kKind != Activation::none) loaded.y = load_pack<N>(b.y + row.at + c);
    if constexpr (kIsNormed) loaded.x = load_pack<N>(b.x + row.at + c);
    return loaded;
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row& row, const Column<N>& column, std::uint64_t c,
                     const Loaded<N>& loaded, Floats<N>* terms) const {
    const float kept = 1.0f - b.e.dropout.probability;
    const float scale = 1.0f / kept;
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      const float y = loaded.y.get(i);
      float factor = 1.0f;
      if constexpr (kKind == Activation::relu) {
        factor = y > 0.0f ? scale : 0.0f;
      } else {
        if constexpr (kDraws) factor = b.e.dropout.factor(row.key, c + i);
        factor *= slope_at<kKind>(b.e.slope, kDrops ? y * kept : y);
      }
      result.at[i] = factor * loaded.dy.get(i);
      if constexpr (kSums != 0) terms[0].at[i] = result.at[i];
      if constexpr (kIsNormed)
        terms[1].at[i] =
            result.at[i] * (loaded.x.get(i) - column.mean.at[i]) * column.inverse.at[i];
    }
    if constexpr (kKind != Activation::none || kDraws) {
      if (b.keeps_plain) store_pack<N>(result, b.dy + row.at + c);
    }
    if (b.scale == nullptr) return;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) result.at[i] *= row.scale;
    store_pack<N>(result, b.scaled + row.at + c);
  }
};

template <class T, std::uint32_t kSums>
template <class F>
WARREN_HD void EpilogueBackwardBody<T, kSums>::specialised(F&& f) const {
  with_curve(e, [&](auto kind, auto drops) {
    EpilogueBackwardBody mine = *this;
    if constexpr (decltype(drops)::value) mine.e.dropout = e.dropout.resolved();
    f(EpilogueBackwardOf<T, decltype(kind)::value, decltype(drops)::value, kSums>{mine});
  });
}

#if WARREN_HAS_CUDA
extern template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBody<float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const EpilogueBackwardBody<float, 0>&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const EpilogueBackwardBody<float, 1>&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const EpilogueBackwardBody<float, 2>&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBody<Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<Half, 0>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<Half, 1>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<Half, 2>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBody<BFloat16>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const EpilogueBackwardBody<BFloat16, 0>&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const EpilogueBackwardBody<BFloat16, 1>&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&,
                                          const EpilogueBackwardBody<BFloat16, 2>&, std::uint64_t,
                                          std::uint64_t, float*);
#endif

}  // namespace warren::learn::detail
