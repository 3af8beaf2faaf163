// SPDX-License-Identifier: Apache-2.0
// Every rank fills its rows of the dense matrix, which a formula gives by the graph's own vertices,
// multiplies them again and again, and compares its part of the result with sums in float64.
#include "warren/api/measure_products.hpp"

#include <functional>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/shard.hpp"
#include "warren/graph/transform.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/sparse/sddmm.hpp"
#include "warren/sparse/spmm.hpp"
#include "warren/sparse/strategy_text.hpp"

#include "api/measured.hpp"
#include "api/own_shard.hpp"

namespace warren::api {

struct MeasuredMatrix::State {
  SessionRanks team;
  graph::Partition partition;
  graph::ShardSource source;  ///< In the ranks' order; of own rows nothing but the cuts.
  /// Where this process' rank has its own rows alone: these, and what they are of.
  std::optional<graph::Shard> own = std::nullopt;
  std::optional<Graph> of_own = std::nullopt;

  [[nodiscard]] const graph::Graph& graph() const { return own ? of_own->csr() : *source.out; }
  [[nodiscard]] std::uint64_t edges() const { return own ? own->edges : source.out->edges(); }
  [[nodiscard]] graph::Shard shard(team::Team& ranks) const {
    return own ? *own : graph::make_shard(ranks, source);
  }
  /// The graph's vertex that the ranks call v.
  [[nodiscard]] std::uint64_t to_user(std::uint64_t v) const {
    return partition.to_old(static_cast<Vertex>(v));
  }
};

namespace {

constexpr std::uint64_t kMostTimes = 1000;
/// Elements of B depend on what is left of row and column when divided by this.
constexpr std::uint64_t kPeriod = 17;

/// B[j][c] by the graph's vertex j.
float dense_element(std::uint64_t j, std::uint64_t c) {
  return static_cast<float>(
      static_cast<std::int64_t>((7 * (j % kPeriod) + 13 * (c % kPeriod)) % kPeriod) - 8);
}

/// The worst of find_error(row) over `rows` rows, with the pool's threads.
double worst_row(exec::ThreadPool& pool, std::uint64_t rows,
                 const std::function<double(std::uint64_t)>& find_error) {
  constexpr std::uint64_t kRowsAtOnce = 64;
  std::mutex mutex;
  double worst = 0.0;
  pool.parallel_for(0, rows, kRowsAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
    double mine = 0.0;
    for (std::uint64_t r = begin; r < end; ++r) keep_worst(mine, find_error(r));
    const std::scoped_lock lock(mutex);
    keep_worst(worst, mine);
  });
  return worst;
}

/// Sums over all ranks' results, the same for any number of threads, and how many elements are no
/// finite numbers. Collective.
template <class T>
void add_up(team::Team& team, const std::vector<T>& result, ProductFigures& mine) {
  constexpr std::uint64_t kPiece = 1 << 20;
  std::vector<ProductFigures> pieces(result.size() / kPiece + 1);
  const auto add_piece = [&](std::uint64_t begin, std::uint64_t end) {
    ProductFigures& piece = pieces[begin / kPiece];
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(to_float(result[i]));
      piece.sum += value;
      piece.sumsq += value * value;
      if (!std::isfinite(value)) ++piece.not_finite;
    }
  };
  team.device().pool().parallel_for(0, result.size(), kPiece, add_piece);
  for (const ProductFigures& piece : pieces) {
    mine.sum += piece.sum;
    mine.sumsq += piece.sumsq;
    mine.not_finite += piece.not_finite;
  }
  mine.sum = team.all_reduce(mine.sum, std::plus<>());
  mine.sumsq = team.all_reduce(mine.sumsq, std::plus<>());
  mine.not_finite = team.all_reduce(mine.not_finite, std::plus<>());
}

/// One rank's part, whichever product it is of.
template <class T, class State>
class ProductRank {
 public:
  ProductRank(const ProductOptions& options, const State& matrix, team::Team& team)
      : options_(options),
        matrix_(matrix),
        team_(team),
        stream_(team.device()),
        shard_(matrix.shard(team)),
        b_(team, shard_.cuts, options.k, memory::Placement::device, memory::Reach::moved) {
    fill();
  }

  [[nodiscard]] ProductFigures spmm() {
    memory::Buffer<T> c(team_.device(), exec::bytes_of(shard_.out.count, options_.k));
    ProductFigures mine;
    if (team_.size() == 1 && options_.strategy == "auto") {
      multiply_alone(c, mine);
    } else {
      multiply_together(c, mine);
    }
    const std::vector<T> result = c.to_host(stream_);
    add_up(team_, result, mine);
    if (options_.verify) mine.error = largest(team_, spmm_error(result));
    return mine;
  }

  [[nodiscard]] ProductFigures sddmm() {
    ProductFigures mine;
    const double begin = now_seconds();
    const sparse::Rows rows = sparse::make_rows(team_, shard_);
    sparse::DistributedSddmm<T> product(team_, rows, options_.k);
    mine.plan_seconds = largest(team_, now_seconds() - begin);
    mine.seconds = timed_repeatedly(team_, options_.repeat, "sddmm",
                                    [&] { product.run(b_.local_data(), b_); });
    mine.rows_moved = product.rows_moved();
    mine.strategy = team_.size() == 1 && options_.strategy == "auto" ? "local" : "staged";
    const std::vector<float> result = product.result();
    add_up(team_, result, mine);
    if (options_.verify) mine.error = largest(team_, sddmm_error(result, rows));
    return mine;
  }

 private:
  /// The rank's rows of B.
  void fill() {
    constexpr std::uint64_t kRowsAtOnce = 1024, kElementsAtOnce = std::uint64_t{1} << 22;
    const std::uint64_t k = options_.k;
    const std::uint64_t first = shard_.out.first, n = shard_.out.count;
    const std::uint64_t piece = std::max<std::uint64_t>(1, kElementsAtOnce / k);
    std::vector<T> part;
    for (std::uint64_t r = 0; r < n; r += piece) {
      const std::uint64_t end = std::min(n, r + piece);
      part.resize((end - r) * k);
      const auto fill_rows = [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t i = from; i < to; ++i) {
          const std::uint64_t j = matrix_.to_user(first + i);
          for (std::uint64_t c = 0; c < k; ++c)
            part[(i - r) * k + c] = from_float<T>(dense_element(j, c));
        }
      };
      team_.device().pool().parallel_for(r, end, kRowsAtOnce, fill_rows);
      b_.buffer().upload(stream_, part, r * k);
      stream_.synchronize();
    }
  }

  void multiply_alone(memory::Buffer<T>& c, ProductFigures& mine) {
    const double begin = now_seconds();
    const sparse::Matrix matrix(stream_, matrix_.graph());
    const double placed = now_seconds();
    const sparse::SpmmPlan plan(stream_, matrix.offsets());
    mine.plan_seconds = now_seconds() - placed;
    trace_span("place matrix", 0, begin, placed);
    const std::uint64_t k = options_.k;
    mine.seconds = timed_repeatedly(team_, options_.repeat, "spmm", [&] {
      sparse::spmm(stream_, matrix.view(), plan, sparse::RowTable<T>(b_.local_data(), k), c.data(),
                   k, k);
      stream_.synchronize();
    });
    mine.strategy = mine.product = "local";
  }

  void multiply_together(memory::Buffer<T>& c, ProductFigures& mine) {
    double begin = now_seconds();
    const sparse::Rows rows = sparse::make_rows(team_, shard_);
    sparse::DistributedOptions chosen;
    if (!sparse::is_tuned(options_.strategy)) {
      chosen = sparse::parse_product(options_.strategy);
    } else if (!options_.deterministic) {
      // The choice follows measured times, and the last bits of the result the choice.
      sparse::TuneOptions tune;
      tune.workgroup = options_.workgroup;
      tune.strategy = sparse::tuned_strategy(options_.strategy);
      tune.table = sparse::plan_table_path();
      const sparse::Tuning tuning = sparse::tune<T>(team_, rows, b_, c.data(), tune);
      chosen = tuning.best;
      mine.candidates = tuning.candidates;
      mine.is_remembered = tuning.is_remembered;
      begin = now_seconds();
    }
    if (options_.workgroup != 0) {
      chosen.workgroup = options_.workgroup;
    } else if (sparse::strategy_name(options_.strategy) == "fused" && team_.size() > 1) {
      chosen.workgroup = sparse::workgroup_of(team::known_links(team_));
    }
    chosen.deterministic = options_.deterministic;
    chosen.slow_between = options_.slow;
    sparse::DistributedSpmm<T> product(team_, rows, options_.k, chosen);
    mine.plan_seconds = largest(team_, now_seconds() - begin);
    // Apart from the timed runs, whose kernels do not count.
    product.run_counted(b_, c.data());
    mine.seconds =
        timed_repeatedly(team_, options_.repeat, "spmm", [&] { product.run(b_, c.data()); });
    mine.rows_moved = product.rows_moved();
    mine.rows_between = product.rows_between();
    mine.strategy = sparse::name_of(chosen.strategy);
    mine.product = sparse::product_text(chosen);
  }

  /// Of the rank's rows, each by the sums of the weights of rows of B that are alike.
  [[nodiscard]] double spmm_error(const std::vector<T>& result) const {
    const sparse::Rows rows = sparse::make_rows(team_, shard_);
    return worst_row(team_.device().pool(), rows.count, [&](std::uint64_t r) {
      double weight_of[kPeriod] = {}, size_of[kPeriod] = {};
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
        const auto weight = static_cast<double>(rows.value(e));
        const std::uint64_t alike = matrix_.to_user(rows.columns[e]) % kPeriod;
        weight_of[alike] += weight;
        size_of[alike] += std::abs(weight);
      }
      double sum[kPeriod] = {}, size[kPeriod] = {};
      for (std::uint64_t j = 0; j < kPeriod; ++j) {
        for (std::uint64_t c = 0; c < kPeriod; ++c) {
          const auto element = static_cast<double>(dense_element(j, c));
          sum[c] += weight_of[j] * element;
          size[c] += size_of[j] * std::abs(element);
        }
      }
      double worst = 0.0;
      for (std::uint64_t c = 0; c < options_.k; ++c)
        keep_worst(worst, static_cast<double>(to_float(result[r * options_.k + c])),
                   sum[c % kPeriod], size[c % kPeriod]);
      return worst;
    });
  }

  [[nodiscard]] double sddmm_error(const std::vector<float>& result,
                                   const sparse::Rows& rows) const {
    return worst_row(team_.device().pool(), rows.count, [&](std::uint64_t r) {
      const std::uint64_t i = matrix_.to_user(rows.first + r);
      double worst = 0.0;
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
        const std::uint64_t j = matrix_.to_user(rows.columns[e]);
        double sum = 0.0, size = 0.0;
        for (std::uint64_t c = 0; c < options_.k; ++c) {
          const double term = static_cast<double>(dense_element(i, c)) *
                              static_cast<double>(dense_element(j, c)) *
                              static_cast<double>(rows.value(e));
          sum += term;
          size += std::abs(term);
        }
        keep_worst(worst, static_cast<double>(result[e]), sum, size);
      }
      return worst;
    });
  }

  const ProductOptions& options_;
  const State& matrix_;
  team::Team& team_;
  exec::Stream stream_;
  const graph::Shard shard_;
  memory::GlobalArray<T> b_;
};

/// The graph by new ids; adds the seconds to `seconds`.
graph::Graph relabelled(const graph::Graph& graph, std::span<const Vertex> new_id,
                        exec::ThreadPool& pool, double& seconds) {
  const double begin = now_seconds();
  graph::Graph result = graph::relabel(graph, new_id, pool);
  seconds += now_seconds() - begin;
  return result;
}

/// Runs `work(ProductRank)` on every rank; what rank 0's returns.
template <class State, class Work>
ProductFigures measure(const State& matrix, const ProductOptions& options, Work&& work) {
  const int ranks = matrix.team.place.ranks;
  ProductFigures figures;
  with_element(options.type, [&](auto element) {
    const std::uint64_t bytes = matrix.team.run([&](team::Team& team) {
      ProductRank<decltype(element), State> rank(options, matrix, team);
      ProductFigures mine = work(rank);
      if (team.reports()) figures = std::move(mine);
    });
    figures.bytes_between_hosts = bytes;
  });
  const double operations =
      2.0 * static_cast<double>(matrix.edges()) * static_cast<double>(options.k);
  figures.gflops = rate(operations, median(figures.seconds)) / 1e9;
  figures.tolerance = sum_tolerance(options.type, ranks);
  figures.is_right = figures.error <= figures.tolerance;
  return figures;
}

}  // namespace

void check(const MatrixOptions& options) {
  check_method(options.method);
  check_choice("--reorder", options.reorder, {"none", "rabbit", "degree", "random"});
}

void check(const ProductOptions& options, int ranks) {
  check_choice("--type", options.type, {"float32", "float16", "bfloat16"});
  check_choice(
      "--strategy", sparse::strategy_name(options.strategy),
      {"auto", "broadcast", "broadcast-pipelined", "pull", "once", "staged", "fused", "cover"});
  if (!sparse::is_tuned(options.strategy)) (void)sparse::parse_product(options.strategy);
  require(
      options.strategy == "auto" || !sparse::is_tuned(options.strategy) || !options.deterministic,
      "--deterministic takes no parameters that were measured: leave :auto out of --strategy");
  require(options.slow == 1 || (options.workgroup != 0 && !sparse::is_tuned(options.strategy)),
          "--slow slows the links between workgroups for one strategy: it needs --workgroup N and "
          "--strategy NAME");
  require(options.slow >= 1 && options.slow <= kMostTimes,
          fmt::format("--slow {}: expected 1 to {}", options.slow, kMostTimes));
  require(options.k >= 1, "--k 0: expected one column or more");
  check_repeat(options.repeat);
  if (options.workgroup != 0) graph::check_workgroup(options.workgroup, ranks);
}

MeasuredMatrix::MeasuredMatrix(Graph graph, const MatrixOptions& options) {
  check(options);
  auto state = std::make_shared<State>(
      State{SessionRanks(options.session, options.device, options.devices, true), {}, {}});
  if (graph.state()->is_by_ranges() && options.reorder == "none" && are_in_ranges(options.method)) {
    const TraceSpan span("cut", 0);
    const double begin = now_seconds();
    (void)state->team.run(
        [&](team::Team& team) { state->own = own_shard(team, *graph.state(), {}, false); });
    times_.partition = now_seconds() - begin;
    state->partition.cuts = state->source.cuts = state->own->cuts;
    state->of_own = std::move(graph);
    state_ = std::move(state);
    return;
  }
  graph::Graph arrays = graph.csr();
  graph = Graph(graph::Graph{});  // One order at a time is in memory.
  state->team.teams->on_host([&](exec::ThreadPool& pool) {
    const TraceSpan span("order and cut", 0);
    double begin = now_seconds();
    const auto order = graph::make_order(arrays, options.reorder, options.seed, pool);
    times_.reorder = now_seconds() - begin;
    if (!order.empty()) arrays = relabelled(arrays, order.span(), pool, times_.relabel);
    begin = now_seconds();
    const graph::Partition cut =
        graph::make_partition(arrays, options.method, state->team.place.ranks, options.seed);
    times_.partition = now_seconds() - begin;
    if (!cut.identity()) arrays = relabelled(arrays, cut.new_id.span(), pool, times_.relabel);
    state->partition = graph::after_order(order, cut);
  });
  state->source.out = std::make_shared<const graph::Graph>(std::move(arrays));
  state->source.cuts = state->partition.cuts;
  state_ = std::move(state);
}

std::uint64_t MeasuredMatrix::vertices() const { return state_->source.cuts.back(); }
std::uint64_t MeasuredMatrix::edges() const { return state_->edges(); }
bool MeasuredMatrix::is_by_ranges() const { return state_->own.has_value(); }

graph::PartitionQuality MeasuredMatrix::quality(int workgroup, bool with_cover) const {
  graph::Partition ranges;
  ranges.cuts = state_->source.cuts;
  graph::PartitionQuality quality;
  state_->team.teams->on_host([&](exec::ThreadPool& pool) {
    quality = graph::partition_quality(state_->graph(), ranges, pool, {workgroup, with_cover});
  });
  return quality;
}

ProductFigures MeasuredMatrix::spmm(const ProductOptions& options) const {
  check(options, state_->team.place.ranks);
  return measure(*state_, options, [](auto& rank) { return rank.spmm(); });
}

ProductFigures MeasuredMatrix::sddmm(const ProductOptions& options) const {
  check_choice("--strategy", options.strategy, {"auto", "staged"});
  check(options, state_->team.place.ranks);
  return measure(*state_, options, [](auto& rank) { return rank.sddmm(); });
}

}  // namespace warren::api
