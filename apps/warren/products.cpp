// SPDX-License-Identifier: Apache-2.0
// warren spmm: the product of a graph's matrix and a dense one. warren sddmm: products of the rows
// of a dense matrix, where a graph has edges.
#include "products.hpp"

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/sparse/strategy_text.hpp"

#include "candidates.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

std::string with_products(double seconds, double product_seconds) {
  if (!(product_seconds > 0.0)) return duration(seconds);
  return fmt::format("{}, {:.3g} products", duration(seconds), seconds / product_seconds);
}

/// The ways that auto looked at.
void explain(Session& session, const api::ProductFigures& figures) {
  if (figures.candidates.empty())
    session.print("\nnothing to choose: one rank, a strategy that was named, or --deterministic\n");
  report_candidates(session, figures.candidates);
  if (!figures.candidates.empty()) {
    if (figures.is_remembered)
      session.print("looked at and measured before: {}\n", sparse::plan_table_path());
    session.print(
        "not looked at: once, whose sums do not repeat bit for bit (--strategy once takes it)\n");
  }
  session.json()["remembered"] = figures.is_remembered;
}

void print(Session& session, const ProductCommand& command, const api::OrderTimes& order,
           const api::ProductFigures& figures, double middle) {
  const api::ProductOptions& product = command.product;
  session.print("\n");
  session.row("product", "k = {}, {}, on {}", product.k, product.type, session.place());
  session.row("strategy", "{}, {} moved between ranks", figures.strategy,
              counted(figures.rows_moved, "row", "rows"));
  session.row("time", "{}, {:.2f} GFLOP/s", duration(middle), figures.gflops);
  session.row("preparation", "{}", with_products(figures.plan_seconds, middle));
  if (command.matrix.reorder != "none" || command.matrix.method != "ranges")
    session.row("order and partition", "{}", with_products(order.all(), middle));
  session.row("sum, of squares", "{:.10g}, {:.10g}", figures.sum, figures.sumsq);
  if (product.verify)
    session.row("verified", "{}, largest error {:.3g} of |A||B|", figures.is_right ? "yes" : "NO",
                figures.error);
}

/// JSON, text and exit status.
ExitStatus report(Session& session, const ProductCommand& command, const api::OrderTimes& order,
                  const api::ProductFigures& figures) {
  const api::ProductOptions& product = command.product;
  const double middle = median(figures.seconds);
  const auto verified = [&](const Json& value) { return product.verify ? value : Json(nullptr); };
  Json& json = session.json();
  json["seconds"] = figures.seconds;
  json["k"] = product.k;
  json["type"] = product.type;
  json["strategy"] = figures.strategy;
  json["method"] = command.matrix.method;
  json["reorder"] = command.matrix.reorder;
  if (product.slow > 1) json["slow"] = product.slow;
  json["gflops"] = figures.gflops;
  json["rows_moved"] = figures.rows_moved;
  set_bytes_between_hosts(json, figures.bytes_between_hosts);
  json["max_relative_error"] = verified(figures.error);
  json["sum"] = figures.sum;
  json["sumsq"] = figures.sumsq;
  json["not_finite"] = figures.not_finite;
  warn_of_overflow(product.type, figures);
  json["verified"] = verified(figures.is_right);
  json["plan_seconds"] = figures.plan_seconds;
  json["plan_in_products"] = in_products(figures.plan_seconds, middle);
  json["reorder_seconds"] = order.reorder;
  json["partition_seconds"] = order.partition;
  json["relabel_seconds"] = order.relabel;
  json["order_in_products"] = in_products(order.all(), middle);
  print(session, command, order, figures, middle);
  if (command.explain) explain(session, figures);
  session.finish();
  if (!product.verify || figures.is_right) return ExitStatus::done;
  print_error(fmt::format("the product is off by {:.3g} of |A||B|; {} allows {:.3g}", figures.error,
                          product.type, figures.tolerance));
  return ExitStatus::not_verified;
}

ExitStatus run_spmm(const ProductCommand& command) {
  command.check();
  Session session("spmm", command.common);
  const api::MeasuredMatrix matrix = read_matrix(session, command);
  const api::ProductFigures figures =
      session.during("multiplying", [&] { return matrix.spmm(command.options()); });
  if (command.product.workgroup != 0)
    session.json()["rows_between_workgroups"] = figures.rows_between;
  return report(session, command, matrix.order_times(), figures);
}

ExitStatus run_sddmm(const ProductCommand& command) {
  command.check();
  check_choice("--strategy", command.product.strategy, {"auto", "staged"},
               {"broadcast", "broadcast-pipelined", "pull", "once", "fused", "cover"});
  Session session("sddmm", command.common);
  const api::MeasuredMatrix matrix = read_matrix(session, command);
  const api::ProductFigures figures =
      session.during("multiplying", [&] { return matrix.sddmm(command.options()); });
  return report(session, command, matrix.order_times(), figures);
}

void add_product_options(CLI::App& command, ProductCommand& options) {
  add_graph_options(command, options.graph);
  add_number(command, "--k", options.product.k, "Columns of the dense matrices (32)", "K", 1,
             kMostColumns);
  add_text(command, "--type", options.product.type, "Storage: float32, float16, bfloat16", "TYPE");
  add_method(command, options.matrix.method);
  add_reorder(command, options.matrix.reorder);
  command.add_flag("--verify", options.product.verify,
                   "Compare with a product in double precision (exit status 4)");
  add_common_options(command, options.common);
}

void add_strategy_options(CLI::App& command, ProductCommand& options) {
  add_text(command, "--strategy", options.product.strategy,
           "How rows come to the ranks that need them: auto, broadcast, "
           "broadcast-pipelined, pull, once, staged, fused, cover; parameters follow as in "
           "pull:ps=64:dist=2:wpb=8, pull:mgg (as MGG's paper has them), "
           "staged:chunks=2:copy=48 (copy: processors of a GPU that copy, of once, fused "
           "and cover, too), once:chunks=2; pull:auto measures which are best, and so do "
           "staged:auto, fused:auto and cover:auto");
  add_number(command, "--workgroup", options.product.workgroup,
             "Ranks of a workgroup, between which links are slow (by the measured links)", "N", 1,
             kMaxRanks);
  command.add_flag("--explain", options.explain,
                   "Of --strategy auto: the ways looked at, with predicted and measured times");
}

}  // namespace

api::ProductOptions ProductCommand::options() const {
  api::ProductOptions options = product;
  options.deterministic = common.deterministic;
  options.repeat = common.repeat;
  return options;
}

void ProductCommand::check() const {
  api::check(options(), ranks_of(common));
  api::check(matrix);
  if (ranks_of(common) > 1) return;
  if (product.strategy.find(':') != std::string::npos)
    log_warning(
        fmt::format("--strategy {}: the parameters have no effect: one rank exchanges nothing",
                    product.strategy));
  warn_without_effect(common, {"--workgroup", "--explain"}, "one rank exchanges nothing");
}

void add_slow_option(CLI::App& command, ProductCommand& options) {
  add_number(command, "--slow", options.product.slow,
             "Move what crosses between workgroups N times, as over a link that is as many times "
             "slower (1)",
             "N", 1, 1000);
}

api::MeasuredMatrix read_matrix(Session& session, const ProductCommand& command) {
  const std::string& strategy = command.product.strategy;
  if (!session.on_gpu() && session.ranks() > 1 && strategy.find("copy=") != strategy.npos)
    log_warning(
        fmt::format("--strategy {}: copy has no effect: this run has no GPU, whose "
                    "processors it counts",
                    strategy));
  const api::GraphPlace input = find_graph(session, command.graph);
  const bool wants_values = !command.graph.weights.empty() || input.is_matrix();
  warren::Graph graph = load_graph(session, input, command.graph, wants_values);
  if (graph.weights_read().are_unread && command.graph.weights.empty()) {
    log_warning(fmt::format("{}: entries are taken as 1; with --weights file they are the weights",
                            command.graph.graph));
  }
  session.warn_of_seed(is_drawn(input, command.graph, wants_values) ||
                       is_drawn(command.matrix.method) || is_drawn(command.matrix.reorder));
  describe_graph(session, command.graph, graph.vertices(), graph.edges());
  session.json()["weighted"] = graph.is_weighted();
  const auto progress = session.progress("preparing");
  api::MatrixOptions options = command.matrix;
  options.seed = session.options().seed;
  options.session = session.library();
  return {std::move(graph), options};
}

Json in_products(double seconds, double product_seconds) {
  return product_seconds > 0.0 ? Json(seconds / product_seconds) : Json(nullptr);
}

void warn_of_overflow(const std::string& type, const api::ProductFigures& figures) {
  if (figures.not_finite == 0) return;
  const std::string cure =
      type == "float16" ? "float16 holds numbers up to 65504, --type bfloat16 and float32 up to "
                          "3.4e38"
                        : type + " holds numbers up to 3.4e38: make the weights smaller";
  log_warning(fmt::format("{} of the result {} no finite numbers: {}",
                          counted(figures.not_finite, "element", "elements"),
                          figures.not_finite == 1 ? "is" : "are", cure));
}

void add_spmm(CLI::App& program, Action& action) {
  const auto [spmm, command] = add_command<ProductCommand>(
      program, action, "spmm", "A sparse matrix times a dense one",
      "Example:\n  warren spmm debian --k 64 --devices 2 --strategy staged --verify", run_spmm);
  add_product_options(spmm, command);
  add_strategy_options(spmm, command);
  add_slow_option(spmm, command);
}

void add_sddmm(CLI::App& program, Action& action) {
  const auto [sddmm, command] = add_command<ProductCommand>(
      program, action, "sddmm",
      "Products of rows of a dense matrix, where a sparse one has entries",
      "Example:\n  warren sddmm debian --k 64 --verify", run_sddmm);
  add_product_options(sddmm, command);
  add_text(sddmm, "--strategy", command.product.strategy,
           "How rows come to the ranks that need them: auto or staged, which are the same");
}

}  // namespace warren::app
