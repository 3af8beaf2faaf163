// SPDX-License-Identifier: Apache-2.0
// What spmm and sddmm have in common: options, checks, and what they report.
#include <algorithm>
#include <cmath>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

#include "command.hpp"
#include "option_rules.hpp"
#include "sparse_input.hpp"
#include "strategy.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

constexpr std::uint64_t kMostTimes = 1000;

Json describe(const sparse::Candidate& candidate) {
  return {{"strategy", sparse::name_of(candidate.options.strategy)},
          {"workgroup", candidate.options.workgroup},
          {"chunks", candidate.options.chunks},
          {"copy", candidate.options.copy_processors},
          {"ps", candidate.options.piece_entries},
          {"dist", candidate.options.interleave},
          {"wpb", candidate.options.warps_per_block},
          {"rows_moved", candidate.rows_moved},
          {"predicted_seconds", candidate.predicted_seconds},
          {"measured_seconds",
           candidate.measured_seconds > 0.0 ? Json(candidate.measured_seconds) : Json(nullptr)}};
}

std::string with_products(double seconds, double product_seconds) {
  if (!(product_seconds > 0.0)) return duration(seconds);
  return fmt::format("{}, {:.3g} products", duration(seconds), seconds / product_seconds);
}

/// The ways that auto looked at.
void explain(Session& session, const SparseOutcome& outcome) {
  Json list = Json::array();
  if (outcome.candidates.empty()) {
    session.print("\nnothing to choose: one rank, a strategy that was named, or --deterministic\n");
  } else {
    session.print("\n{:<20} {:>9} {:>6} {:>4} {:>5} {:>5} {:>4} {:>14} {:>11} {:>11}\n", "strategy",
                  "workgroup", "chunks", "copy", "ps", "dist", "wpb", "rows moved", "predicted",
                  "measured");
  }
  for (const sparse::Candidate& candidate : outcome.candidates) {
    list.push_back(describe(candidate));
    const auto& o = candidate.options;
    session.print(
        "{:<20} {:>9} {:>6} {:>4} {:>5} {:>5} {:>4} {:>14} {:>11} {:>11}\n",
        sparse::name_of(o.strategy), o.workgroup == 0 ? "all" : std::to_string(o.workgroup),
        o.chunks == 0 ? "auto" : std::to_string(o.chunks), o.copy_processors, o.piece_entries,
        o.interleave == o.kNoInterleaving ? "off" : std::to_string(o.interleave), o.warps_per_block,
        thousands(candidate.rows_moved), duration(candidate.predicted_seconds),
        candidate.measured_seconds > 0.0 ? duration(candidate.measured_seconds) : "-");
  }
  if (!outcome.candidates.empty()) {
    if (outcome.is_remembered)
      session.print("looked at and measured before: {}\n", sparse::plan_table_path());
    session.print(
        "not looked at: once, whose sums do not repeat bit for bit (--strategy once takes it)\n");
  }
  session.json()["candidates"] = list;
  session.json()["remembered"] = outcome.is_remembered;
}

}  // namespace

void add_sparse_options(CLI::App& command, SparseOptions& options) {
  add_graph_options(command, options.graph);
  add_number(command, "--k", options.k, "Columns of the dense matrices (32)", "K", 1, kMostColumns);
  command.add_option("--type", options.type, "Storage: float32, float16, bfloat16")
      ->type_name("TYPE");
  command
      .add_option("--method", options.method,
                  "Partition over the ranks: ranges, random, degree, rabbit, metis")
      ->type_name("NAME");
  command
      .add_option("--reorder", options.reorder,
                  "Order of the vertices before they are cut: none, rabbit, degree, random")
      ->type_name("NAME");
  command.add_flag("--verify", options.verify,
                   "Compare with a product in double precision (exit status 4)");
  add_common_options(command, options.common);
}

void add_strategy_options(CLI::App& command, SparseOptions& options) {
  command
      .add_option("--strategy", options.strategy,
                  "How rows come to the ranks that need them: auto, broadcast, "
                  "broadcast-pipelined, pull, once, staged, fused, cover; parameters follow as in "
                  "pull:ps=64:dist=2:wpb=8, pull:mgg (as MGG's paper has them), "
                  "staged:chunks=2:copy=48 (copy: processors of a GPU that copy, of once, fused "
                  "and cover, too), once:chunks=2; pull:auto measures which are best, and so do "
                  "staged:auto, fused:auto and cover:auto")
      ->type_name("NAME");
  add_number(command, "--workgroup", options.workgroup,
             "Ranks of a workgroup, between which links are slow (by the measured links)", "N", 1,
             kMaxRanks);
  command.add_flag("--explain", options.explain,
                   "Of --strategy auto: the ways looked at, with predicted and measured times");
}

void add_slow_option(CLI::App& command, SparseOptions& options) {
  add_number(command, "--slow", options.slow,
             "Move what crosses between workgroups N times, as over a link that is as many times "
             "slower (1)",
             "N", 1, kMostTimes);
}

void check_sparse_options(const SparseOptions& options) {
  check_choice("--type", options.type, {"float32", "float16", "bfloat16"}, {});
  check_choice(
      "--strategy", strategy_name(options.strategy),
      {"auto", "broadcast", "broadcast-pipelined", "pull", "once", "staged", "fused", "cover"}, {});
  if (!is_tuned(options.strategy)) (void)parse_product(options.strategy);
  if (options.common.ranks() == 1 && options.strategy.find(':') != std::string::npos)
    log_warning(
        fmt::format("--strategy {}: the parameters have no effect: one rank exchanges nothing",
                    options.strategy));
  require(
      options.strategy == "auto" || !is_tuned(options.strategy) || !options.common.deterministic,
      "--deterministic takes no parameters that were measured: leave :auto out of --strategy");
  require(options.slow == 1 || (options.workgroup != 0 && !is_tuned(options.strategy)),
          "--slow slows the links between workgroups for one strategy: it needs --workgroup N and "
          "--strategy NAME");
  check_method(options.method);
  check_choice("--reorder", options.reorder, {"none", "rabbit", "degree", "random"}, {});
  if (options.workgroup != 0) graph::check_workgroup(options.workgroup, options.common.ranks());
  if (options.common.ranks() == 1)
    warn_without_effect(options.common, {"--workgroup", "--explain"}, "one rank exchanges nothing");
}

double sparse_tolerance(const std::string& type, int ranks) {
  // Passes over parts of the columns round to the storage type, at most one for each rank and two.
  if (type == "float16") return (ranks + 2) * 0x1p-11;
  if (type == "bfloat16") return (ranks + 2) * 0x1p-8;
  return 1e-5;
}

double largest(team::Team& team, double value) {
  return team.all_reduce(value, [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
  });
}

void warn_of_overflow(const SparseOptions& options, const SparseOutcome& outcome) {
  if (outcome.not_finite == 0) return;
  const std::string cure =
      options.type == "float16"
          ? "float16 holds numbers up to 65504, --type bfloat16 and float32 up to 3.4e38"
          : options.type + " holds numbers up to 3.4e38: make the weights smaller";
  log_warning(fmt::format("{} of the result {} no finite numbers: {}",
                          counted(outcome.not_finite, "element", "elements"),
                          outcome.not_finite == 1 ? "is" : "are", cure));
}

Json in_products(double seconds, double product_seconds) {
  return product_seconds > 0.0 ? Json(seconds / product_seconds) : Json(nullptr);
}

void describe_order(Json& json, const OrderTimes& times, double product_seconds) {
  json["reorder_seconds"] = times.reorder;
  json["partition_seconds"] = times.partition;
  json["relabel_seconds"] = times.relabel;
  json["order_in_products"] = in_products(times.all(), product_seconds);
}

ExitStatus report_sparse(Session& session, const SparseOptions& options, const SparseInput& input,
                         const SparseOutcome& outcome) {
  const double middle = median(outcome.seconds);
  const double operations =
      2.0 * static_cast<double>(input.graph().edges()) * static_cast<double>(options.k);
  const double gflops = middle > 0.0 ? operations / middle / 1e9 : 0.0;
  const bool is_right = outcome.error <= sparse_tolerance(options.type, session.team().ranks);

  Json& json = session.json();
  json["seconds"] = outcome.seconds;
  json["k"] = options.k;
  json["type"] = options.type;
  json["strategy"] = outcome.strategy;
  json["method"] = options.method;
  json["reorder"] = options.reorder;
  if (options.slow > 1) json["slow"] = options.slow;
  json["gflops"] = gflops;
  json["rows_moved"] = outcome.rows_moved;
  json["max_relative_error"] = options.verify ? Json(outcome.error) : Json(nullptr);
  json["sum"] = outcome.sum;
  json["sumsq"] = outcome.sumsq;
  json["not_finite"] = outcome.not_finite;
  warn_of_overflow(options, outcome);
  json["verified"] = options.verify ? Json(is_right) : Json(nullptr);
  json["plan_seconds"] = outcome.plan_seconds;
  json["plan_in_products"] = in_products(outcome.plan_seconds, middle);
  describe_order(json, input.order_times(), middle);

  Table table;
  table.row("product", fmt::format("k = {}, {}, on {}", options.k, options.type, session.place()));
  table.row("strategy", fmt::format("{}, {} moved between ranks", outcome.strategy,
                                    counted(outcome.rows_moved, "row", "rows")));
  table.row("time", fmt::format("{}, {:.2f} GFLOP/s", duration(middle), gflops));
  table.row("preparation", with_products(outcome.plan_seconds, middle));
  if (options.reorder != "none" || options.method != "ranges")
    table.row("order and partition", with_products(input.order_times().all(), middle));
  table.row("sum, of squares", fmt::format("{:.10g}, {:.10g}", outcome.sum, outcome.sumsq));
  if (options.verify) {
    table.row("verified", fmt::format("{}, largest error {:.3g} of |A||B|", is_right ? "yes" : "NO",
                                      outcome.error));
  }
  session.print("\n{}", table.text());
  if (options.explain) explain(session, outcome);
  session.finish();
  if (!options.verify || is_right) return ExitStatus::done;
  print_error(fmt::format("the product is off by {:.3g} of |A||B|; {} allows {:.3g}", outcome.error,
                          options.type, sparse_tolerance(options.type, session.team().ranks)));
  return ExitStatus::not_verified;
}

}  // namespace warren::app
