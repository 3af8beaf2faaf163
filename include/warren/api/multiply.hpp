// SPDX-License-Identifier: Apache-2.0
// Products with a graph's matrix, a call each. Row v of the matrix A holds v's out-edges: A[v][u]
// is the weight of the edge (v, u), 1 where the graph has no weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warren/api/array.hpp"
#include "warren/api/array_view.hpp"
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
  Array<float> values;  ///< n x k, row-major: on a GPU where `b` was on one, else in host memory.
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::string strategy;
  RunInfo info;
};

/// C = A B. `b` is n x k, row-major, in host memory or on a GPU. A call of one rank on GPUs runs on
/// that of `b`, reads it there, and writes C there; of several ranks each copies its rows of `b`,
/// and C is on the first one's. Sums are float32. Repeats bit for bit on one device, number of
/// ranks and strategy other than "once". Throws UsageError for a size of `b` that is not n k, k =
/// 0, a strategy that is none, an integer weight that float32 does not hold (above 2^24), and the
/// symmetric normalisation of a negative degree; MemoryError.
[[nodiscard]] SpmmResult spmm(const Graph& graph, const ArrayView<float>& b, std::uint64_t k,
                              const SpmmOptions& options = {});

struct SddmmOptions {
  bool weighted = true;
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct SddmmResult {
  /// One an edge, in the order of the graph's targets: where `x` is after a call of one rank, else
  /// in host memory.
  Array<float> values;
  RunInfo info;
};

/// out[e] = A[v][u] <X[v], Y[u]> for every edge e = (v, u). `x` and `y` are n x k, row-major, in
/// host memory or on a GPU, where a call of one rank reads them. Sums are float32; repeats bit for
/// bit. Throws as spmm().
[[nodiscard]] SddmmResult sddmm(const Graph& graph, const ArrayView<float>& x,
                                const ArrayView<float>& y, std::uint64_t k,
                                const SddmmOptions& options = {});

}  // namespace warren
