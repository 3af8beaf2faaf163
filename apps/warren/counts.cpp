// SPDX-License-Identifier: Apache-2.0
// warren bc, core and triangles: a number for each vertex.
#include <string>

#include "warren/core/error.hpp"

#include "option_rules.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

/// The command, from its options to its end: find(graph, options) makes the library's call, by what
/// the algorithm takes.
template <class Options, class Find>
ExitStatus run_counts(const std::string& name, const std::string& what,
                      const TraversalCommand& command, const Options& algorithm, bool is_drawn,
                      Find&& find) {
  check_traversal_options(command.traversal, false);
  Session session(name, command.common);
  const TraversalGraph input(session, command);
  warn_of_weights(session, name);
  warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || is_drawn);
  Options options = input.call(algorithm);
  options.run.arrays = ResultArrays::host;
  const auto result = session.during(what, [&] { return find(input.graph(), options); });
  std::string json;
  if constexpr (requires { to_json(input.names(), options, result); })
    json = to_json(input.names(), options, result);
  else
    json = to_json(input.names(), result);
  return tell(session, command, input, result, json, "the result is wrong");
}

struct BetweennessCommand : TraversalCommand {
  BetweennessOptions options;  ///< What the algorithm takes; where it runs is left out.
  bool is_unnormalized = false;
};

ExitStatus run_bc(const BetweennessCommand& command) {
  BetweennessOptions algorithm = command.options;
  algorithm.seed = command.common.seed;
  algorithm.normalized = !command.is_unnormalized;
  return run_counts("bc", "searching", command, algorithm, algorithm.sample > 0, betweenness);
}

ExitStatus run_core(const TraversalCommand& command) {
  return run_counts("core", "peeling", command, CoreNumbersOptions{}, false, core_numbers);
}

ExitStatus run_triangles(const TraversalCommand& command) {
  return run_counts(
      "triangles", "counting", command, TrianglesOptions{}, false,
      [&](const warren::Graph& graph, const TrianglesOptions& options) {
        require(graph.is_symmetric(),
                "triangles are counted in undirected graphs: --symmetrize makes one of this");
        return triangles(graph, options);
      });
}

}  // namespace

void add_bc(CLI::App& program, Action& action) {
  const auto [bc, command] = add_command<BetweennessCommand>(
      program, action, "bc",
      "Betweenness centrality: the part of the shortest paths that lead through each vertex",
      "Example:\n  warren bc debian --sources 64 --verify\n"
      "  warren bc kron:16 --symmetrize --drop-self-loops --sources 256 --json -",
      run_bc);
  add_number(bc, "--sources", command.options.sample,
             "Search from N random vertices, by --seed (default: from all, which is exact)", "N", 1,
             kMaxVertices);
  bc.add_flag("--unnormalized", command.is_unnormalized,
              "Sums over pairs, in place of parts of (n - 1) (n - 2)");
  add_options(bc, command);
}

void add_core(CLI::App& program, Action& action) {
  const auto [core, command] = add_command<TraversalCommand>(
      program, action, "core", "Core numbers: of each vertex the largest k whose k-core it is in",
      "Example:\n  warren core debian --verify\n"
      "  warren core kron:20 --symmetrize --drop-self-loops --json -",
      run_core);
  add_options(core, command);
}

void add_triangles(CLI::App& program, Action& action) {
  const auto [triangles, command] = add_command<TraversalCommand>(
      program, action, "triangles", "Triangles of an undirected graph, in all and of each vertex",
      "Example:\n  warren triangles debian --symmetrize --verify\n"
      "  warren triangles kron:20 --symmetrize --drop-self-loops --json -",
      run_triangles);
  add_options(triangles, command);
}

}  // namespace warren::app
