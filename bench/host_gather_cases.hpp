// SPDX-License-Identifier: Apache-2.0
// The batches of the benchmark of gathers from host memory.
#pragma once

#include <cmath>
#include <cstdint>

#include "gather_cases.hpp"

namespace warren::bench {

/// A prime above all row numbers here: ranks times it, modulo the rows, are each row once.
inline constexpr std::uint64_t kScatter = 2'654'435'761;

/// The row of a rank in the order of wanting, 0 the most wanted: they lie all over the table.
WARREN_HD inline std::uint64_t row_of_rank(std::uint64_t rank, std::uint64_t rows) {
  return rank * kScatter % rows;
}

/// indices[i]: a row, rank r with a probability of about (r + 1)^-skew, skew not 1: the integral of
/// that, inverted.
struct DrawZipf {
  std::uint64_t* indices;
  std::uint64_t rows;
  std::uint64_t seed;
  double skew;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    const double uniform = static_cast<double>(mix(seed + i) >> 11) * 0x1p-53;
    const double e = 1.0 - skew;
    const double most = std::pow(static_cast<double>(rows) + 1.0, e);
    const double place = std::pow(uniform * (most - 1.0) + 1.0, 1.0 / e) - 1.0;
    const auto rank = static_cast<std::uint64_t>(place);
    indices[i] = row_of_rank(rank < rows ? rank : rows - 1, rows);
  }
};

/// indices[i] = (first + i) mod rows.
struct CountRows {
  std::uint64_t* indices;
  std::uint64_t rows;
  std::uint64_t first;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    indices[i] = (first + i) % rows;
  }
};

template <class Backend>
void draw_zipf(const exec::Stream& stream, std::uint64_t* indices, std::uint64_t count,
               std::uint64_t rows, std::uint64_t seed, double skew) {
  exec::launch<Backend, exec::Thread>(stream, count, DrawZipf{indices, rows, seed, skew});
}
template <class Backend>
void count_rows(const exec::Stream& stream, std::uint64_t* indices, std::uint64_t count,
                std::uint64_t rows, std::uint64_t first) {
  exec::launch<Backend, exec::Thread>(stream, count, CountRows{indices, rows, first});
}

#if WARREN_HAS_CUDA
extern template void draw_zipf<exec::Cuda>(const exec::Stream&, std::uint64_t*, std::uint64_t,
                                           std::uint64_t, std::uint64_t, double);
extern template void count_rows<exec::Cuda>(const exec::Stream&, std::uint64_t*, std::uint64_t,
                                            std::uint64_t, std::uint64_t);
#endif

}  // namespace warren::bench
