// SPDX-License-Identifier: Apache-2.0
#include "sparse_input.hpp"

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/transform.hpp"

namespace warren::app {
namespace {

/// The graph by new ids; adds the seconds to `seconds`.
graph::Graph relabelled(const graph::Graph& graph, std::span<const Vertex> new_id,
                        exec::ThreadPool& pool, double& seconds) {
  const double begin = now_seconds();
  graph::Graph result = graph::relabel(graph, new_id, pool);
  seconds += now_seconds() - begin;
  return result;
}

/// True if the file holds a matrix, whose values are meant to be multiplied.
bool is_matrix(std::string path) {
  for (const char* packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.resize(path.size() - std::string(packed).size());
  }
  return path.ends_with(".mtx") || path.ends_with(".npz") || path.ends_with(".wgr");
}

}  // namespace

SparseInput::SparseInput(Session& session, const SparseOptions& options) {
  if (!session.on_gpu() && options.common.ranks() > 1 &&
      options.strategy.find("copy=") != std::string::npos)
    log_warning(
        fmt::format("--strategy {}: copy has no effect: this run has no GPU, whose "
                    "processors it counts",
                    options.strategy));
  const GraphInput input = find_graph(session, options.graph);
  const bool wants_values = !options.graph.weights.empty() || is_matrix(input.path);
  graph::WeightReport report;
  graph::Graph graph =
      load_graph(session, input, options.graph, wants_values, WeightRange::any, &report);
  if (report.are_unread && options.graph.weights.empty()) {
    log_warning(fmt::format("{}: entries are taken as 1; with --weights file they are the weights",
                            options.graph.graph));
  }
  session.warn_of_seed(is_drawn(input, options.graph, wants_values) || is_drawn(options.method) ||
                       is_drawn(options.reorder));
  describe_graph(session, options.graph, graph.vertices, graph.edges());
  session.json()["weighted"] = graph.weight_type != graph::WeightType::none;
  const auto progress = session.progress("preparing");
  const TraceSpan span("order and cut", 0);
  const std::uint64_t seed = session.options().seed;
  double begin = now_seconds();
  const auto order = graph::make_order(graph, options.reorder, seed, session.pool());
  order_times_.reorder = now_seconds() - begin;
  double& relabel = order_times_.relabel;
  if (!order.empty()) graph = relabelled(graph, order.span(), session.pool(), relabel);
  begin = now_seconds();
  const graph::Partition cut =
      graph::make_partition(graph, options.method, session.team().ranks, seed);
  order_times_.partition = now_seconds() - begin;
  if (!cut.identity()) graph = relabelled(graph, cut.new_id.span(), session.pool(), relabel);
  partition_ = graph::after_order(order, cut);
  source_.out = std::make_shared<const graph::Graph>(std::move(graph));
  source_.cuts = partition_.cuts;
}

graph::PartitionQuality SparseInput::quality(exec::ThreadPool& pool, int workgroup,
                                             bool with_cover) const {
  graph::Partition ranges;
  ranges.cuts = source_.cuts;
  return graph::partition_quality(graph(), ranges, pool, {workgroup, with_cover});
}

}  // namespace warren::app
