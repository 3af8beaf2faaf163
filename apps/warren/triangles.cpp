// SPDX-License-Identifier: Apache-2.0
// warren triangles: the triangles of an undirected graph.
#include "warren/traverse/triangles.hpp"

#include <memory>

#include "counts.hpp"

namespace warren::app {
namespace {

ExitStatus run_triangles(const CountsCommand& command) {
  return run_counts<traverse::TrianglesResult, std::uint64_t>(
      "triangles", "counting", command, "triangles", plain<traverse::Triangles>,
      [](traverse::Triangles& triangles) { return triangles.all_counts(); },
      traverse::verify_triangles,
      [](Json& json, Table& table, const traverse::TrianglesResult& result) {
        json["triangles"] = result.triangles;
        table.row("triangles", thousands(result.triangles));
      });
}

}  // namespace

void add_triangles(CLI::App& program, Action& action) {
  auto command = std::make_shared<CountsCommand>();
  CLI::App* triangles = add_command(program, "triangles",
                                    "Triangles of an undirected graph, in all and of each vertex");
  add_graph_options(*triangles, command->graph);
  add_traversal_options(*triangles, command->traversal);
  add_common_options(*triangles, command->common);
  triangles->footer(
      "Example:\n  warren triangles debian --symmetrize --verify\n"
      "  warren triangles kron:20 --symmetrize --drop-self-loops --json -");
  triangles->callback(
      [command, &action] { action = [command] { return run_triangles(*command); }; });
}

}  // namespace warren::app
