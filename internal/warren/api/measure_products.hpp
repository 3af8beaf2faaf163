// SPDX-License-Identifier: Apache-2.0
// Timed products of a graph's matrix with dense ones whose elements are known: which way of moving
// rows is fast, what it moves, and whether it is right. spmm() and sddmm() multiply a caller's
// matrices. Messages name options as the command line does ("--strategy").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/graph/partition.hpp"
#include "warren/sparse/tuner.hpp"

namespace warren::api {

/// How a matrix is laid out for the ranks.
struct MatrixOptions {
  std::string method = "ranges";  ///< As PartitionOptions::method.
  std::string reorder = "none";   ///< Order before the cut: "none", or as ReorderOptions::order.
  std::uint64_t seed = 1;         ///< Of a method or an order that is drawn.
  std::optional<DeviceKind> device{};  ///< Left out: the session's.
  int devices = 0;                     ///< Ranks. 0: the session's, else one.
  std::optional<Session> session{};    ///< Left out: Session::standard().
};

/// One product, and how often it runs.
struct ProductOptions {
  std::uint64_t k = 32;          ///< Columns of the dense matrices, 1 or more.
  std::string type = "float32";  ///< Of their elements: float32, float16, bfloat16.
  /// "auto", a strategy with or without its parameters ("pull:ps=64"), or NAME:auto, whose
  /// parameters are measured (sparse/strategy_text.hpp). Of sddmm: "auto" or "staged".
  std::string strategy = "auto";
  int workgroup = 0;       ///< Ranks of a workgroup; 0: by the measured links.
  std::uint32_t slow = 1;  ///< Times that what crosses between workgroups is moved.
  bool deterministic = false;
  int repeat = 1;  ///< Timed runs, after one that warms up.
  bool verify = false;
};
/// Throws UsageError for options that are none or do not go together on so many ranks.
void check(const MatrixOptions& options);
void check(const ProductOptions& options, int ranks);

/// What a product took and gave.
struct ProductFigures {
  std::vector<double> seconds;            ///< Of each timed run, on the slowest rank.
  double plan_seconds = 0.0;              ///< Of preparation.
  double gflops = 0.0;                    ///< By the median run.
  std::uint64_t rows_moved = 0;           ///< Rows of B that came from other ranks.
  std::uint64_t rows_between = 0;         ///< Of these, between workgroups.
  std::uint64_t bytes_between_hosts = 0;  ///< As RunInfo's, of preparation and all runs.
  double sum = 0.0, sumsq = 0.0;          ///< Of the result's elements, and of their squares.
  std::uint64_t not_finite = 0;           ///< Elements of the result.
  /// Where it was verified: the largest |C - R| / (|A| |B|), R being the product in float64.
  double error = 0.0;
  double tolerance = 0.0;  ///< How large that may be for the type.
  bool is_right = true;    ///< Whether it is no larger.
  std::string strategy;
  std::string product;                        ///< The strategy with its parameters.
  std::vector<sparse::Candidate> candidates;  ///< Those that auto looked at.
  bool is_remembered = false;                 ///< They were measured by an earlier run.
};

/// Seconds that a matrix's order took.
struct OrderTimes {
  double reorder = 0.0;    ///< Finding MatrixOptions::reorder.
  double partition = 0.0;  ///< Finding the partition, its order included.
  double relabel = 0.0;    ///< Renumbering the graph by either.
  [[nodiscard]] double all() const { return reorder + partition + relabel; }
};

/// A graph's matrix, ordered and cut for a team. B[j][c] = ((7 j + 13 c) mod 17) - 8 by the graph's
/// vertex j, whatever order it is in.
class MeasuredMatrix {
 public:
  /// Takes the graph over: where the caller keeps none, one in another order takes its place. Of
  /// one that is read or drawn by ranges (Lists::ranges), and is to stay in its order, each rank
  /// has its own rows alone. Throws UsageError, MemoryError; InputError for rows of a file that are
  /// damaged.
  MeasuredMatrix(Graph graph, const MatrixOptions& options);

  [[nodiscard]] std::uint64_t vertices() const;
  [[nodiscard]] std::uint64_t edges() const;
  /// Whether each rank has its own rows alone.
  [[nodiscard]] bool is_by_ranges() const;
  [[nodiscard]] const OrderTimes& order_times() const { return times_; }
  /// Rows that a product moves by each way, counted in the whole graph; `cover` where asked for.
  [[nodiscard]] graph::PartitionQuality quality(int workgroup, bool with_cover) const;

  /// C = A B, on every rank its own rows. Throws UsageError for options out of range, MemoryError.
  [[nodiscard]] ProductFigures spmm(const ProductOptions& options) const;
  /// out[e] = A[i][j] <B[i], B[j]> for every edge e = (i, j). Throws likewise.
  [[nodiscard]] ProductFigures sddmm(const ProductOptions& options) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
  OrderTimes times_;
};

}  // namespace warren::api
