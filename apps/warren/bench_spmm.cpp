// SPDX-License-Identifier: Apache-2.0
#include "bench_spmm.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {

namespace {

/// The volumes computed from the graph, which counted rows are equal to.
void describe_workgroups(Session& session, const SparseOptions& options,
                         const std::vector<std::string>& strategies, const SparseInput& input) {
  const bool with_cover =
      std::find(strategies.begin(), strategies.end(), "cover") != strategies.end();
  const auto quality = input.quality(session.pool(), options.workgroup, with_cover);
  Json& json = session.json();
  json["workgroup"] = options.workgroup;
  json["slow"] = options.slow;
  json["volume"] = rows_json(quality.moved);
  json["volume_between_workgroups"] = rows_json(quality.between);
}

}  // namespace

void add_bench_spmm_options(CLI::App& command, BenchSpmmOptions& bench) {
  add_graph_options(command, bench.options.graph);
  command.add_option("--ks", bench.widths, "Widths (16,32,64,128,256)")
      ->delimiter(',')
      ->type_name("K,...")
      ->transform(whole_number(1, std::uint64_t{1} << 24));
  command.add_option("--types", bench.types, "Storage types (float32)")
      ->delimiter(',')
      ->type_name("TYPE,...");
  command
      .add_option(
          "--strategies", bench.strategies,
          "Strategies, with parameters: see spmm (auto on one rank, all of them on several)")
      ->delimiter(',')
      ->type_name("NAME,...");
  command.add_option("--method", bench.options.method, "Partition over the ranks: see spmm")
      ->type_name("NAME");
  command.add_option("--reorder", bench.options.reorder, "Order of the vertices: see spmm")
      ->type_name("NAME");
  add_number(command, "--workgroup", bench.options.workgroup,
             "Ranks of a workgroup (by the measured links)", "N", 1, kMaxRanks);
  add_slow_option(command, bench.options);
  command.add_flag("--verify", bench.options.verify, "Compare with double precision");
}

bool bench_spmm(Session& session, SparseOptions options, const BenchSpmmOptions& bench) {
  std::vector<std::string> strategies = bench.strategies;
  if (strategies.empty() && session.team().ranks == 1) strategies = {"auto"};
  if (strategies.empty()) {
    for (const sparse::Strategy strategy : sparse::all_strategies())
      strategies.push_back(sparse::name_of(strategy));
  }
  for (const std::string& type : bench.types) {
    for (const std::string& strategy : strategies) {
      options.type = type;
      options.strategy = strategy;
      check_sparse_options(options);
    }
  }
  const SparseInput input(session, options);
  if (options.workgroup != 0) describe_workgroups(session, options, strategies, input);
  const std::string workgroups =
      options.workgroup == 0
          ? ""
          : fmt::format(" --workgroup {} --slow {}", options.workgroup, options.slow);
  bool is_right = true;
  Json results = Json::array();
  session.print("\n{:<10} {:>6} {:<20} {:>12} {:>10} {:>14}\n", "type", "k", "strategy", "time",
                "GFLOP/s", "rows moved");
  for (const std::string& type : bench.types) {
    for (const std::uint64_t k : bench.widths) {
      for (const std::string& strategy : strategies) {
        options.type = type;
        options.k = k;
        options.strategy = strategy;
        const SparseOutcome outcome = measure_spmm(session, options, input);
        warn_of_overflow(options, outcome);
        is_right = is_right && outcome.error <= sparse_tolerance(type, session.team().ranks);
        const double middle = median(outcome.seconds);
        const double gflops = middle > 0.0 ? 2e-9 * static_cast<double>(input.graph().edges()) *
                                                 static_cast<double>(k) / middle
                                           : 0.0;
        results.push_back(
            {{"command",
              fmt::format("warren spmm {} --k {} --type {} --strategy {} --method {} "
                          "--reorder {} --devices {} --repeat {}{}",
                          options.graph.graph, k, type, strategy, options.method, options.reorder,
                          options.common.ranks(), options.common.repeat, workgroups)},
             {"type", type},
             {"k", k},
             {"strategy", strategy == "auto" ? outcome.strategy : strategy},
             {"product", outcome.product},
             {"seconds", outcome.seconds},
             {"gflops", gflops},
             {"rows_moved", outcome.rows_moved},
             {"rows_between_workgroups",
              options.workgroup != 0 ? Json(outcome.rows_between) : Json(nullptr)},
             {"plan_seconds", outcome.plan_seconds},
             {"plan_in_products", in_products(outcome.plan_seconds, middle)},
             {"order_in_products", in_products(input.order_times().all(), middle)},
             {"sum", outcome.sum},
             {"sumsq", outcome.sumsq},
             {"not_finite", outcome.not_finite},
             {"max_relative_error", options.verify ? Json(outcome.error) : Json(nullptr)}});
        session.print("{:<10} {:>6} {:<20} {:>12} {:>10.2f} {:>14}\n", type, k, outcome.strategy,
                      duration(middle), gflops, thousands(outcome.rows_moved));
      }
    }
  }
  session.json()["results"] = results;
  return is_right;
}

}  // namespace warren::app
