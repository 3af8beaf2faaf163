// SPDX-License-Identifier: Apache-2.0
// warren lookup: how fast bags of rows of a table over all ranks are summed.
#include <memory>

#include "warren/core/error.hpp"

#include "command.hpp"
#include "lookup_input.hpp"
#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

struct LookupCommand {
  LookupOptions options;
  LookupCase lookup;
};

ExitStatus run_lookup(const LookupCommand& command) {
  const LookupOptions& options = command.options;
  check_lookup_options(options, command.lookup);
  Session session("lookup", options.common);
  const LookupOutcome outcome = measure_lookups(session, options, {command.lookup}).at(0);
  session.json().update(outcome.fields(options));

  Table table;
  table.row("table", fmt::format("{} of {} {}", counted(options.rows, "row", "rows"), options.k,
                                 options.type));
  table.row("looked up",
            fmt::format("{} of {} on each of {}", counted(options.batch, "bag", "bags"),
                        counted(outcome.lookup.bag, "row", "rows"), session.place()));
  table.row("strategy", outcome.strategy);
  if (!outcome.why.empty()) table.row("why", outcome.why);
  table.row("time", duration(median(outcome.seconds)));
  table.row("rate", fmt::format("{}rows/s, {}B/s of table rows, all ranks together",
                                with_prefix(outcome.rate), with_prefix(outcome.bytes)));
  table.row("moved", counted(outcome.rows_moved, "row", "rows"));
  if (options.interact)
    table.row("interaction",
              fmt::format("{}, pairs of {} bags", duration(median(outcome.interact_seconds)),
                          options.features));
  if (options.verify) table.row("verified", outcome.is_right ? "yes, every element" : "NO");
  session.print("{}", table.text());
  session.finish();
  if (!options.verify || outcome.is_right) return ExitStatus::done;
  print_error(fmt::format("the sums are off by {:.3g} of their terms' sizes", outcome.error));
  return ExitStatus::not_verified;
}

}  // namespace

void add_lookup(CLI::App& program, Action& action) {
  auto command = std::make_shared<LookupCommand>();
  CLI::App* lookup =
      add_command(program, "lookup", "Sums of bags of rows of a table over all ranks");
  add_lookup_options(*lookup, command->options);
  add_number(*lookup, "--bag", command->lookup.bag, "Rows of a bag (32)", "L", 1,
             std::uint64_t{1} << 48);
  lookup
      ->add_option("--skew", command->lookup.skew,
                   "0: rows are drawn uniformly; row number (a uniform one)^(1 + skew) otherwise")
      ->type_name("S")
      ->check(real_number(0.0, 100.0));
  lookup
      ->add_option("--strategy", command->lookup.strategy,
                   "auto, pull (rows are read where they lie), owner-sum (owners add up their rows "
                   "of a bag), messages (whole rows are sent)")
      ->type_name("NAME");
  add_number(*lookup, "--features", command->options.features, "Bags of a sample (1)", "F", 1,
             4096);
  lookup->add_flag("--interact", command->options.interact,
                   "Then the products of all pairs of a sample's bags (DLRM)");
  lookup->footer("Example:\n  warren lookup --rows 1000000 --k 64 --batch 4096 --bag 32 --verify");
  lookup->callback([command, &action] { action = [command] { return run_lookup(*command); }; });
}

}  // namespace warren::app
