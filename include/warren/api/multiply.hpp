// SPDX-License-Identifier: Apache-2.0
// Products with a graph's matrix, a call each. Row v of the matrix A holds v's out-edges: A[v][u]
// is the weight of the edge (v, u), 1 where the graph has no weights.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/api/traverse.hpp"
#include "warren/sparse/matrix.hpp"

namespace warren {

struct SpmmOptions {
  /// none; row_mean: D^-1 A; symmetric: D^-1/2 A D^-1/2. Degrees are sums of a row's weights.
  sparse::Normalization::Kind normalize = sparse::Normalization::Kind::none;
  bool self_loops = false;  ///< A + I in place of A.
  bool transpose = false;   ///< A's transpose, normalised as a matrix of its own.
  bool weighted = true;     ///< false: every entry is 1, whatever weights the graph has.
  /// How rows cross between ranks ("staged", "pull", ...: sparse/distributed.hpp). "auto":
  /// measured, and remembered (sparse/tuner.hpp); of one rank nothing is to be chosen.
  std::string strategy = "auto";
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct SpmmResult {
  std::vector<float> values;  ///< n x k, row-major.
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::string strategy;
  RunInfo info;
};

/// C = A B. `b` is n x k, row-major, in host memory; so is C. Sums are float32. Repeats bit for bit
/// on one device, number of ranks and strategy other than "once". Throws UsageError for a size of
/// `b` that is not n k, k = 0, a strategy that is none, an integer weight that float32 does not
/// hold (above 2^24), and the symmetric normalisation of a negative degree; MemoryError.
[[nodiscard]] SpmmResult spmm(const Graph& graph, std::span<const float> b, std::uint64_t k,
                              const SpmmOptions& options = {});

struct SddmmOptions {
  bool weighted = true;
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct SddmmResult {
  std::vector<float> values;  ///< One an edge, in the order of the graph's targets.
  RunInfo info;
};

/// out[e] = A[v][u] <X[v], Y[u]> for every edge e = (v, u). `x` and `y` are n x k, row-major, in
/// host memory. Sums are float32; repeats bit for bit. Throws as spmm().
[[nodiscard]] SddmmResult sddmm(const Graph& graph, std::span<const float> x,
                                std::span<const float> y, std::uint64_t k,
                                const SddmmOptions& options = {});

}  // namespace warren
