// SPDX-License-Identifier: Apache-2.0
// warren partition: what a way of cutting a graph over ranks costs.
#include "warren/graph/partition.hpp"

#include <memory>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "option_rules.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

struct PartitionCommand {
  CommonOptions common;
  GraphOptions graph;
  int parts = 2;
  std::string method = "ranges";
  int workgroup = 0;
};

ExitStatus run_partition(const PartitionCommand& command) {
  check_method(command.method);
  const int workgroup = command.workgroup == 0 ? command.parts : command.workgroup;
  graph::check_workgroup(workgroup, command.parts);
  Session session("partition", command.common);
  const GraphInput input = find_graph(session, command.graph);
  const graph::Graph graph = load_graph(session, input, command.graph, false);
  session.runs_on_host_threads();
  warn_of_weights(session, "partition");
  session.warn_of_seed(is_drawn(input, command.graph, false) || is_drawn(command.method));

  auto progress = session.progress("partitioning");
  const auto cut = [&] {
    return graph::make_partition(graph, command.method, command.parts, command.common.seed);
  };
  graph::Partition partition = cut();
  std::vector<double> seconds;
  for (int run = 0; run < command.common.repeat; ++run) {
    const TraceSpan span("partition", 0);
    const double begin = now_seconds();
    partition = cut();
    seconds.push_back(now_seconds() - begin);
  }
  const auto quality =
      graph::partition_quality(graph, partition, session.pool(), {workgroup, true});
  progress.reset();

  describe_graph(session, command.graph, graph.vertices, graph.edges());
  Json& json = session.json();
  json["seconds"] = seconds;
  json["parts"] = command.parts;
  json["method"] = command.method;
  json["cut_edges"] = quality.cut_edges;
  json["halo_rows"] = quality.halo_rows;
  json["imbalance"] = quality.imbalance;
  json["workgroup"] = workgroup;
  json["volume"] = rows_json(quality.moved);
  json["volume_between_workgroups"] = rows_json(quality.between);

  Table table;
  table.row("method",
            fmt::format("{}, {} in {}", command.method,
                        counted(static_cast<std::uint64_t>(command.parts), "part", "parts"),
                        duration(median(seconds))));
  table.row("cut edges", fmt::format("{} ({})", thousands(quality.cut_edges),
                                     percent(quality.cut_edges, graph.edges())));
  table.row("imbalance",
            fmt::format("{:.3f} (edges of the fullest part over the mean)", quality.imbalance));
  table.row("rows moved", "in one product with the matrix, summed over ranks:");
  table.row("  broadcast", thousands(quality.moved.broadcast));
  table.row("  per edge", thousands(quality.moved.per_edge));
  table.row("  once", fmt::format("{} (the halo)", thousands(quality.moved.once)));
  table.row("  fused",
            fmt::format("{} in workgroups of {}", thousands(quality.moved.fused), workgroup));
  table.row("  cover", thousands(quality.moved.cover));
  session.print("\n{}", table.text());
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_partition(CLI::App& program, Action& action) {
  auto command = std::make_shared<PartitionCommand>();
  CLI::App* partition =
      add_command(program, "partition", "Cut a graph into parts, and what that costs");
  add_graph_options(*partition, command->graph);
  add_number(*partition, "--parts", command->parts, "How many parts (2)", "P", 1, kMaxRanks);
  partition
      ->add_option(
          "--method", command->method,
          "ranges (of about equal edges), random (a permutation, then equal ranges), degree "
          "(dealt out by descending degree), rabbit (communities together, then ranges), metis "
          "(few cut edges)")
      ->type_name("NAME");
  add_number(*partition, "--workgroup", command->workgroup,
             "Ranks of a workgroup, for the volumes of fused (all)", "N", 1, kMaxRanks);
  add_common_options(*partition, command->common);
  partition->footer("Example:\n  warren partition debian --parts 4 --method ranges");
  partition->callback(
      [command, &action] { action = [command] { return run_partition(*command); }; });
}

}  // namespace warren::app
