// SPDX-License-Identifier: Apache-2.0
// warren sssp: shortest paths from one vertex or several.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>

#include "warren/api/top.hpp"
#include "warren/api/traverse.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

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
struct SsspOutcome {
  Vertex source = 0;
  std::string first_rounded;  ///< As graph::WeightReport has it.
  double rounding = 0.0;      ///< As graph::WeightReport has it.
  SsspResult result;
  std::span<const std::int64_t> distance;  ///< The result's, in host memory; of integers.
  std::span<const double> real_distance;

  [[nodiscard]] bool has_distances() const { return !distance.empty() || !real_distance.empty(); }
  [[nodiscard]] bool reached(Vertex v) const {
    return result.is_integer ? distance[v] >= 0 : std::isfinite(real_distance[v]);
  }
  /// A real distance in the file's units.
  [[nodiscard]] double in_units(double value) const { return value / result.scale; }
  /// Of a reached vertex, as text.
  [[nodiscard]] std::string distance_text(Vertex v) const;
  /// Edges a second of the median run.
  [[nodiscard]] double teps() const {
    return edge_rate(result.info, static_cast<double>(result.figures.traversed_edges));
  }
};

constexpr std::size_t kPathsShown = 5;

/// The reached vertices of the largest distances, ties by id.
std::vector<Vertex> farthest(const SsspOutcome& outcome) {
  const auto is_reached = [&](Vertex v) { return outcome.reached(v); };
  return outcome.result.is_integer ? largest_values(outcome.distance, kPathsShown, is_reached)
                                   : largest_values(outcome.real_distance, kPathsShown, is_reached);
}

bool has_whole_distances(const SsspOutcome& outcome) {
  return outcome.result.is_integer && outcome.result.scale == 1;
}

std::string largest_text(const SsspOutcome& outcome) {
  return has_whole_distances(outcome)
             ? thousands(outcome.result.figures.max_distance)
             : fmt::format("{:.6g}", outcome.in_units(outcome.result.figures.max_real_distance));
}

/// An integer that is `scale` times what is meant, a power of ten, as a decimal number.
std::string decimal_text(std::uint64_t distance, std::int32_t scale) {
  const auto unit = static_cast<std::uint64_t>(scale);
  std::string text = std::to_string(distance / unit);
  const std::uint64_t rest = distance % unit;
  if (rest == 0) return text;
  std::string digits = std::to_string(unit + rest).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

__extension__ using Wide = unsigned __int128;
Wide sum_of(const SsspFigures& result) {
  return Wide{result.sum_distance_high} << 64 | result.sum_distance;
}

/// JSON's numbers end where 64 bits do for many readers: a longer sum is text, in a field of its
/// own.
void set_sum(Json& json, const SsspFigures& result) {
  if (result.sum_distance_high == 0) {
    json["sum_distance"] = result.sum_distance;
    return;
  }
  json["sum_distance"] = nullptr;
  json["sum_distance_reason"] = "past 2^64 - 1: sum_distance_text has it in full";
  json["sum_distance_text"] = fmt::format("{}", sum_of(result));
}

std::string SsspOutcome::distance_text(Vertex v) const {
  return result.is_integer ? decimal_text(static_cast<std::uint64_t>(distance[v]), result.scale)
                           : fmt::format("{}", real_distance[v]);
}

/// The fields of one outcome.
void set_fields(Json& json, const SsspOutcome& outcome, const VertexNames& names) {
  const SsspFigures& figures = outcome.result.figures;
  json["source"] = names.json_id(outcome.source);
  if (names.has_names()) json["source_name"] = names.name(outcome.source);
  json["reached"] = outcome.result.reached;
  if (has_whole_distances(outcome)) {
    json["max_distance"] = figures.max_distance;
    set_sum(json, figures);
  } else if (outcome.result.is_integer) {
    json["max_distance"] = outcome.in_units(static_cast<double>(figures.max_distance));
    json["sum_distance"] = outcome.in_units(static_cast<double>(sum_of(figures)));
  } else {
    json["max_distance"] = figures.max_real_distance;
    json["sum_distance"] = figures.sum_real_distance;
  }
  json["weights_rounded"] =
      outcome.first_rounded.empty() ? Json(nullptr) : Json(outcome.first_rounded);
  json["delta"] = outcome.in_units(figures.delta);
  json["relaxed_edges"] = figures.relaxed_edges;
  json["traversed_edges"] = figures.traversed_edges;
  json["teps"] = outcome.teps();
  // The conditions hold of the weights as they are held; those of the file make distances that
  // differ by no more than the weights do.
  constexpr double kOfSums = 1e-15;  // And by what sums in double precision are off.
  json["verified_within"] = outcome.result.info.verdict
                                ? Json(outcome.rounding == 0.0 ? 0.0 : outcome.rounding + kOfSums)
                                : Json(nullptr);
  json["verified"] = verified(outcome.result.info);
}

/// The text for people.
void print_outcome(Session& session, const SsspOutcome& outcome, const VertexNames& names) {
  if (!session.prints()) return;
  const SsspResult& result = outcome.result;
  const SsspFigures& figures = result.figures;
  if (outcome.has_distances()) {
    session.print("\n{:>16}  the farthest\n", "distance");
    for (const Vertex v : farthest(outcome))
      session.print("{:>16}  {}\n", outcome.distance_text(v), names.name_and_id(v));
    session.print("\n");
  }
  session.row("reached", "{} of {} ({}), mean distance {:.6g}, largest {}",
              thousands(result.reached), counted(names.vertices(), "vertex", "vertices"),
              percent(result.reached, names.vertices()),
              outcome.in_units(figures.sum_real_distance) / static_cast<double>(result.reached),
              largest_text(outcome));
  const double looks = static_cast<double>(figures.relaxed_edges) /
                       static_cast<double>(std::max<std::uint64_t>(1, figures.edges));
  session.row("work", "{} steps with bins of {:.4g}, each edge looked at {:.2f} times",
              thousands(figures.steps), outcome.in_units(figures.delta), looks);
  session.row("time", "{} for {}: {}edges/s ({})", duration(median_seconds(result.info)),
              counted(figures.traversed_edges, "edge", "edges"), with_prefix(outcome.teps()),
              session.place());
  const std::string of_what =
      outcome.first_rounded.empty()
          ? ""
          : fmt::format(
                ", of weights rounded to float32: distances by the file's own differ by {:.2g} of "
                "their size at most",
                outcome.rounding);
  add_verified(session, result.info, "by the edge conditions" + of_what);
}

/// A line for every vertex: id, distance; -1 where it was not reached.
void write_sssp(const std::string& path, const SsspOutcome& outcome, const VertexNames& names) {
  write_lines(path, names.vertices(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v),
                   outcome.reached(v) ? outcome.distance_text(v) : "-1");
  });
}

struct SsspCommand : TraversalCommand {
  SearchOptions search;
  std::optional<double> cutoff;
  std::optional<double> delta;
};

/// From each source alone; what is shown of single vertices is told of the first.
std::vector<SsspOutcome> search(const SsspCommand& command, const Session& session,
                                const TraversalGraph& input, const std::vector<Vertex>& sources) {
  auto options = input.call<SsspOptions>();
  options.delta = command.delta.value_or(0.0);
  options.cutoff = command.cutoff;
  options.targets = find_targets(command.search, input.names());
  options.figures = true;
  const graph::WeightReport& weights = input.graph().weights_read();
  std::vector<SsspOutcome> outcomes;
  for (const Vertex source : sources) {
    const bool is_shown =
        outcomes.empty() && (session.prints() || !command.traversal.output.empty());
    options.source = source;
    options.run.warm_up = outcomes.empty();
    options.run.arrays = is_shown ? ResultArrays::host : ResultArrays::none;
    const SsspResult result = sssp(input.graph(), options);
    outcomes.push_back({source, weights.first_rounded, weights.rounding, result,
                        result.distance.host(), result.real_distance.host()});
  }
  return outcomes;
}

void set_json(Json& json, const std::vector<SsspOutcome>& outcomes, const std::string& placement,
              const VertexNames& names, bool several) {
  json["seconds"] = all_seconds(outcomes);
  set_fields(json, outcomes.front(), names);
  const RunInfo& info = outcomes.front().result.info;
  set_mode_fields(json, info);
  json["edges_placement"] = placement;
  set_byte_fields(json, info);
  if (!several) return;
  json["sources"] = Json::array();
  for (const SsspOutcome& outcome : outcomes) {
    Json fields = Json::object();
    set_fields(fields, outcome, names);
    fields["seconds"] = outcome.result.info.run_seconds;
    json["sources"].push_back(fields);
  }
}

void print_sources(Session& session, const std::vector<SsspOutcome>& outcomes,
                   const VertexNames& names) {
  session.print("\n{:>12}  {:>12}  {:>14}  {:>12}  {:>14}\n", "source", "reached", "max distance",
                "time", "edges/s");
  for (const SsspOutcome& outcome : outcomes) {
    session.print("{:>12}  {:>12}  {:>14.6g}  {:>12}  {:>14}\n", names.id_text(outcome.source),
                  thousands(outcome.result.reached),
                  outcome.in_units(outcome.result.figures.max_real_distance),
                  duration(median_seconds(outcome.result.info)), with_prefix(outcome.teps()));
  }
}

/// Before the work begins, in the user's ids.
void check_weights(const SsspCommand& command, const TraversalGraph& input) {
  if (!input.graph().is_weighted() && input.graph().edges() > 0) {
    throw InputError(fmt::format(
        "{}: it has no weights, and shortest paths need some; --weights uniform:LO:HI draws them, "
        "or give a file that has them",
        command.graph.graph));
  }
  try {
    input.graph().check_weights();
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", command.graph.graph, error.what()));
  }
}

ExitStatus run_sssp(const SsspCommand& command) {
  check_traversal_options(command.traversal);
  require(command.delta.value_or(1.0) > 0.0,
          fmt::format("--delta {}: give a number above 0", command.delta.value_or(0.0)));
  Session session("sssp", command.common);
  const std::string& output = command.traversal.output;
  const TraversalGraph input(session, command,
                             {.weights = true,
                              .range = WeightRange::not_negative,
                              .exact_decimals = true,
                              .traversal = traverse::Traversal::sssp});
  const std::string& lost = input.graph().weights_read().first_lost;
  if (!lost.empty()) {
    log_warning(fmt::format(
        "{}: {}: distances are sums of weights rounded to float32; whole numbers up to 2147483647, "
        "and numbers of a few decimals up to as many digits, are kept exactly",
        command.graph.graph, lost));
  }
  check_weights(command, input);
  warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || command.search.sources > 0);
  session.json()["method"] = input.method();
  const VertexNames& names = input.names();
  check_search(command.search, command.traversal.mode, command.cutoff ? "--cutoff" : nullptr,
               names);
  const std::vector<SsspOutcome> outcomes = session.during("searching", [&] {
    return search(command, session, input,
                  find_sources(input, command.search, command.common.seed));
  });
  const SsspOutcome& first = outcomes.front();
  if (!output.empty()) write_sssp(output, first, names);
  describe_graph(session, command.graph, input.vertices(), input.graph().edges());
  set_json(session.json(), outcomes, command.traversal.edges, names, command.search.sources > 0);
  if (command.cutoff) session.json()["cutoff"] = *command.cutoff;
  set_targets(session.json(), command.search, names);
  if (command.search.sources > 0) print_sources(session, outcomes, names);
  session.print("shortest paths from {}{}\n", names.name_and_id(first.source),
                command.search.why_source());
  print_outcome(session, first, names);
  session.print("{}\n", mode_text(first.result.info));
  session.finish();
  return verification_status(outcomes, names);
}

}  // namespace

void add_sssp(CLI::App& program, Action& action) {
  const auto [sssp, command] = add_command<SsspCommand>(
      program, action, "sssp", "Shortest paths, along the edges' direction",
      "Example:\n  warren sssp debian --weights uniform:1:10 --source git --verify\n"
      "  warren sssp grid:1000x1000 --weights uniform:1:64 --source 0 --json -",
      run_sssp);
  add_search_options(sssp, command.search);
  add_real(sssp, "--cutoff", command.cutoff, "Search no farther than this distance", "X", 0.0,
           1e300);
  add_real(sssp, "--delta", command.delta,
           "Width of a bin of distances (default: by the mean weight and degree)", "D", 0.0, 1e300);
  add_options(sssp, command);
}

}  // namespace warren::app
