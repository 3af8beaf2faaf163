// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "warren/sparse/lookup.hpp"

#include "bench.hpp"
#include "option_rules.hpp"

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
  for (const api::LookupCase& lookup : bench.cases()) check(bench.table, lookup);
  const std::vector<api::LookupFigures> cases = measure_lookups(session, bench, bench.cases());
  session.add(to_json(session.ran(), session.timed(bench.table), cases));
  session.print("{}", to_text(session.ran(), cases));
  return std::ranges::all_of(cases, [](const auto& figures) { return figures.is_right; });
}

}  // namespace warren::app
