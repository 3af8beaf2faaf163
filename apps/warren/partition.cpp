// SPDX-License-Identifier: Apache-2.0
// warren partition: what a way of cutting a graph over ranks costs.
#include "warren/api/checks.hpp"
#include "warren/api/report.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

struct PartitionCommand : GraphCommand {
  PartitionOptions partition;
};

ExitStatus run_partition(const PartitionCommand& command) {
  PartitionOptions options = command.partition;
  api::check_method(options.method);
  if (options.workgroup == 0) options.workgroup = options.parts;
  graph::check_workgroup(options.workgroup, options.parts);
  Session session("partition", command.common);
  const api::GraphPlace input = find_graph(session, command.graph);
  const warren::Graph graph = load_graph(session, input, command.graph, false);
  session.runs_on_host_threads();
  warn_of_weights(session, "partition");
  session.warn_of_seed(is_drawn(input, command.graph, false) || is_drawn(options.method));

  options.with_parts = false;
  if (is_drawn(options.method)) options.seed = command.common.seed;
  options.repeat = command.common.repeat;
  options.session = session.library();
  const PartitionResult result =
      session.during("partitioning", [&] { return partition(graph, options); });

  describe_graph(session, command.graph, graph.vertices(), graph.edges());
  return session.end(to_json(graph, options, result), to_text(graph, options, result));
}

}  // namespace

void add_partition(CLI::App& program, Action& action) {
  const auto [partition, command] = add_command<PartitionCommand>(
      program, action, "partition", "Cut a graph into parts, and what that costs",
      "Example:\n  warren partition debian --parts 4 --method ranges", run_partition);
  add_graph_options(partition, command.graph);
  add_number(partition, "--parts", command.partition.parts, "How many parts (2)", "P", 1,
             graph::kMaxParts);
  add_text(partition, "--method", command.partition.method,
           "ranges (of about equal edges), random (a permutation, then equal ranges), degree "
           "(dealt out by descending degree), rabbit (communities together, then ranges), metis "
           "(few cut edges)");
  add_number(partition, "--workgroup", command.partition.workgroup,
             "Ranks of a workgroup, for the volumes of fused (all)", "N", 1, graph::kMaxParts);
  add_common_options(partition, command.common);
}

}  // namespace warren::app
