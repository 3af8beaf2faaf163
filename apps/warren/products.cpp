// SPDX-License-Identifier: Apache-2.0
// warren spmm: the product of a graph's matrix and a dense one. warren sddmm: products of the rows
// of a dense matrix, where a graph has edges.
#include "products.hpp"

#include <functional>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

#include "option_rules.hpp"

namespace warren::app {
namespace {

/// Runs and times what multiply(matrix, options) does, and tells it.
template <class Multiply>
ExitStatus run(const std::string& name, const ProductCommand& command, Multiply&& multiply) {
  Session session(name, command.common);
  command.warn(session);
  const api::MeasuredMatrix matrix = read_matrix(session, command, true);
  const api::ProductFigures figures =
      session.during("multiplying", [&] { return multiply(matrix, command.options()); });
  const api::ProductReport told = report_of(session, command, matrix, figures);
  const bool is_right = !command.product.verify || figures.is_right;
  return session.end(to_json(told), to_text(told),
                     is_right
                         ? ""
                         : fmt::format("the product is off by {:.3g} of |A||B|; {} allows {:.3g}",
                                       figures.error, command.product.type, figures.tolerance));
}

ExitStatus run_spmm(const ProductCommand& command) {
  command.check();
  return run("spmm", command, std::mem_fn(&api::MeasuredMatrix::spmm));
}

ExitStatus run_sddmm(const ProductCommand& command) {
  command.check();
  check_choice("--strategy", command.product.strategy, {"auto", "staged"},
               {"broadcast", "broadcast-pipelined", "pull", "once", "fused", "cover"});
  return run("sddmm", command, std::mem_fn(&api::MeasuredMatrix::sddmm));
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
}

void ProductCommand::warn(const Session& session) const {
  const std::string unused =
      api::strategy_warning(product.strategy, session.ranks(), session.on_gpu());
  if (!unused.empty()) log_warning(unused);
  if (session.ranks() == 1)
    warn_without_effect(common, {"--workgroup", "--explain"}, "one rank exchanges nothing");
}

void add_slow_option(CLI::App& command, ProductCommand& options) {
  add_number(command, "--slow", options.product.slow,
             "Move what crosses between workgroups N times, as over a link that is as many times "
             "slower (1)",
             "N", 1, 1000);
}

api::MeasuredMatrix read_matrix(Session& session, const ProductCommand& command, bool by_ranges) {
  const api::GraphPlace input = find_graph(session, command.graph);
  const bool wants_values = !command.graph.weights.empty() || input.is_matrix();
  warren::ReadOptions read = read_options(session, command.graph, wants_values);
  const bool asks_for_ranges =
      by_ranges && wants_ranges(command.matrix.method) && command.matrix.reorder == "none";
  if (asks_for_ranges) read.lists = Lists::ranges;
  warren::Graph graph = load_graph(session, input, command.graph, read);
  if (graph.weights_read().are_unread && command.graph.weights.empty()) {
    log_warning(fmt::format("{}: entries are taken as 1; with --weights file they are the weights",
                            command.graph.graph));
  }
  session.warn_of_seed(is_drawn(input, command.graph, wants_values) ||
                       is_drawn(command.matrix.method) || is_drawn(command.matrix.reorder));
  const bool is_weighted = graph.is_weighted();
  if (asks_for_ranges) describe_reading(session, graph);
  // How many edges there are, ranks that draw know when they have drawn.
  const bool is_counted = !graph.is_read_by_ranges();
  if (is_counted) describe_graph(session, command.graph, graph.vertices(), graph.edges());
  const auto progress = session.progress("preparing");
  api::MatrixOptions options = command.matrix;
  options.seed = session.options().seed;
  options.session = session.library();
  api::MeasuredMatrix matrix(std::move(graph), options);
  if (!is_counted) describe_graph(session, command.graph, matrix.vertices(), matrix.edges());
  session.json()["weighted"] = is_weighted;
  return matrix;
}

api::ProductReport report_of(const Session& session, const ProductCommand& command,
                             const api::MeasuredMatrix& matrix,
                             const api::ProductFigures& figures) {
  api::ProductReport report{session.ran(),        command.matrix, command.options(),
                            matrix.order_times(), figures,        command.explain};
  const std::string warning = api::overflow_warning(report);
  if (!warning.empty()) log_warning(warning);
  return report;
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
