// SPDX-License-Identifier: Apache-2.0
// warren partition: what a way of cutting a graph over ranks costs.
#include "warren/api/partition.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

struct PartitionCommand {
  CommonOptions common;
  GraphOptions graph;
  PartitionOptions partition;
};

ExitStatus run_partition(const PartitionCommand& command) {
  PartitionOptions options = command.partition;
  check_method(options.method);
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
  Json& json = session.json();
  json["seconds"] = result.run_seconds;
  json["parts"] = options.parts;
  json["method"] = options.method;
  json["cut_edges"] = result.cut_edges;
  json["halo_rows"] = result.halo_rows;
  json["imbalance"] = result.imbalance;
  json["workgroup"] = options.workgroup;
  json["volume"] = rows_json(result.volume);
  json["volume_between_workgroups"] = rows_json(result.between);

  session.print("\n");
  session.row("method", "{}, {} in {}", options.method,
              counted(static_cast<std::uint64_t>(options.parts), "part", "parts"),
              duration(median(result.run_seconds)));
  session.row("cut edges", "{} ({})", thousands(result.cut_edges),
              percent(result.cut_edges, graph.edges()));
  session.row("imbalance", "{:.3f} (edges of the fullest part over the mean)", result.imbalance);
  session.row("rows moved", "in one product with the matrix, summed over ranks:");
  session.row("  broadcast", "{}", thousands(result.volume.broadcast));
  session.row("  per edge", "{}", thousands(result.volume.per_edge));
  session.row("  once", "{} (the halo)", thousands(result.volume.once));
  session.row("  fused", "{} in workgroups of {}", thousands(result.volume.fused),
              options.workgroup);
  session.row("  cover", "{}", thousands(result.volume.cover));
  session.finish();
  return ExitStatus::done;
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
