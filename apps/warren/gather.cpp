// SPDX-License-Identifier: Apache-2.0
// warren gather: how fast random rows come out of an array that is spread over the team, and how
// near that is to plain copies of as many bytes from the same places.
#include "warren/api/report_measures.hpp"

#include "command.hpp"
#include "option_rules.hpp"
#include "session.hpp"

namespace warren::app {
namespace {

struct GatherCommand {
  CommonOptions common;
  api::GatherTrialOptions table;
};

ExitStatus run_gather(const GatherCommand& command) {
  check(command.table);
  Session session("gather", command.common);
  const api::GatherTrialOptions options = session.timed(command.table);
  const api::GatherFigures figures =
      session.during("gathering", [&] { return measure_gather(options); });
  const std::uint64_t wrong = figures.wrong;
  return session.end(
      to_json(session.ran(), options, figures), to_text(session.ran(), options, figures),
      wrong == 0 ? "" : fmt::format("{} gathered elements are not the table's", wrong));
}

}  // namespace

void add_gather(CLI::App& program, Action& action) {
  constexpr std::uint64_t kMostValues = std::uint64_t{1} << 48;
  const auto [gather, command] = add_command<GatherCommand>(
      program, action, "gather", "Random rows of an array over all ranks",
      "Example:\n  warren gather --rows 1000000 --k 64 --count 200000 --placement host",
      run_gather);
  add_number(gather, "--rows", command.table.rows, "Rows of the table (1000000)", "N", 1,
             kMostValues);
  add_number(gather, "--k", command.table.k, "Floats of a row (64)", "K", 1, kMostValues);
  add_number(gather, "--count", command.table.count, "Rows that each rank gathers (1000000)", "C",
             1, kMostValues);
  add_text(gather, "--placement", command.table.placement,
           "Where the table lives: device, host, cached (host memory, with the first rows "
           "on the devices)",
           "WHERE");
  add_text(gather, "--strategy", command.table.strategy,
           "direct (rows are read where they lie), messages (asked of their ranks and sent, "
           "for comparison)");
  add_text(gather, "--order", command.table.order,
           "Of --placement host and cached: auto, asked, sorted (rows in host memory are "
           "read in the order of addresses)",
           "ORDER");
  add_number(gather, "--cached", command.table.cached,
             "Of --placement cached: rows on the devices (a tenth)", "R", 0, kMostValues);
  add_real(gather, "--skew", command.table.skew,
           "0: rows are drawn uniformly; S: by Zipf's law, row r with (r + 1)^-S", "S", 0.0, 100.0);
  gather.add_flag("--verify", command.table.verify, "Look at every element (exit status 4)");
  add_common_options(gather, command.common);
}

}  // namespace warren::app
