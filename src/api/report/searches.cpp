// SPDX-License-Identifier: Apache-2.0
// Reports of breadth-first searches and of shortest paths.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "warren/api/report.hpp"
#include "warren/api/top.hpp"
#include "warren/core/error.hpp"
#include "warren/core/quantity.hpp"

#include "api/report/run.hpp"

namespace warren {
namespace {

using api::Json;
using api::Text;

constexpr std::size_t kLevelsShown = 16;
constexpr std::size_t kLevelsTold = 65536;  // In the JSON.
constexpr std::size_t kNamesShown = 5;
constexpr std::size_t kPathsShown = 5;

void set_source(Json& json, const VertexNames& names, const std::vector<Vertex>& sources) {
  json["source"] =
      sources.size() == 1 ? api::json_id(names, sources.front()) : api::json_ids(names, sources);
  if (!names.has_names()) return;
  std::string text;
  for (std::size_t s = 0; s < std::min<std::size_t>(sources.size(), 3); ++s)
    text += (s > 0 ? ", " : "") + names.name(sources[s]);
  json["source_name"] = text + (sources.size() > 3 ? ", ..." : "");
}

/// The timed runs of all searches, one search after the other.
template <class Result>
std::vector<double> all_seconds(std::span<const Result> results) {
  std::vector<double> seconds;
  for (const Result& result : results)
    seconds.insert(seconds.end(), result.info.run_seconds.begin(), result.info.run_seconds.end());
  return seconds;
}

/// By the median run.
template <class Result>
double teps(const Result& result) {
  return api::edge_rate(result.info, static_cast<double>(result.figures.traversed_edges));
}

/// A vertex' place among so many levels; arrays of results may have been written.
std::size_t level_of(Vertex depth, std::size_t levels) {
  require(depth < levels,
          "the depths of the result were changed: one of them is beyond the deepest");
  return depth;
}

struct Level {
  std::uint64_t count = 0;
  std::string names;  // Of the first few vertices.
};

std::vector<Level> levels_of(const VertexNames& names, const BfsResult& result) {
  std::vector<Level> levels(std::size_t{result.max_depth} + 1);
  const std::span<const Vertex> depth = result.depth.host();
  for (std::size_t v = 0; v < depth.size(); ++v) {
    if (depth[v] == kNoVertex) continue;
    Level& level = levels[level_of(depth[v], levels.size())];
    ++level.count;
    if (!names.has_names() || level.count > kNamesShown + 1) continue;
    const bool is_over = level.count > kNamesShown;
    if (level.count > 1) level.names += is_over ? ", ..." : ", ";
    if (!is_over) level.names += names.name(static_cast<Vertex>(v));
  }
  return levels;
}

std::vector<std::uint64_t> level_sizes(const BfsResult& result) {
  if (!result.levels.empty() || result.depth.empty()) return result.levels;
  std::vector<std::uint64_t> sizes(std::size_t{result.max_depth} + 1);
  for (const Vertex depth : result.depth.host()) {
    if (depth != kNoVertex) ++sizes[level_of(depth, sizes.size())];
  }
  return sizes;
}

std::uint64_t sum_of_depths(const BfsResult& result) {
  std::uint64_t sum = 0;
  for (const Vertex depth : result.depth.host()) sum += depth == kNoVertex ? 0 : depth;
  return sum;
}

void set_fields(Json& json, const VertexNames& names, bool has_figures, const BfsResult& result) {
  set_source(json, names, result.sources);
  json["reached"] = result.reached;
  json["max_depth"] = result.max_depth;
  json["level_ranks"] = result.level_ranks;
  json["sum_depth"] = has_figures ? result.figures.sum_depth : sum_of_depths(result);
  const std::vector<std::uint64_t> levels = level_sizes(result);
  if (!levels.empty() && levels.size() <= kLevelsTold) json["levels"] = levels;
  if (has_figures) {
    json["traversed_edges"] = result.figures.traversed_edges;
    json["teps"] = teps(result);
  }
  json["verified"] = api::verified(result.info);
}

void print_levels(Text& text, const VertexNames& names, const BfsResult& result) {
  text.print("\ndepth  vertices\n");
  const std::vector<Level> levels = levels_of(names, result);
  for (std::size_t d = 0; d < levels.size(); ++d) {
    if (levels.size() > kLevelsShown && d == kLevelsShown - 2) {
      text.print("  ...  ({} levels more)\n", levels.size() - kLevelsShown + 1);
      d = levels.size() - 1;
    }
    text.print("{:>5}  {:>8}{}{}\n", d, thousands(levels[d].count),
               levels[d].names.empty() ? "" : "  ", levels[d].names);
  }
  text.print("\n");
}

void print_figures(Text& text, const VertexNames& names, bool has_figures,
                   const BfsResult& result) {
  if (!result.depth.empty()) print_levels(text, names, result);
  const std::uint64_t sum = has_figures ? result.figures.sum_depth : sum_of_depths(result);
  const double mean = static_cast<double>(sum) / static_cast<double>(result.reached);
  text.row("reached", "{} of {} ({}), mean depth {:.2f}, largest {}", thousands(result.reached),
           counted(names.vertices(), "vertex", "vertices"),
           percent(result.reached, names.vertices()), mean, result.max_depth);
  if (result.level_ranks == 1 && result.info.devices > 1)
    text.row("levels", "run by the first rank, on a copy of all lists");
}

std::string how_verified(const VertexNames& /*names*/, const BfsResult& /*result*/) {
  return "by the Graph500 rules";
}

/// The last column of a table of searches, where they were asked for figures.
template <class Result>
std::string rate_column(bool has_figures, const Result& result) {
  return has_figures ? fmt::format("  {:>14}", with_prefix(teps(result))) : "";
}

void print_heading(Text& text, bool has_figures, const BfsResult& /*result*/) {
  text.print("\n{:>12}  {:>12}  {:>9}  {:>12}{}\n", "source", "reached", "max depth", "time",
             has_figures ? "         edges/s" : "");
}

void print_line(Text& text, const VertexNames& names, bool has_figures, const BfsResult& result) {
  text.print("{:>12}  {:>12}  {:>9}  {:>12}{}\n", names.id_text(result.sources.front()),
             thousands(result.reached), result.max_depth, duration(median(result.info.run_seconds)),
             rate_column(has_figures, result));
}

__extension__ using Wide = unsigned __int128;
Wide sum_of(const SsspFigures& figures) {
  return Wide{figures.sum_distance_high} << 64 | figures.sum_distance;
}

bool is_reached(const SsspResult& result, Vertex v) {
  return result.is_integer ? result.distance[v] >= 0 : std::isfinite(result.real_distance[v]);
}

bool has_distances(const SsspResult& result) {
  return !result.distance.empty() || !result.real_distance.empty();
}

/// What the arrays tell, where the search was not asked.
SsspFigures figures_of(const SsspResult& result, bool has_figures) {
  if (has_figures) return result.figures;
  SsspFigures figures;
  Wide sum = 0;
  for (const std::int64_t distance : result.distance.host()) {
    if (distance < 0) continue;
    figures.max_distance = std::max(figures.max_distance, static_cast<std::uint64_t>(distance));
    sum += static_cast<std::uint64_t>(distance);
  }
  figures.sum_distance = static_cast<std::uint64_t>(sum);
  figures.sum_distance_high = static_cast<std::uint64_t>(sum >> 64);
  figures.max_real_distance = static_cast<double>(figures.max_distance);
  figures.sum_real_distance = static_cast<double>(sum);
  for (const double distance : result.real_distance.host()) {
    if (!std::isfinite(distance)) continue;
    figures.max_real_distance = std::max(figures.max_real_distance, distance);
    figures.sum_real_distance += distance;
  }
  return figures;
}

/// A distance in the file's units.
double in_units(const SsspResult& result, double value) { return value / result.scale; }

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

/// Of a reached vertex.
std::string distance_text(const SsspResult& result, Vertex v) {
  return result.is_integer
             ? decimal_text(static_cast<std::uint64_t>(result.distance[v]), result.scale)
             : fmt::format("{}", result.real_distance[v]);
}

/// JSON's numbers end where 64 bits do for many readers: a longer sum is text.
void set_sum(Json& json, const SsspFigures& figures) {
  if (figures.sum_distance_high == 0) {
    json["sum_distance"] = figures.sum_distance;
    return;
  }
  json["sum_distance"] = nullptr;
  json["sum_distance_reason"] = "past 2^64 - 1: sum_distance_text has it in full";
  json["sum_distance_text"] = fmt::format("{}", sum_of(figures));
}

void set_distances(Json& json, const SsspResult& result, const SsspFigures& figures) {
  if (result.is_integer && result.scale == 1) {
    json["max_distance"] = figures.max_distance;
    set_sum(json, figures);
  } else if (result.is_integer) {
    json["max_distance"] = in_units(result, static_cast<double>(figures.max_distance));
    json["sum_distance"] = in_units(result, static_cast<double>(sum_of(figures)));
  } else {
    json["max_distance"] = figures.max_real_distance;
    json["sum_distance"] = figures.sum_real_distance;
  }
}

void set_fields(Json& json, const VertexNames& names, bool has_figures, const SsspResult& result) {
  const graph::WeightReport& weights = names.graph().weights_read();
  const SsspFigures figures = figures_of(result, has_figures);
  set_source(json, names, result.sources);
  json["reached"] = result.reached;
  set_distances(json, result, figures);
  json["weights_rounded"] =
      weights.first_rounded.empty() ? Json(nullptr) : Json(weights.first_rounded);
  if (has_figures) {
    json["delta"] = in_units(result, figures.delta);
    json["relaxed_edges"] = figures.relaxed_edges;
    json["traversed_edges"] = figures.traversed_edges;
    json["teps"] = teps(result);
  }
  // The conditions hold of the weights as they are held; those of the file make distances that
  // differ by no more than the weights do.
  constexpr double kOfSums = 1e-15;  // And by what sums in double precision are off.
  json["verified_within"] = api::if_verified(
      result.info.verdict.has_value(), weights.rounding == 0.0 ? 0.0 : weights.rounding + kOfSums);
  json["verified"] = api::verified(result.info);
}

std::string largest_text(const SsspResult& result, const SsspFigures& figures) {
  return result.is_integer && result.scale == 1
             ? thousands(figures.max_distance)
             : fmt::format("{:.6g}", in_units(result, figures.max_real_distance));
}

/// The reached vertices of the largest distances, ties by id.
std::vector<Vertex> farthest(const SsspResult& result) {
  const auto counts = [&](Vertex v) { return is_reached(result, v); };
  return result.is_integer ? largest_values(result.distance.host(), kPathsShown, counts)
                           : largest_values(result.real_distance.host(), kPathsShown, counts);
}

void print_figures(Text& text, const VertexNames& names, bool has_figures,
                   const SsspResult& result) {
  if (has_distances(result)) {
    text.print("\n{:>16}  the farthest\n", "distance");
    for (const Vertex v : farthest(result))
      text.print("{:>16}  {}\n", distance_text(result, v), names.name_and_id(v));
    text.print("\n");
  }
  const SsspFigures figures = figures_of(result, has_figures);
  text.row("reached", "{} of {} ({}), mean distance {:.6g}, largest {}", thousands(result.reached),
           counted(names.vertices(), "vertex", "vertices"),
           percent(result.reached, names.vertices()),
           in_units(result, figures.sum_real_distance) / static_cast<double>(result.reached),
           largest_text(result, figures));
  if (!has_figures) return;
  const double looks = static_cast<double>(figures.relaxed_edges) /
                       static_cast<double>(std::max<std::uint64_t>(1, figures.edges));
  text.row("work", "{} steps with bins of {:.4g}, each edge looked at {:.2f} times",
           thousands(figures.steps), in_units(result, figures.delta), looks);
}

std::string how_verified(const VertexNames& names, const SsspResult& /*result*/) {
  const graph::WeightReport& weights = names.graph().weights_read();
  if (weights.first_rounded.empty()) return "by the edge conditions";
  return fmt::format(
      "by the edge conditions, of weights rounded to float32: distances by the file's own differ "
      "by {:.2g} of their size at most",
      weights.rounding);
}

void print_heading(Text& text, bool has_figures, const SsspResult& /*result*/) {
  text.print("\n{:>12}  {:>12}  {:>14}  {:>12}{}\n", "source", "reached", "max distance", "time",
             has_figures ? "         edges/s" : "");
}

void print_line(Text& text, const VertexNames& names, bool has_figures, const SsspResult& result) {
  text.print("{:>12}  {:>12}  {:>14.6g}  {:>12}{}\n", names.id_text(result.sources.front()),
             thousands(result.reached),
             in_units(result, figures_of(result, has_figures).max_real_distance),
             duration(median(result.info.run_seconds)), rate_column(has_figures, result));
}

/// Where searches were to end.
template <class Options>
void set_limits(Json& json, const VertexNames& names, const Options& options) {
  if constexpr (requires { options.depth_limit; }) {
    if (options.depth_limit) json["depth_limit"] = *options.depth_limit;
  } else {
    if (options.cutoff) json["cutoff"] = *options.cutoff;
  }
  if (!options.targets.empty()) json["targets"] = api::json_ids(names, options.targets);
}

template <class Options, class Result>
Json fields_of(const char* command, const VertexNames& names, const Options& options,
               std::span<const Result> results) {
  require(!results.empty(), "results: got none, expected one search or more");
  const Result& first = results.front();
  Json json = api::document(command, names.graph(), first.info);
  json["seconds"] = all_seconds(results);
  set_fields(json, names, options.figures, first);
  api::set_mode(json, first.info);
  api::set_bytes(json, first.info);
  return json;
}

template <class Options, class Result>
void set_sources(Json& json, const VertexNames& names, const Options& options,
                 std::span<const Result> results) {
  json["sources"] = Json::array();
  for (const Result& result : results) {
    Json fields = Json::object();
    set_fields(fields, names, options.figures, result);
    fields["seconds"] = result.info.run_seconds;
    json["sources"].push_back(fields);
  }
}

template <class Options, class Result>
std::string text_of(const VertexNames& names, const Options& options, const Result& result) {
  Text text;
  print_figures(text, names, options.figures, result);
  const std::string rate =
      options.figures ? fmt::format(" for {}: {}edges/s",
                                    counted(result.figures.traversed_edges, "edge", "edges"),
                                    with_prefix(teps(result)))
                      : "";
  text.row("time", "{}{} ({})", duration(median(result.info.run_seconds)), rate,
           place_of(result.info));
  api::add_verified(text, result.info, how_verified(names, result));
  api::add_lists(text, result.info);
  text.print("{}\n", api::mode_text(result.info));
  return text.take();
}

template <class Result>
std::string table_of(const VertexNames& names, bool has_figures, std::span<const Result> results) {
  Text text;
  if (!results.empty()) print_heading(text, has_figures, results.front());
  for (const Result& result : results) print_line(text, names, has_figures, result);
  return text.take();
}

}  // namespace

std::string to_json(const VertexNames& names, const BfsOptions& options, const BfsResult& result) {
  Json json = fields_of("bfs", names, options, std::span(&result, 1));
  set_limits(json, names, options);
  return api::written(json);
}

std::string to_json(const VertexNames& names, const BfsOptions& options,
                    std::span<const BfsResult> results) {
  Json json = fields_of("bfs", names, options, results);
  set_limits(json, names, options);
  set_sources(json, names, options, results);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const BfsOptions& options, const BfsResult& result) {
  return text_of(names, options, result);
}
std::string to_text(const VertexNames& names, const BfsOptions& options,
                    std::span<const BfsResult> results) {
  return table_of(names, options.figures, results);
}

void save(const VertexNames& names, const BfsResult& result, const std::string& path) {
  const std::span<const Vertex> depth = result.depth.host();
  const std::span<const Vertex> parent = result.parent.host();
  write_vertex_lines(path, depth.size(), [&](std::string& lines, Vertex v) {
    if (depth[v] == kNoVertex) {
      fmt::format_to(std::back_inserter(lines), "{} -1 -1\n", names.id_text(v));
    } else {
      fmt::format_to(std::back_inserter(lines), "{} {} {}\n", names.id_text(v), depth[v],
                     names.id_text(parent[v]));
    }
  });
}

std::string to_json(const VertexNames& names, const BfsTogetherResult& result) {
  Json json = api::document("bfs", names.graph(), result.info);
  json["mode"] = "sync";
  json["edges_placement"] = name_of(result.info.edges);
  json["sources"] = Json::array();
  for (const BfsReach& reach : result.reach) {
    json["sources"].push_back({{"source", api::json_id(names, reach.source)},
                               {"reached", reach.reached},
                               {"max_depth", reach.max_depth},
                               {"sum_depth", reach.sum_depth}});
  }
  json["verified"] = api::verified(result.info);
  api::set_bytes_between_hosts(json, result.info.bytes_between_hosts);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const BfsTogetherResult& result) {
  Text text;
  text.print("\n{:>12}  {:>12}  {:>9}\n", "source", "reached", "max depth");
  for (const BfsReach& reach : result.reach) {
    text.print("{:>12}  {:>12}  {:>9}\n", names.id_text(reach.source), thousands(reach.reached),
               reach.max_depth);
  }
  text.print("\n");
  text.row("time", "{} for all {} together ({})", duration(median(result.info.run_seconds)),
           result.reach.size(), place_of(result.info));
  if (result.info.verdict)
    text.row("verified", "{}",
             result.info.verdict->correct ? "yes, by one search at a time" : "NO");
  return text.take();
}

std::string to_json(const VertexNames& names, const SsspOptions& options,
                    const SsspResult& result) {
  Json json = fields_of("sssp", names, options, std::span(&result, 1));
  set_limits(json, names, options);
  return api::written(json);
}

std::string to_json(const VertexNames& names, const SsspOptions& options,
                    std::span<const SsspResult> results) {
  Json json = fields_of("sssp", names, options, results);
  set_sources(json, names, options, results);
  set_limits(json, names, options);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const SsspOptions& options,
                    const SsspResult& result) {
  return text_of(names, options, result);
}
std::string to_text(const VertexNames& names, const SsspOptions& options,
                    std::span<const SsspResult> results) {
  return table_of(names, options.figures, results);
}

void save(const VertexNames& names, const SsspResult& result, const std::string& path) {
  write_vertex_lines(path, names.vertices(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v),
                   is_reached(result, v) ? distance_text(result, v) : "-1");
  });
}

}  // namespace warren
