// SPDX-License-Identifier: Apache-2.0
// What bench_cpu_spmm hands to another library's product.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace warren::bench {

/// n x n, all values 1, in CSR with 32-bit offsets.
struct PlainMatrix {
  std::span<const std::int32_t> offsets;
  std::span<const std::int32_t> targets;
  std::span<const float> values;
};

/// A product of another library's: C = A B with B and C of n rows by k columns, row by row.
class Rival {
 public:
  virtual ~Rival() = default;
  virtual void multiply(const float* b, float* c, std::uint64_t k) const = 0;
};

/// Eigen's, on OpenMP threads. The arrays must outlive it.
[[nodiscard]] std::unique_ptr<Rival> make_eigen(const PlainMatrix& a, int threads);

}  // namespace warren::bench
