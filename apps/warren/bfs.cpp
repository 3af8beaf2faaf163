// SPDX-License-Identifier: Apache-2.0
// warren bfs: breadth-first search from one vertex or several.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warren/api/traverse.hpp"
#include "warren/core/error.hpp"

#include "command.hpp"
#include "files.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "search_input.hpp"
#include "session.hpp"
#include "text.hpp"
#include "vertex_names.hpp"

namespace warren::app {
namespace {

/// One source's search.
struct BfsOutcome {
  Vertex source = 0;
  BfsResult result;

  /// Edges a second of the median run.
  [[nodiscard]] double teps() const {
    return edge_rate(result.info, static_cast<double>(result.figures.traversed_edges));
  }
};

constexpr std::size_t kLevelsShown = 16;
constexpr std::size_t kLevelsTold = 65536;  // In the JSON.
constexpr std::size_t kNamesShown = 5;

struct Level {
  std::uint64_t count = 0;
  std::string names;  // Of the first few vertices.
};

std::vector<Level> levels_of(const BfsResult& result, const VertexNames& names) {
  std::vector<Level> levels(std::size_t{result.max_depth} + 1);
  const std::span<const Vertex> depth = result.depth.host();
  for (std::size_t v = 0; v < depth.size(); ++v) {
    if (depth[v] == kNoVertex) continue;
    Level& level = levels.at(depth[v]);
    ++level.count;
    if (!names.has_names() || level.count > kNamesShown + 1) continue;
    const bool is_over = level.count > kNamesShown;
    if (level.count > 1) level.names += is_over ? ", ..." : ", ";
    if (!is_over) level.names += names.name(static_cast<Vertex>(v));
  }
  return levels;
}

/// The fields of one outcome.
void set_fields(Json& json, const BfsOutcome& outcome, const VertexNames& names) {
  const BfsResult& result = outcome.result;
  json["source"] = names.json_id(outcome.source);
  if (names.has_names()) json["source_name"] = names.name(outcome.source);
  json["reached"] = result.reached;
  json["max_depth"] = result.max_depth;
  json["level_ranks"] = result.level_ranks;
  json["sum_depth"] = result.figures.sum_depth;
  if (!result.levels.empty() && result.levels.size() <= kLevelsTold) json["levels"] = result.levels;
  json["traversed_edges"] = result.figures.traversed_edges;
  json["teps"] = outcome.teps();
  json["verified"] = verified(result.info);
}

/// The text for people.
void print_outcome(Session& session, const BfsOutcome& outcome, const VertexNames& names) {
  if (!session.prints()) return;
  const BfsResult& result = outcome.result;
  if (!result.depth.empty()) {
    session.print("\ndepth  vertices\n");
    const std::vector<Level> levels = levels_of(result, names);
    for (std::size_t d = 0; d < levels.size(); ++d) {
      if (levels.size() > kLevelsShown && d == kLevelsShown - 2) {
        session.print("  ...  ({} levels more)\n", levels.size() - kLevelsShown + 1);
        d = levels.size() - 1;
      }
      session.print("{:>5}  {:>8}{}{}\n", d, thousands(levels[d].count),
                    levels[d].names.empty() ? "" : "  ", levels[d].names);
    }
    session.print("\n");
  }
  const double mean =
      static_cast<double>(result.figures.sum_depth) / static_cast<double>(result.reached);
  session.row("reached", "{} of {} ({}), mean depth {:.2f}, largest {}", thousands(result.reached),
              counted(names.vertices(), "vertex", "vertices"),
              percent(result.reached, names.vertices()), mean, result.max_depth);
  if (result.level_ranks == 1 && result.info.devices > 1)
    session.row("levels", "run by the first rank, on a copy of all lists");
  session.row("time", "{} for {}: {}edges/s ({})", duration(median_seconds(result.info)),
              counted(result.figures.traversed_edges, "edge", "edges"), with_prefix(outcome.teps()),
              session.place());
  add_verified(session, result.info, "by the Graph500 rules");
}

/// A line for every vertex: id, depth, parent; -1 where it was not reached.
void write_bfs(const std::string& path, const BfsOutcome& outcome, const VertexNames& names) {
  const std::span<const Vertex> depth = outcome.result.depth.host();
  const std::span<const Vertex> parent = outcome.result.parent.host();
  write_lines(path, depth.size(), [&](std::string& lines, Vertex v) {
    if (depth[v] == kNoVertex) {
      fmt::format_to(std::back_inserter(lines), "{} -1 -1\n", names.id_text(v));
    } else {
      fmt::format_to(std::back_inserter(lines), "{} {} {}\n", names.id_text(v), depth[v],
                     names.id_text(parent[v]));
    }
  });
}

/// The fields and the table of --together.
void report(Session& session, const BfsTogetherResult& result, const std::string& placement,
            const VertexNames& names) {
  Json& json = session.json();
  json["seconds"] = result.info.run_seconds;
  json["mode"] = "sync";
  json["edges_placement"] = placement;
  json["sources"] = Json::array();
  for (const BfsReach& reach : result.reach) {
    json["sources"].push_back({{"source", names.json_id(reach.source)},
                               {"reached", reach.reached},
                               {"max_depth", reach.max_depth},
                               {"sum_depth", reach.sum_depth}});
  }
  json["verified"] = verified(result.info);
  set_bytes_between_hosts(json, result.info.bytes_between_hosts);
  session.print("\n{:>12}  {:>12}  {:>9}\n", "source", "reached", "max depth");
  for (const BfsReach& reach : result.reach) {
    session.print("{:>12}  {:>12}  {:>9}\n", names.id_text(reach.source), thousands(reach.reached),
                  reach.max_depth);
  }
  session.print("\n");
  session.row("time", "{} for all {} together ({})", duration(median_seconds(result.info)),
              result.reach.size(), session.place());
  if (result.info.verdict)
    session.row("verified", "{}",
                result.info.verdict->correct ? "yes, by one search at a time" : "NO");
}

struct BfsCommand : TraversalCommand {
  SearchOptions search;
  std::optional<std::uint32_t> depth_limit;
  bool together = false;

  [[nodiscard]] bool is_limited() const { return depth_limit || !search.targets.empty(); }
};

/// From each source alone; what is shown of single vertices is told of the first.
std::vector<BfsOutcome> search(const BfsCommand& command, const Session& session,
                               const TraversalGraph& input, const std::vector<Vertex>& sources) {
  const bool writes = !command.traversal.output.empty();
  auto options = input.call<BfsOptions>();
  options.depth_limit = command.depth_limit;
  options.targets = find_targets(command.search, input.names());
  options.figures = true;
  std::vector<BfsOutcome> outcomes;
  for (const Vertex source : sources) {
    const bool is_first = outcomes.empty();
    options.source = source;
    options.run.warm_up = is_first;
    options.levels = is_first && (session.prints() || !command.common.json.empty());
    options.run.arrays =
        is_first && (session.prints() || writes) ? ResultArrays::host : ResultArrays::none;
    options.deterministic = is_first && writes && command.common.deterministic;
    outcomes.push_back({source, bfs(input.graph(), options)});
  }
  return outcomes;
}

void set_json(Json& json, const std::vector<BfsOutcome>& outcomes, const TraversalGraph& input,
              const VertexNames& names) {
  json["seconds"] = all_seconds(outcomes);
  set_fields(json, outcomes.front(), names);
  const RunInfo& info = outcomes.front().result.info;
  set_mode_fields(json, info);
  input.set_placement(json);
  set_byte_fields(json, info);
}

void set_sources(Json& json, const std::vector<BfsOutcome>& outcomes, const VertexNames& names) {
  json["sources"] = Json::array();
  for (const BfsOutcome& outcome : outcomes) {
    Json fields = Json::object();
    set_fields(fields, outcome, names);
    fields["seconds"] = outcome.result.info.run_seconds;
    json["sources"].push_back(fields);
  }
}

void print_sources(Session& session, const std::vector<BfsOutcome>& outcomes,
                   const VertexNames& names) {
  session.print("\n{:>12}  {:>12}  {:>9}  {:>12}  {:>14}\n", "source", "reached", "max depth",
                "time", "edges/s");
  for (const BfsOutcome& outcome : outcomes) {
    session.print("{:>12}  {:>12}  {:>9}  {:>12}  {:>14}\n", names.id_text(outcome.source),
                  thousands(outcome.result.reached), outcome.result.max_depth,
                  duration(median_seconds(outcome.result.info)), with_prefix(outcome.teps()));
  }
}

ExitStatus run_together(Session& session, const BfsCommand& command, const TraversalGraph& input) {
  auto options = input.call<BfsTogetherOptions>();
  const BfsTogetherResult result = session.during("searching", [&] {
    options.sources = find_sources(input, command.search, command.common.seed);
    return bfs_together(input.graph(), options);
  });
  const VertexNames& names = input.names();
  describe_graph(session, command.graph, input.vertices(), input.graph().edges());
  report(session, result, command.traversal.edges, names);
  session.finish();
  return verification_status(result.info);
}

ExitStatus run_bfs(const BfsCommand& command) {
  check_traversal_options(command.traversal, true, !command.together);
  require(!command.together || (command.search.sources > 0 && !command.is_limited() &&
                                command.traversal.output.empty()),
          "--together searches from --sources N at once, and has no --output, --depth-limit or "
          "--target");
  require(!command.together || command.traversal.mode != "async",
          "--together has no asynchronous form");
  Session session("bfs", command.common);
  const std::string& output = command.traversal.output;
  const TraversalGraph input(session, command,
                             {.traversal = traverse::Traversal::bfs, .streams = !command.together});
  warn_of_weights(session, "breadth-first search");
  if (command.traversal.mode == "async") warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || command.search.sources > 0);
  session.json()["method"] = input.method();
  const VertexNames& names = input.names();
  check_search(command.search, command.traversal.mode,
               command.depth_limit ? "--depth-limit" : nullptr, names);
  if (command.together) return run_together(session, command, input);
  const std::vector<BfsOutcome> outcomes = session.during("searching", [&] {
    return search(command, session, input,
                  find_sources(input, command.search, command.common.seed));
  });
  const BfsOutcome& first = outcomes.front();
  if (!output.empty()) write_bfs(output, first, names);
  describe_graph(session, command.graph, input.vertices(), input.graph().edges());
  set_json(session.json(), outcomes, input, names);
  if (command.depth_limit) session.json()["depth_limit"] = *command.depth_limit;
  set_targets(session.json(), command.search, names);
  if (command.search.sources > 0) {
    set_sources(session.json(), outcomes, names);
    print_sources(session, outcomes, names);
  }
  session.print("breadth-first search from {}{}\n", names.name_and_id(first.source),
                command.search.why_source());
  print_outcome(session, first, names);
  input.print_placement(session, first.result.info);
  session.print("{}\n", mode_text(first.result.info));
  session.finish();
  return verification_status(outcomes, names);
}

}  // namespace

void add_bfs(CLI::App& program, Action& action) {
  const auto [bfs, command] = add_command<BfsCommand>(
      program, action, "bfs", "Breadth-first search, along the edges' direction",
      "Example:\n  warren bfs debian --source git --verify\n"
      "  warren bfs kron:20 --symmetrize --drop-self-loops --sources 16 --json -",
      run_bfs);
  add_search_options(bfs, command.search);
  add_number(bfs, "--depth-limit", command.depth_limit, "Search no farther than this", "D", 0,
             kMaxVertices - 1);
  bfs.add_flag("--together", command.together,
               "All --sources in one pass over the graph, 64 at a time");
  add_options(bfs, command);
}

}  // namespace warren::app
