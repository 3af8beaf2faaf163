// SPDX-License-Identifier: Apache-2.0
// warren bc, core and triangles: a number for each vertex, found by the library, shown and written.
#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "warren/api/top.hpp"
#include "warren/api/traverse.hpp"
#include "warren/core/error.hpp"

#include "command.hpp"
#include "files.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

std::string count_text(std::uint64_t count) { return thousands(count); }
std::string count_text(std::uint32_t count) { return thousands(count); }
std::string count_text(double score) { return fmt::format("{:.6g}", score); }

template <class Count>
void print_largest(Session& session, std::span<const Count> counts, const VertexNames& names,
                   const std::string& heading) {
  session.print("\n{:>12}  vertex\n", heading);
  for (const Vertex v : largest_values(counts, 5))
    session.print("{:>12}  {}\n", count_text(counts[v]), names.name_and_id(v));
}

/// A line a vertex: its id, and the count.
template <class Count>
void write_counts(const std::string& path, std::span<const Count> counts,
                  const VertexNames& names) {
  write_lines(path, counts.size(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v), counts[v]);
  });
}

/// The command, from its options to its end. `call(input)` makes the library's call, whose `values`
/// are shown and written; `tell(result)` sets the JSON fields and adds rows to the table.
template <class Count, class Call, class Values, class Tell>
ExitStatus run_counts(const std::string& name, const std::string& what,
                      const TraversalCommand& command, const std::string& heading, Call&& call,
                      Values&& values, Tell&& tell, bool is_drawn = false) {
  check_traversal_options(command.traversal, false);
  Session session(name, command.common);
  const TraversalGraph input(session, command);
  warn_of_weights(session, name);
  warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || is_drawn);
  session.json()["method"] = input.method();
  const auto result = session.during(what, [&] { return call(input); });
  const std::span<const Count> counts = values(result).host();
  const std::string& output = command.traversal.output;
  if (!output.empty()) write_counts(output, counts, input.names());
  const std::uint64_t edges = input.graph().edges();
  describe_graph(session, command.graph, input.vertices(), edges);
  Json& json = session.json();
  json["seconds"] = result.info.run_seconds;
  if (session.prints()) print_largest(session, counts, input.names(), heading);
  session.print("\n");
  tell(session, result);
  json["top"] = Json::array();
  for (const Vertex v : largest_values(counts, 10))
    json["top"].push_back({input.names().json_id(v), counts[v]});
  json["verified"] = verified(result.info);
  json["mode"] = "sync";
  json["edges_placement"] = command.traversal.edges;
  session.row("time", "{}: {}edges/s ({})", duration(median_seconds(result.info)),
              with_prefix(edge_rate(result.info, static_cast<double>(edges))), session.place());
  add_verified(session, result.info, "by a sequential count");
  session.finish();
  return verification_status(result.info, "the result is wrong");
}

/// Options of a call whose values of all vertices are shown.
template <class Options>
Options counting(const TraversalGraph& input) {
  auto options = input.call<Options>();
  options.run.arrays = ResultArrays::host;
  return options;
}

/// In the command line's words. `what` is what the call finds.
void require_plain_lists(const TraversalCommand& command, const std::string& what) {
  require(command.traversal.edges != "compressed-host",
          what + " cannot walk compressed lists: place the edges on the device or in host memory");
}

struct BetweennessCommand : TraversalCommand {
  std::uint64_t sources = 0;  ///< 0: all vertices.
  bool is_unnormalized = false;
};

ExitStatus run_bc(const BetweennessCommand& command) {
  return run_counts<double>(
      "bc", "searching", command, "score",
      [&](const TraversalGraph& input) {
        require_plain_lists(command, "betweenness");
        auto options = counting<BetweennessOptions>(input);
        options.sample = command.sources;
        options.seed = command.common.seed;
        options.normalized = !command.is_unnormalized;
        return betweenness(input.graph(), options);
      },
      [](const BetweennessResult& result) { return result.score; },
      [&](Session& session, const BetweennessResult& result) {
        Json& json = session.json();
        json["normalized"] = !command.is_unnormalized;
        json["steps"] = result.steps;
        const auto vertices = json["vertices"].get<std::uint64_t>();
        const std::uint64_t sources =
            command.sources == 0 ? vertices : std::min(command.sources, vertices);
        json["sources"] = sources;
        session.row("sources", "{}", sources == vertices ? "all vertices" : thousands(sources));
      },
      command.sources > 0);
}

ExitStatus run_core(const TraversalCommand& command) {
  return run_counts<std::uint32_t>(
      "core", "peeling", command, "core",
      [&](const TraversalGraph& input) {
        require_plain_lists(command, "core numbers");
        return core_numbers(input.graph(), counting<CoreNumbersOptions>(input));
      },
      [](const CoreNumbersResult& result) { return result.core; },
      [](Session& session, const CoreNumbersResult& result) {
        Json& json = session.json();
        json["largest_core"] = result.largest;
        json["innermost"] = result.innermost;
        json["steps"] = result.steps;
        session.row("largest core number", "{}, of {}", thousands(result.largest),
                    counted(result.innermost, "vertex", "vertices"));
      });
}

ExitStatus run_triangles(const TraversalCommand& command) {
  return run_counts<std::uint64_t>(
      "triangles", "counting", command, "triangles",
      [&](const TraversalGraph& input) {
        require(input.graph().is_symmetric(),
                "triangles are counted in undirected graphs: --symmetrize makes one of this");
        require_plain_lists(command, "triangles");
        return triangles(input.graph(), counting<TrianglesOptions>(input));
      },
      [](const TrianglesResult& result) { return result.count; },
      [](Session& session, const TrianglesResult& result) {
        Json& json = session.json();
        json["triangles"] = result.triangles;
        session.row("triangles", "{}", thousands(result.triangles));
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
  add_number(bc, "--sources", command.sources,
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
