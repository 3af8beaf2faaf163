// SPDX-License-Identifier: Apache-2.0
// warren spmm: the product of a graph's matrix and a dense one.
#include "warren/sparse/spmm.hpp"

#include <cmath>
#include <memory>

#include "warren/core/error.hpp"

#include "option_rules.hpp"
#include "sparse_input.hpp"
#include "strategy.hpp"

namespace warren::app {
namespace {

/// One rank's work.
template <class T>
class SpmmRank {
 public:
  SpmmRank(const SparseOptions& options, const SparseInput& input, team::Team& team)
      : options_(options), input_(input), team_(team), stream_(team.device()) {}

  void run(SparseOutcome& outcome) {
    const std::uint64_t k = options_.k;
    const graph::Shard shard = input_.shard(team_);
    memory::GlobalArray<T> b(team_, shard.cuts, k, memory::Placement::device);
    memory::Buffer<T> c(team_.device(), exec::bytes_of(shard.out.count, k));
    input_.fill(stream_, team_.rank(), k, b.buffer());
    SparseOutcome mine;
    if (team_.size() == 1 && options_.strategy == "auto") {
      run_alone(b, c, mine);
    } else {
      run_together(shard, b, c, mine);
    }
    check(c, mine);
    if (team_.rank() == 0) outcome = mine;
  }

 private:
  void run_alone(const memory::GlobalArray<T>& b, memory::Buffer<T>& c, SparseOutcome& mine) {
    const double begin = now_seconds();
    const sparse::Matrix matrix(stream_, input_.graph());
    const double placed = now_seconds();
    const sparse::SpmmPlan plan(stream_, matrix.offsets());
    mine.plan_seconds = now_seconds() - placed;
    trace_span("place matrix", 0, begin, placed);
    const std::uint64_t k = options_.k;
    mine.seconds = timed_runs(team_, options_.common.repeat, "spmm", [&] {
      sparse::spmm(stream_, matrix.view(), plan, sparse::RowTable<T>(b.local_data(), k), c.data(),
                   k, k);
      stream_.synchronize();
    });
    mine.strategy = mine.product = "local";
  }

  void run_together(const graph::Shard& shard, const memory::GlobalArray<T>& b,
                    memory::Buffer<T>& c, SparseOutcome& mine) {
    sparse::DistributedOptions product_options;
    double begin = now_seconds();
    const sparse::Rows rows = sparse::make_rows(team_, shard);
    if (!is_tuned(options_.strategy)) {
      product_options = parse_product(options_.strategy);
    } else if (!options_.common.deterministic) {
      // The choice follows measured times, and the last bits of the result the choice.
      sparse::TuneOptions tune;
      tune.workgroup = options_.workgroup;
      tune.strategy = tuned_strategy(options_.strategy);
      tune.table = sparse::plan_table_path();
      const sparse::Tuning tuning = sparse::tune<T>(team_, rows, b, c.data(), tune);
      product_options = tuning.best;
      mine.candidates = tuning.candidates;
      mine.is_remembered = tuning.is_remembered;
      begin = now_seconds();
    }
    if (options_.workgroup != 0) {
      product_options.workgroup = options_.workgroup;
    } else if (strategy_name(options_.strategy) == "fused" && team_.size() > 1) {
      product_options.workgroup = sparse::workgroup_of(team::known_links(team_));
    }
    product_options.deterministic = options_.common.deterministic;
    product_options.slow_between = options_.slow;
    sparse::DistributedSpmm<T> product(team_, rows, options_.k, product_options);
    mine.plan_seconds = largest(team_, now_seconds() - begin);
    // Apart from the timed runs, whose kernels do not count.
    product.run_counted(b, c.data());
    mine.seconds =
        timed_runs(team_, options_.common.repeat, "spmm", [&] { product.run(b, c.data()); });
    mine.rows_moved = product.rows_moved();
    mine.rows_between = product.rows_between();
    mine.strategy = sparse::name_of(product_options.strategy);
    mine.product = product_text(product_options);
  }

  /// Sums over the result, and how far it is from the product in double precision.
  void check(const memory::Buffer<T>& c, SparseOutcome& mine) {
    const std::vector<T> result = c.to_host(stream_);
    add_up(team_, result, mine);
    if (options_.verify) mine.error = largest(team_, largest_error(result));
  }

  double largest_error(const std::vector<T>& result) const {
    const graph::Graph& graph = input_.graph();
    const auto weights = sparse::float_weights(graph, team_.device().pool());
    const std::uint64_t k = options_.k;
    const std::uint64_t first = input_.first(team_.rank());
    std::mutex mutex;
    double worst = 0.0;
    team_.device().pool().parallel_for(
        0, input_.count(team_.rank()), 64, [&](std::uint64_t begin, std::uint64_t end) {
          double mine = 0.0;
          for (std::uint64_t r = begin; r < end; ++r) {
            // Rows of B that are alike, by the sums of their weights.
            double weight_of[kDensePeriod] = {}, size_of[kDensePeriod] = {};
            for (EdgeOffset e = graph.offsets[first + r]; e < graph.offsets[first + r + 1]; ++e) {
              const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[e]);
              const std::uint64_t alike = input_.to_user(graph.targets[e]) % kDensePeriod;
              weight_of[alike] += weight;
              size_of[alike] += std::abs(weight);
            }
            double sum[kDensePeriod] = {}, size[kDensePeriod] = {};
            for (std::uint64_t j = 0; j < kDensePeriod; ++j) {
              for (std::uint64_t c = 0; c < kDensePeriod; ++c) {
                const auto element = static_cast<double>(dense_element(j, c));
                sum[c] += weight_of[j] * element;
                size[c] += size_of[j] * std::abs(element);
              }
            }
            for (std::uint64_t c = 0; c < k; ++c) {
              const std::uint64_t like = c % kDensePeriod;
              const double off =
                  std::abs(static_cast<double>(to_float(result[r * k + c])) - sum[like]);
              const double error = off == 0.0 ? 0.0 : off / size[like];
              if (!(error <= mine)) mine = error;  // NaN wins, too.
            }
          }
          const std::scoped_lock lock(mutex);
          if (!(mine <= worst)) worst = mine;
        });
    return worst;
  }

  const SparseOptions& options_;
  const SparseInput& input_;
  team::Team& team_;
  exec::Stream stream_;
};

ExitStatus run_spmm(const SparseOptions& options) {
  check_sparse_options(options);
  Session session("spmm", options.common);
  const SparseInput input(session, options);
  const SparseOutcome outcome = measure_spmm(session, options, input);
  if (options.workgroup != 0) session.json()["rows_between_workgroups"] = outcome.rows_between;
  return report_sparse(session, options, input, outcome);
}

}  // namespace

SparseOutcome measure_spmm(const Session& session, const SparseOptions& options,
                           const SparseInput& input) {
  SparseOutcome outcome;
  const auto progress = session.progress("multiplying");
  with_element(options.type, [&](auto element) {
    team::run_team(session.team(), [&](team::Team& team) {
      SpmmRank<decltype(element)>(options, input, team).run(outcome);
    });
  });
  return outcome;
}

void add_spmm(CLI::App& program, Action& action) {
  auto options = std::make_shared<SparseOptions>();
  CLI::App* spmm = add_command(program, "spmm", "A sparse matrix times a dense one");
  add_sparse_options(*spmm, *options);
  add_strategy_options(*spmm, *options);
  add_slow_option(*spmm, *options);
  spmm->footer("Example:\n  warren spmm debian --k 64 --devices 2 --strategy staged --verify");
  spmm->callback([options, &action] { action = [options] { return run_spmm(*options); }; });
}

}  // namespace warren::app
