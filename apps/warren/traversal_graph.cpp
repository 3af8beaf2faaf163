// SPDX-License-Identifier: Apache-2.0
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

WhereOptions where_of(const Session& session, const TraversalOptions& traversal,
                      const std::string& method) {
  WhereOptions where;
  where.mode = traversal.mode_value();
  where.edges = traversal.edges_value();
  where.placement = traversal;
  where.placement.seed = session.options().seed;
  if (traversal.method.empty()) where.placement.method = method;
  where.session = session.library();
  return where;
}

/// Where the lists go that --edges leaves open: to the device, unless the host's memory is too
/// small for all of the graph. Ranks that are processes each read what they need.
Lists lists_of(const Session& session, const TraversalOptions& traversal,
               const GraphWishes& wishes) {
  if (traversal.edges == "file") return Lists::file;
  const std::string& method = traversal.method.empty() ? wishes.method : traversal.method;
  if (wishes.ranges && wants_ranges(method) && traversal.edges != "compressed-host")
    return Lists::ranges;
  const bool is_open = wishes.streams && !wishes.weights && traversal.mode != "async" &&
                       !session.options().is_given("--edges") && traversal.method.empty() &&
                       session.ranks() == 1;
  return is_open ? Lists::fitting : Lists::memory;
}

}  // namespace

void warn_of_cache(const Session& session, const TraversalOptions& traversal) {
  if (session.on_gpu() || traversal.cache.value_or(0) == 0) return;
  warn_without_effect(session.options(), {"--cache"},
                      "this run has no GPU: there is one memory, all of whose lists are counted in "
                      "bytes_read");
}

void add_options(CLI::App& parser, TraversalCommand& command) {
  add_graph_options(parser, command.graph);
  add_traversal_options(parser, command.traversal);
  add_common_options(parser, command.common);
}

TraversalGraph::TraversalGraph(Session& session, const TraversalCommand& command,
                               const GraphWishes& wishes)
    : is_drawn_(false), where_(where_of(session, command.traversal, wishes.method)) {
  const GraphOptions& options = command.graph;
  const TraversalOptions& traversal = command.traversal;
  if (!traversal.output.empty()) session.writes("--output", traversal.output);
  const api::GraphPlace input = find_graph(session, options);
  is_drawn_ = app::is_drawn(input, options, wishes.weights) || app::is_drawn(method());
  warren::ReadOptions read = read_options(session, options, wishes.weights);
  read.no_negative_weights = wishes.range == WeightRange::not_negative;
  read.exact_decimals = wishes.exact_decimals;
  read.draws_late = session.on_gpu();
  read.host_memory = traversal.host_memory;
  read.lists = lists_of(session, traversal, wishes);
  asks_for_ranges_ = read.lists == Lists::ranges;
  graph_ = read_graph(session, input, options, read);
  if (graph_->file() != nullptr) {
    where_.edges = Edges::file;
    where_.placement.method = "ranges";
  }
  names_.emplace(*graph_);
  run_.repeat = session.options().repeat;
  run_.verify = traversal.verify;
  if (where_.edges == Edges::file || !wishes.traversal || !session.chooses_devices()) return;
  session.settle_devices(choose_devices(*graph_, *wishes.traversal, where_));
  where_.devices = session.ranks();
}

void TraversalGraph::describe(Session& session, const TraversalCommand& command) const {
  session.json()["method"] = method();
  describe_reading(session);
  describe_graph(session, command.graph, vertices(), graph_->edges());
}

void TraversalGraph::describe_reading(Session& session) const {
  if (asks_for_ranges_) app::describe_reading(session, *graph_);
}

ResultArrays arrays_of(const Session& session, const TraversalOptions& traversal) {
  const bool are_wanted = session.prints() || !traversal.output.empty();
  return are_wanted ? ResultArrays::host : ResultArrays::none;
}

}  // namespace warren::app
