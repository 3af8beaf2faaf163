// SPDX-License-Identifier: Apache-2.0
// warren core: core numbers.
#include <memory>

#include "warren/traverse/core_numbers.hpp"

#include "counts.hpp"

namespace warren::app {
namespace {

ExitStatus run_core(const CountsCommand& command) {
  return run_counts<traverse::CoreNumbersResult, std::uint32_t>(
      "core", "peeling", command, "core", plain<traverse::CoreNumbers>,
      [](traverse::CoreNumbers& cores) { return cores.all_cores(); },
      [](const graph::Graph& graph, const std::vector<std::uint32_t>& cores, exec::ThreadPool&) {
        return traverse::verify_cores(graph, cores);
      },
      [](Json& json, Table& table, const traverse::CoreNumbersResult& result) {
        json["largest_core"] = result.largest;
        json["innermost"] = result.innermost;
        json["steps"] = result.steps;
        table.row("largest core number",
                  fmt::format("{}, of {}", thousands(result.largest),
                              counted(result.innermost, "vertex", "vertices")));
      });
}

}  // namespace

void add_core(CLI::App& program, Action& action) {
  auto command = std::make_shared<CountsCommand>();
  CLI::App* core = add_command(program, "core",
                               "Core numbers: of each vertex the largest k whose k-core it is in");
  add_graph_options(*core, command->graph);
  add_traversal_options(*core, command->traversal);
  add_common_options(*core, command->common);
  core->footer(
      "Example:\n  warren core debian --verify\n"
      "  warren core kron:20 --symmetrize --drop-self-loops --json -");
  core->callback([command, &action] { action = [command] { return run_core(*command); }; });
}

}  // namespace warren::app
