// SPDX-License-Identifier: Apache-2.0
// Reports of what is counted of a graph, and of partitions.
#include <cstdint>
#include <string>

#include "warren/api/report.hpp"
#include "warren/core/quantity.hpp"

#include "api/report/rows.hpp"
#include "api/report/run.hpp"

namespace warren {
namespace {

using api::Json;
using api::Text;

/// [the least degree of each bucket, vertices in it].
Json degree_counts(const graph::Statistics& statistics) {
  Json degrees = Json::array();
  for (std::size_t b = 0; b < statistics.degree_counts.size(); ++b)
    degrees.push_back(b == 0 ? 0 : std::uint64_t{1} << (b - 1));
  return Json::array({degrees, statistics.degree_counts});
}

/// Of work that the host's threads do.
Json document_of(const char* command, const Graph& graph, const std::vector<double>& seconds) {
  Json json = Json::object();
  json["command"] = command;
  json["device"] = "cpu";
  json["vertices"] = graph.vertices();
  json["edges"] = graph.edges();
  json["seconds"] = seconds;
  return json;
}

/// Of each timed run; of a call without them, its one run.
std::vector<double> seconds_of(const PartitionResult& result) {
  return result.run_seconds.empty() ? std::vector<double>{result.seconds} : result.run_seconds;
}

/// 0: all.
int workgroup_of(const PartitionOptions& options) {
  return options.workgroup == 0 ? options.parts : options.workgroup;
}

}  // namespace

std::string to_json(const VertexNames& names, const StatisticsResult& result) {
  const Graph& graph = names.graph();
  Json json = document_of("stats", graph, result.run_seconds);
  json["max_degree"] = result.max_degree;
  json["max_degree_vertex"] =
      graph.vertices() == 0 ? Json(nullptr) : api::json_id(names, result.max_degree_vertex);
  json["mean_degree"] = result.mean_degree;
  json["isolated"] = result.isolated;
  json["self_loops"] = result.self_loops;
  json["degree_counts"] = degree_counts(result);
  json["degree_buckets"] = "log2";
  json["weighted"] = graph.is_weighted();
  json["weight_type"] = result.weight_type;
  json["symmetric"] = result.is_symmetric;
  return api::written(json);
}

std::string to_text(const VertexNames& names, const StatisticsResult& result) {
  const Graph& graph = names.graph();
  Text text;
  text.print("\n");
  text.row("vertices", "{}", thousands(graph.vertices()));
  text.row("directed edges", "{}", thousands(graph.edges()));
  text.row("mean degree", "{:.2f} out-edges", result.mean_degree);
  if (graph.vertices() > 0) {
    text.row("largest degree", "{} out-edges, of {}", thousands(result.max_degree),
             names.name_and_id(result.max_degree_vertex));
  }
  text.row("isolated vertices", "{} ({})", thousands(result.isolated),
           percent(result.isolated, graph.vertices()));
  text.row("self-loops", "{}", thousands(result.self_loops));
  text.row("weights", "{}", result.weight_type);
  text.row("symmetric", "{}", result.is_symmetric ? "yes" : "no");
  return text.take();
}

std::string to_json(const Graph& graph, const PartitionOptions& options,
                    const PartitionResult& result) {
  Json json = document_of("partition", graph, seconds_of(result));
  json["parts"] = options.parts;
  json["method"] = options.method;
  json["cut_edges"] = result.cut_edges;
  json["halo_rows"] = result.halo_rows;
  json["imbalance"] = result.imbalance;
  json["workgroup"] = workgroup_of(options);
  json["volume"] = api::rows_json(result.volume);
  json["volume_between_workgroups"] = api::rows_json(result.between);
  return api::written(json);
}

std::string to_text(const Graph& graph, const PartitionOptions& options,
                    const PartitionResult& result) {
  Text text;
  text.print("\n");
  text.row("method", "{}, {} in {}", options.method,
           counted(static_cast<std::uint64_t>(options.parts), "part", "parts"),
           duration(median(seconds_of(result))));
  text.row("cut edges", "{} ({})", thousands(result.cut_edges),
           percent(result.cut_edges, graph.edges()));
  text.row("imbalance", "{:.3f} (edges of the fullest part over the mean)", result.imbalance);
  text.row("rows moved", "in one product with the matrix, summed over ranks:");
  text.row("  broadcast", "{}", thousands(result.volume.broadcast));
  text.row("  per edge", "{}", thousands(result.volume.per_edge));
  text.row("  once", "{} (the halo)", thousands(result.volume.once));
  text.row("  fused", "{} in workgroups of {}", thousands(result.volume.fused),
           workgroup_of(options));
  text.row("  cover", "{}", thousands(result.volume.cover));
  return text.take();
}

std::string to_json(const Graph& graph, const ReorderOptions& options,
                    const ReorderResult& result) {
  Json json = document_of("reorder", graph, {result.seconds});
  json["order"] = options.order;
  return api::written(json);
}

std::string to_text(const Graph& graph, const ReorderOptions& options,
                    const ReorderResult& result) {
  Text text;
  text.print("\n");
  text.row("order", "{}, of {} in {}", options.order,
           counted(graph.vertices(), "vertex", "vertices"), duration(result.seconds));
  return text.take();
}

std::string to_json(const std::string& path, const SaveResult& result) {
  Json json = Json::object();
  json["seconds"] = result.run_seconds;
  json["out"] = path;
  json["bytes"] = result.bytes;
  if (result.bits_per_edge) json["bits_per_edge"] = *result.bits_per_edge;
  return api::written(json);
}

std::string to_text(const std::string& path, const SaveResult& result) {
  const double seconds = median(result.run_seconds);
  Text text;
  text.print("{}: {} bytes in {} ({}B/s)\n", path, thousands(result.bytes), duration(seconds),
             with_prefix(seconds > 0.0 ? static_cast<double>(result.bytes) / seconds : 0.0));
  if (result.bits_per_edge)
    text.print("compressed: {:.2f} bits an edge with the index\n", *result.bits_per_edge);
  return text.take();
}

}  // namespace warren
