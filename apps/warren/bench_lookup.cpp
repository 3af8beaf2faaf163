// SPDX-License-Identifier: Apache-2.0
#include "bench_lookup.hpp"

#include <fmt/format.h>

#include "warren/sparse/lookup.hpp"

#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

std::vector<LookupCase> cases_of(const BenchLookupOptions& bench) {
  std::vector<std::string> strategies = bench.strategies;
  if (strategies.empty()) {
    for (const sparse::LookupStrategy strategy : sparse::all_lookup_strategies())
      strategies.push_back(name_of(strategy));
  }
  std::vector<LookupCase> cases;
  for (const double skew : bench.skews) {
    for (const std::uint64_t bag : bench.bags) {
      for (const std::string& strategy : strategies) cases.push_back({bag, skew, strategy});
    }
  }
  return cases;
}

}  // namespace

void add_bench_lookup_options(CLI::App& command, BenchLookupOptions& bench) {
  add_lookup_options(command, bench.options);
  command.add_option("--bags", bench.bags, "Rows of a bag (32)")
      ->delimiter(',')
      ->type_name("L,...")
      ->transform(whole_number(1, std::uint64_t{1} << 48));
  command.add_option("--skews", bench.skews, "Skews of the draws (0): see lookup")
      ->delimiter(',')
      ->type_name("S,...")
      ->check(real_number(0.0, 100.0));
  command.add_option("--strategies", bench.strategies, "Strategies (all of them)")
      ->delimiter(',')
      ->type_name("NAME,...");
}

void check_bench_lookup(const BenchLookupOptions& bench) {
  for (const LookupCase& lookup : cases_of(bench)) check_lookup_options(bench.options, lookup);
}

bool bench_lookup(Session& session, const BenchLookupOptions& bench) {
  const LookupOptions& options = bench.options;
  Json results = Json::array();
  session.print("{:>8} {:>6} {:<10} {:>12} {:>16} {:>14}\n", "bag", "skew", "strategy", "time",
                "GB/s per rank", "rows moved");
  bool is_right = true;
  for (const LookupOutcome& outcome : measure_lookups(session, options, cases_of(bench))) {
    const double each = outcome.bytes / session.team().ranks;
    Json result = outcome.fields(options);
    result["command"] = fmt::format(
        "warren lookup --rows {} --k {} --batch {} --bag {} --skew {} --type {} --strategy {} "
        "--devices {} --repeat {}",
        options.rows, options.k, options.batch, outcome.lookup.bag, outcome.lookup.skew,
        options.type, outcome.lookup.strategy, options.common.ranks(), options.common.repeat);
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
