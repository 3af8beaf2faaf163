// SPDX-License-Identifier: Apache-2.0
// Reports of calls that find a number for each vertex: components, ranks, scores and counts.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "warren/api/report.hpp"
#include "warren/api/top.hpp"
#include "warren/core/quantity.hpp"

#include "api/report/run.hpp"

namespace warren {
namespace {

using api::Json;
using api::Text;

constexpr std::size_t kShown = 5;
constexpr std::size_t kTop = 10;

std::string form_text(const ComponentsResult& result) {
  if (result.form == ComponentsForm::search)
    return fmt::format("search, {} levels from a hub", result.search_levels);
  if (result.search_levels > 0)
    return fmt::format("forest, as {} levels of a search left many edges", result.search_levels);
  return "forest";
}

/// Those that the call was asked for, else what the ranks tell.
std::vector<RankedVertex> top_of(const PageRankResult& result) {
  if (!result.top.empty()) return result.top;
  std::vector<RankedVertex> top;
  const std::span<const double> rank = result.rank.host();
  for (const Vertex v : largest_values(rank, kTop)) top.push_back({v, rank[v]});
  return top;
}

std::string count_text(std::uint64_t count) { return thousands(count); }
std::string count_text(std::uint32_t count) { return thousands(count); }
std::string count_text(double score) { return fmt::format("{:.6g}", score); }

template <class Count>
void set_top(Json& json, const VertexNames& names, const Array<Count>& counts) {
  json["top"] = Json::array();
  for (const Vertex v : largest_values(counts.host(), kTop))
    json["top"].push_back({api::json_id(names, v), counts[v]});
}

void end_counts(Json& json, const RunInfo& info) {
  json["verified"] = api::verified(info);
  json["mode"] = "sync";
  json["edges_placement"] = name_of(info.edges);
}

template <class Count>
void print_largest(Text& text, const VertexNames& names, const Array<Count>& counts,
                   const std::string& heading) {
  text.print("\n{:>12}  vertex\n", heading);
  for (const Vertex v : largest_values(counts.host(), kShown))
    text.print("{:>12}  {}\n", count_text(counts[v]), names.name_and_id(v));
  text.print("\n");
}

std::string end_counts(Text& text, const VertexNames& names, const RunInfo& info) {
  const auto edges = static_cast<double>(names.graph().edges());
  text.row("time", "{}: {}edges/s ({})", duration(median(info.run_seconds)),
           with_prefix(api::edge_rate(info, edges)), place_of(info));
  api::add_verified(text, info, "by a sequential count");
  return text.take();
}

template <class Value>
void save_values(const VertexNames& names, const Array<Value>& values, const std::string& path) {
  const std::span<const Value> all = values.host();
  write_vertex_lines(path, all.size(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v), all[v]);
  });
}

/// Of all vertices where none are named.
std::uint64_t sources_of(const VertexNames& names, const BetweennessResult& result) {
  return result.sources.empty() ? names.vertices() : result.sources.size();
}

}  // namespace

std::string to_json(const VertexNames& names, const ComponentsResult& result) {
  Json json = api::document("cc", names.graph(), result.info);
  json["components"] = result.components;
  json["largest"] = result.largest;
  json["verified"] = api::verified(result.info);
  json["form"] = result.form == ComponentsForm::search ? "search" : "forest";
  json["search_levels"] = result.search_levels;
  json["mode"] = "sync";
  api::set_bytes(json, result.info);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const ComponentsResult& result) {
  Text text;
  const auto largest = largest_components(result.label.host(), kShown);
  text.print("\n{:>12}  smallest vertex of the component\n", "vertices");
  for (const auto& [vertices, label] : largest)
    text.print("{:>12}  {}\n", thousands(vertices), names.name_and_id(label));
  if (result.components > largest.size())
    text.print("{:>12}  ({} components more)\n", "...",
               thousands(result.components - largest.size()));
  text.print("\n");
  text.row("components", "{}, the largest of {} ({})", thousands(result.components),
           counted(result.largest, "vertex", "vertices"),
           percent(result.largest, names.vertices()));
  const auto edges = static_cast<double>(names.graph().edges());
  text.row("time", "{}: {}edges/s ({})", duration(median(result.info.run_seconds)),
           with_prefix(api::edge_rate(result.info, edges)), place_of(result.info));
  text.row("form", "{}", form_text(result));
  api::add_verified(text, result.info, "by every edge and a union-find");
  api::add_lists(text, result.info);
  return text.take();
}

void save(const VertexNames& names, const ComponentsResult& result, const std::string& path) {
  const std::span<const Vertex> labels = result.label.host();
  write_vertex_lines(path, labels.size(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v),
                   names.id_text(labels[v]));
  });
}

std::string to_json(const VertexNames& names, const PageRankOptions& options,
                    const PageRankResult& result) {
  const std::vector<RankedVertex> top = top_of(result);
  Json json = api::document("pagerank", names.graph(), result.info);
  json["weighted"] = options.weighted;
  json["iterations"] = result.iterations;
  json["residual"] = result.residual;
  json["converged"] = result.converged;
  json["top"] = Json::array();
  for (const RankedVertex& entry : top)
    json["top"].push_back(Json::array({api::json_id(names, entry.vertex), entry.rank}));
  if (names.has_names()) {
    json["top_names"] = Json::array();
    for (const RankedVertex& entry : top) json["top_names"].push_back(names.name(entry.vertex));
  }
  json["verified"] = api::verified(result.info);
  api::set_mode(json, result.info);
  api::set_bytes(json, result.info);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const PageRankResult& result) {
  Text text;
  text.print("\n    PageRank  vertex\n");
  for (const RankedVertex& entry : top_of(result))
    text.print("{:>12.6g}  {}\n", entry.rank, names.name_and_id(entry.vertex));
  text.print("\n");
  text.row("iterations", "{}, the last changed {:.2g} in L1 ({})", result.iterations,
           result.residual,
           result.converged ? "converged" : "not converged: raise --max-iterations");
  const double all =
      static_cast<double>(names.graph().edges()) * static_cast<double>(result.iterations);
  text.row("time", "{}: {}edges/s ({})", duration(median(result.info.run_seconds)),
           with_prefix(api::edge_rate(result.info, all)), place_of(result.info));
  api::add_verified(text, result.info, "by an iteration in double precision");
  api::add_lists(text, result.info);
  text.row("mode", "{}", api::mode_text(result.info));
  return text.take();
}

void save(const VertexNames& names, const PageRankResult& result, const std::string& path) {
  save_values(names, result.rank, path);
}

std::string to_json(const VertexNames& names, const BetweennessOptions& options,
                    const BetweennessResult& result) {
  Json json = api::document("bc", names.graph(), result.info);
  json["normalized"] = options.normalized;
  json["steps"] = result.steps;
  json["sources"] = sources_of(names, result);
  set_top(json, names, result.score);
  end_counts(json, result.info);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const BetweennessResult& result) {
  Text text;
  print_largest(text, names, result.score, "score");
  const std::uint64_t sources = sources_of(names, result);
  text.row("sources", "{}", sources == names.vertices() ? "all vertices" : thousands(sources));
  return end_counts(text, names, result.info);
}

void save(const VertexNames& names, const BetweennessResult& result, const std::string& path) {
  save_values(names, result.score, path);
}

std::string to_json(const VertexNames& names, const CoreNumbersResult& result) {
  Json json = api::document("core", names.graph(), result.info);
  json["largest_core"] = result.largest;
  json["innermost"] = result.innermost;
  json["steps"] = result.steps;
  set_top(json, names, result.core);
  end_counts(json, result.info);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const CoreNumbersResult& result) {
  Text text;
  print_largest(text, names, result.core, "core");
  text.row("largest core number", "{}, of {}", thousands(result.largest),
           counted(result.innermost, "vertex", "vertices"));
  return end_counts(text, names, result.info);
}

void save(const VertexNames& names, const CoreNumbersResult& result, const std::string& path) {
  save_values(names, result.core, path);
}

std::string to_json(const VertexNames& names, const TrianglesResult& result) {
  Json json = api::document("triangles", names.graph(), result.info);
  json["triangles"] = result.triangles;
  set_top(json, names, result.count);
  end_counts(json, result.info);
  return api::written(json);
}

std::string to_text(const VertexNames& names, const TrianglesResult& result) {
  Text text;
  print_largest(text, names, result.count, "triangles");
  text.row("triangles", "{}", thousands(result.triangles));
  return end_counts(text, names, result.info);
}

void save(const VertexNames& names, const TrianglesResult& result, const std::string& path) {
  save_values(names, result.count, path);
}

}  // namespace warren
