// SPDX-License-Identifier: Apache-2.0
// warren lookup: how fast bags of rows of a table over all ranks are summed.

#include "bench.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

struct OneLookup : LookupCommand {
  api::LookupCase lookup;
};

ExitStatus run_lookup(const OneLookup& command) {
  const api::LookupTrialOptions& options = command.table;
  check(options, command.lookup);
  Session session("lookup", command.common);
  const api::LookupFigures figures = measure_lookups(session, command, {command.lookup}).at(0);
  const bool is_right = !options.verify || figures.is_right;
  return session.end(
      to_json(session.ran(), options, figures), to_text(session.ran(), options, figures),
      is_right ? ""
               : fmt::format("the sums are off by {:.3g} of their terms' sizes", figures.error));
}

}  // namespace

void add_lookup_options(CLI::App& command, LookupCommand& options) {
  api::LookupTrialOptions& table = options.table;
  add_number(command, "--rows", table.rows, "Rows of the table (1000000)", "N", 1, kMaxVertices);
  add_number(command, "--k", table.k, "Elements of a row (64)", "K", 1, kMostColumns);
  add_number(command, "--batch", table.batch, "Bags that each rank looks up (4096)", "B", 1,
             kMaxVertices);
  add_text(command, "--type", table.type, "Storage: float32, float16, bfloat16", "TYPE");
  command.add_flag("--verify", table.verify, "Look at every element (exit status 4)");
  add_common_options(command, options.common);
}

std::vector<api::LookupFigures> measure_lookups(const Session& session,
                                                const LookupCommand& command,
                                                const std::vector<api::LookupCase>& cases) {
  return session.during("looking up",
                        [&] { return api::measure_lookups(session.timed(command.table), cases); });
}

void add_lookup(CLI::App& program, Action& action) {
  const auto [lookup, command] = add_command<OneLookup>(
      program, action, "lookup", "Sums of bags of rows of a table over all ranks",
      "Example:\n  warren lookup --rows 1000000 --k 64 --batch 4096 --bag 32 --verify", run_lookup);
  add_lookup_options(lookup, command);
  add_number(lookup, "--bag", command.lookup.bag, "Rows of a bag (32)", "L", 1,
             std::uint64_t{1} << 48);
  add_real(lookup, "--skew", command.lookup.skew,
           "0: rows are drawn uniformly; row number (a uniform one)^(1 + skew) otherwise", "S", 0.0,
           100.0);
  add_text(lookup, "--strategy", command.lookup.strategy,
           "auto, pull (rows are read where they lie), owner-sum (owners add up their rows "
           "of a bag), messages (whole rows are sent)");
  add_number(lookup, "--features", command.table.features, "Bags of a sample (1)", "F", 1, 4096);
  lookup.add_flag("--interact", command.table.interact,
                  "Then the products of all pairs of a sample's bags (DLRM)");
}

}  // namespace warren::app
