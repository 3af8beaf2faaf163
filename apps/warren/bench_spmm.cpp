// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/ranges.h>

#include "warren/core/quantity.hpp"

#include "bench.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

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
  command.product.strategy = fmt::format("{}", fmt::join(strategies, ","));
  command.warn(session);
  const api::MeasuredMatrix matrix = read_matrix(session, command, false);
  // Volumes counted in the graph, which rows that move are equal to.
  const bool with_cover = std::ranges::find(strategies, "cover") != strategies.end();
  const int workgroup = command.product.workgroup;
  if (workgroup != 0) session.add(to_json(command.product, matrix.quality(workgroup, with_cover)));
  bool is_right = true;
  Json results = Json::array();
  session.print("\n{:<10} {:>6} {:<20} {:>12} {:>10} {:>14}\n", "type", "k", "strategy", "time",
                "GFLOP/s", "rows moved");
  const auto measure = [&] {
    const api::ProductOptions product = command.options();
    const api::ProductFigures figures =
        session.during("multiplying", [&] { return matrix.spmm(product); });
    is_right = is_right && figures.is_right;
    const api::ProductReport told = report_of(session, command, matrix, figures);
    results.push_back(Json::parse(to_json(command.graph.graph, told)));
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
