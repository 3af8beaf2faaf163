// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "warren/sparse/lookup.hpp"

#include "bench.hpp"
#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {

std::vector<api::LookupCase> BenchLookup::cases() const {
  std::vector<std::string> ways = strategies;
  if (ways.empty()) {
    for (const sparse::LookupStrategy strategy : sparse::all_lookup_strategies())
      ways.push_back(name_of(strategy));
  }
  std::vector<api::LookupCase> all;
  for (const double skew : skews) {
    for (const std::uint64_t bag : bags) {
      for (const std::string& strategy : ways) all.push_back({bag, skew, strategy});
    }
  }
  return all;
}

void add_bench_lookup_options(CLI::App& command, BenchLookup& bench) {
  add_lookup_options(command, bench);
  add_text(command, "--bags", bench.bags, "Rows of a bag (32)", "L,...")
      ->delimiter(',')
      ->transform(whole_number(1, std::uint64_t{1} << 48));
  add_real(command, "--skews", bench.skews, "Skews of the draws (0): see lookup", "S,...", 0.0,
           100.0)
      ->delimiter(',');
  add_text(command, "--strategies", bench.strategies, "Strategies (all of them)", "NAME,...")
      ->delimiter(',');
}

bool measure(Session& session, const BenchLookup& bench) {
  const api::LookupTrialOptions& options = bench.table;
  Json results = Json::array();
  session.print("{:>8} {:>6} {:<10} {:>12} {:>16} {:>14}\n", "bag", "skew", "strategy", "time",
                "GB/s per rank", "rows moved");
  bool is_right = true;
  for (const api::LookupFigures& outcome : measure_lookups(session, bench, bench.cases())) {
    const double each = outcome.bytes / session.ranks();
    Json result = fields_of(options, outcome);
    result["command"] = fmt::format(
        "warren lookup --rows {} --k {} --batch {} --bag {} --skew {} --type {} --strategy {} "
        "--devices {} --repeat {}",
        options.rows, options.k, options.batch, outcome.lookup.bag, outcome.lookup.skew,
        options.type, outcome.lookup.strategy, bench.common.ranks(), bench.common.repeat);
    result["bytes_per_second_per_rank"] = each;
    results.push_back(std::move(result));
    is_right = is_right && outcome.is_right;
    session.print("{:>8} {:>6} {:<10} {:>12} {:>16.2f} {:>14}\n", outcome.lookup.bag,
                  outcome.lookup.skew, outcome.strategy, duration(median(outcome.seconds)),
                  each / 1e9, thousands(outcome.rows_moved));
  }
  session.json()["results"] = results;
  return is_right;
}

}  // namespace warren::app
