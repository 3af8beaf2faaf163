// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "bench.hpp"
#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

/// The volumes computed from the graph, which counted rows are equal to.
void describe_workgroups(Session& session, const api::ProductOptions& product,
                         const std::vector<std::string>& strategies,
                         const api::MeasuredMatrix& matrix) {
  const bool with_cover =
      std::find(strategies.begin(), strategies.end(), "cover") != strategies.end();
  const auto quality = matrix.quality(product.workgroup, with_cover);
  Json& json = session.json();
  json["workgroup"] = product.workgroup;
  json["slow"] = product.slow;
  json["volume"] = rows_json(quality.moved);
  json["volume_between_workgroups"] = rows_json(quality.between);
}

/// Those that were named; else auto on one rank, all of them on several.
std::vector<std::string> strategies_of(const BenchSpmm& bench, int ranks) {
  std::vector<std::string> strategies = bench.strategies;
  if (strategies.empty() && ranks == 1) strategies = {"auto"};
  if (strategies.empty()) {
    for (const sparse::Strategy strategy : sparse::all_strategies())
      strategies.push_back(sparse::name_of(strategy));
  }
  return strategies;
}

/// One product's fields, with the command that repeats it.
Json fields_of(const ProductCommand& command, const api::OrderTimes& order,
               const api::ProductFigures& figures) {
  const api::ProductOptions& product = command.product;
  const std::string workgroups =
      product.workgroup == 0
          ? ""
          : fmt::format(" --workgroup {} --slow {}", product.workgroup, product.slow);
  const double middle = median(figures.seconds);
  return {{"command",
           fmt::format("warren spmm {} --k {} --type {} --strategy {} --method {} --reorder {} "
                       "--devices {} --repeat {}{}",
                       command.graph.graph, product.k, product.type, product.strategy,
                       command.matrix.method, command.matrix.reorder, command.common.ranks(),
                       command.common.repeat, workgroups)},
          {"type", product.type},
          {"k", product.k},
          {"strategy", product.strategy == "auto" ? figures.strategy : product.strategy},
          {"product", figures.product},
          {"seconds", figures.seconds},
          {"gflops", figures.gflops},
          {"rows_moved", figures.rows_moved},
          {"rows_between_workgroups",
           product.workgroup != 0 ? Json(figures.rows_between) : Json(nullptr)},
          {"plan_seconds", figures.plan_seconds},
          {"plan_in_products", in_products(figures.plan_seconds, middle)},
          {"order_in_products", in_products(order.all(), middle)},
          {"sum", figures.sum},
          {"sumsq", figures.sumsq},
          {"not_finite", figures.not_finite},
          {"max_relative_error", product.verify ? Json(figures.error) : Json(nullptr)}};
}

}  // namespace

void add_bench_spmm_options(CLI::App& command, BenchSpmm& bench) {
  add_graph_options(command, bench.graph);
  add_text(command, "--ks", bench.widths, "Widths (16,32,64,128,256)", "K,...")
      ->delimiter(',')
      ->transform(whole_number(1, std::uint64_t{1} << 24));
  add_text(command, "--types", bench.types, "Storage types (float32)", "TYPE,...")->delimiter(',');
  add_text(command, "--strategies", bench.strategies,
           "Strategies, with parameters: see spmm (auto on one rank, all of them on several)",
           "NAME,...")
      ->delimiter(',');
  add_text(command, "--method", bench.matrix.method, "Partition over the ranks: see spmm");
  add_text(command, "--reorder", bench.matrix.reorder, "Order of the vertices: see spmm");
  add_number(command, "--workgroup", bench.product.workgroup,
             "Ranks of a workgroup (by the measured links)", "N", 1, kMaxRanks);
  add_slow_option(command, bench);
  command.add_flag("--verify", bench.product.verify, "Compare with double precision");
}

bool measure(Session& session, const BenchSpmm& bench) {
  const std::vector<std::string> strategies = strategies_of(bench, session.ranks());
  ProductCommand command = bench;
  for (const std::string& type : bench.types) {
    for (const std::string& strategy : strategies) {
      command.product.type = type;
      command.product.strategy = strategy;
      command.check();
    }
  }
  const api::MeasuredMatrix matrix = read_matrix(session, command);
  if (command.product.workgroup != 0)
    describe_workgroups(session, command.product, strategies, matrix);
  bool is_right = true;
  Json results = Json::array();
  session.print("\n{:<10} {:>6} {:<20} {:>12} {:>10} {:>14}\n", "type", "k", "strategy", "time",
                "GFLOP/s", "rows moved");
  const auto measure = [&] {
    const api::ProductOptions product = command.options();
    const api::ProductFigures figures =
        session.during("multiplying", [&] { return matrix.spmm(product); });
    warn_of_overflow(product.type, figures);
    is_right = is_right && figures.is_right;
    results.push_back(fields_of(command, matrix.order_times(), figures));
    session.print("{:<10} {:>6} {:<20} {:>12} {:>10.2f} {:>14}\n", product.type, product.k,
                  figures.strategy, duration(median(figures.seconds)), figures.gflops,
                  thousands(figures.rows_moved));
  };
  for (const std::string& type : bench.types) {
    command.product.type = type;
    for (const std::uint64_t k : bench.widths) {
      command.product.k = k;
      for (const std::string& strategy : strategies) {
        command.product.strategy = strategy;
        measure();
      }
    }
  }
  session.json()["results"] = results;
  return is_right;
}

}  // namespace warren::app
