// SPDX-License-Identifier: Apache-2.0
// The matrix of a sparse product: a graph, reordered, cut over the ranks, and its dense operand.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "warren/core/trace.hpp"
#include "warren/exec/half.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/sparse/tuner.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "session.hpp"

namespace warren::app {

/// What spmm and sddmm take.
struct SparseOptions {
  CommonOptions common;
  GraphOptions graph;
  std::uint64_t k = 32;
  std::string type = "float32";
  std::string strategy = "auto";
  std::string method = "ranges";
  std::string reorder = "none";
  int workgroup = 0;
  std::uint32_t slow = 1;  ///< Times that what crosses between workgroups is moved.
  bool verify = false;
  bool explain = false;
};
void add_sparse_options(CLI::App& command, SparseOptions& options);
/// Of spmm alone.
void add_strategy_options(CLI::App& command, SparseOptions& options);
void add_slow_option(CLI::App& command, SparseOptions& options);
/// Throws UsageError for a value that is none.
void check_sparse_options(const SparseOptions& options);

/// Elements of B depend on what is left of row and column when divided by this.
inline constexpr std::uint64_t kDensePeriod = 17;
/// B[j][c] by the input's vertex j.
[[nodiscard]] inline float dense_element(std::uint64_t j, std::uint64_t c) {
  constexpr std::uint64_t n = kDensePeriod;
  return static_cast<float>(static_cast<std::int64_t>((7 * (j % n) + 13 * (c % n)) % n) - 8);
}

/// Seconds that a graph's order took.
struct OrderTimes {
  double reorder = 0.0;    ///< Making the order of --reorder.
  double partition = 0.0;  ///< Making --method's partition, its order included.
  double relabel = 0.0;    ///< Renumbering the graph by either.

  [[nodiscard]] double all() const { return reorder + partition + relabel; }
};

class SparseInput {
 public:
  /// Reads the graph, orders and cuts it. Its values count where the file is a matrix (.mtx, .npz,
  /// .wgr) or --weights asks for them; otherwise A is the pattern.
  SparseInput(Session& session, const SparseOptions& options);

  /// In the ranks' order.
  [[nodiscard]] const graph::Graph& graph() const { return *source_.out; }
  [[nodiscard]] graph::Shard shard(team::Team& team) const {
    return graph::make_shard(team, source_);
  }
  [[nodiscard]] std::uint64_t first(int rank) const {
    return source_.cuts[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::uint64_t count(int rank) const { return first(rank + 1) - first(rank); }
  /// The input's vertex that the ranks call v.
  [[nodiscard]] Vertex to_user(Vertex v) const { return partition_.to_old(v); }
  [[nodiscard]] const OrderTimes& order_times() const { return order_times_; }
  /// Rows that a product moves by each way, counted in the graph; `cover` where asked for.
  [[nodiscard]] graph::PartitionQuality quality(exec::ThreadPool& pool, int workgroup,
                                                bool with_cover) const;

  /// Fills the rank's rows of B.
  template <class T>
  void fill(const exec::Stream& stream, int rank, std::uint64_t k, memory::Buffer<T>& rows) const {
    const std::uint64_t begin = first(rank);
    const std::uint64_t n = count(rank);
    const std::uint64_t piece = std::max<std::uint64_t>(1, (std::uint64_t{1} << 22) / k);
    constexpr std::uint64_t kRowsAtOnce = 1024;
    std::vector<T> part;
    for (std::uint64_t r = 0; r < n; r += piece) {
      const std::uint64_t end = std::min(n, r + piece);
      part.resize((end - r) * k);
      const auto fill_rows = [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t i = from; i < to; ++i) {
          const std::uint64_t j = to_user(static_cast<Vertex>(begin + i));
          for (std::uint64_t c = 0; c < k; ++c)
            part[(i - r) * k + c] = from_float<T>(dense_element(j, c));
        }
      };
      stream.device().pool().parallel_for(r, end, kRowsAtOnce, fill_rows);
      rows.upload(stream, part, r * k);
      stream.synchronize();
    }
  }

 private:
  graph::Partition partition_;
  graph::ShardSource source_;
  OrderTimes order_times_;
};

/// Calls f(T{}) with the storage type of the name.
template <class F>
decltype(auto) with_element(const std::string& type, F&& f) {
  if (type == "float16") return f(Half{});
  if (type == "bfloat16") return f(BFloat16{});
  return f(float{});
}

/// How far a result of a type may be from the reference, in units of |A||B|.
[[nodiscard]] double sparse_tolerance(const std::string& type, int ranks);

/// What the ranks find together, filled by rank 0.
struct SparseOutcome {
  std::vector<double> seconds;
  double plan_seconds = 0.0;
  std::uint64_t rows_moved = 0;
  std::uint64_t rows_between = 0;  ///< Of these, between workgroups.
  double sum = 0.0, sumsq = 0.0;
  std::uint64_t not_finite = 0;  ///< Elements of the result.
  double error = 0.0;
  std::string strategy;
  std::string product;                        ///< The strategy with its parameters.
  std::vector<sparse::Candidate> candidates;  ///< Of auto.
  bool is_remembered = false;                 ///< They were measured by an earlier run.
};
/// Runs and times the product on the session's team.
[[nodiscard]] SparseOutcome measure_spmm(const Session& session, const SparseOptions& options,
                                         const SparseInput& input);
/// Seconds of preparation as a multiple of one product's; null where that took no measurable time.
[[nodiscard]] Json in_products(double seconds, double product_seconds);
/// What making and applying the order took, in seconds and as a multiple of one product.
void describe_order(Json& json, const OrderTimes& times, double product_seconds);
/// JSON, text and exit status of a product of `work` operations.
[[nodiscard]] ExitStatus report_sparse(Session& session, const SparseOptions& options,
                                       const SparseInput& input, const SparseOutcome& outcome);

/// The largest of the ranks' values; NaN wins.
[[nodiscard]] double largest(team::Team& team, double value);

/// Sums over all ranks' results, the same for any number of threads, and how many elements are no
/// finite numbers. Collective.
template <class T>
void add_up(team::Team& team, const std::vector<T>& result, SparseOutcome& mine) {
  constexpr std::uint64_t kPiece = 1 << 20;
  std::vector<SparseOutcome> pieces(result.size() / kPiece + 1);
  const auto add_piece = [&](std::uint64_t begin, std::uint64_t end) {
    SparseOutcome& piece = pieces[begin / kPiece];
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(to_float(result[i]));
      piece.sum += value;
      piece.sumsq += value * value;
      if (!std::isfinite(value)) ++piece.not_finite;
    }
  };
  team.device().pool().parallel_for(0, result.size(), kPiece, add_piece);
  for (const SparseOutcome& piece : pieces) {
    mine.sum += piece.sum;
    mine.sumsq += piece.sumsq;
    mine.not_finite += piece.not_finite;
  }
  mine.sum = team.all_reduce(mine.sum, std::plus<>());
  mine.sumsq = team.all_reduce(mine.sumsq, std::plus<>());
  mine.not_finite = team.all_reduce(mine.not_finite, std::plus<>());
}
/// Says so where elements of the result are no finite numbers: the type holds no larger ones.
void warn_of_overflow(const SparseOptions& options, const SparseOutcome& outcome);

/// Seconds of work() on the slowest rank: once to warm up, then `repeat` times.
template <class Work>
[[nodiscard]] std::vector<double> timed_runs(team::Team& team, int repeat, const char* name,
                                             Work&& work) {
  std::vector<double> seconds;
  for (int run = 0; run <= repeat; ++run) {
    team.barrier();
    const double begin = now_seconds();
    work();
    const double end = now_seconds();
    trace_span(name, team.rank(), begin, end);
    if (run > 0) seconds.push_back(end - begin);
  }
  for (double& time : seconds) time = largest(team, time);
  return seconds;
}

}  // namespace warren::app
