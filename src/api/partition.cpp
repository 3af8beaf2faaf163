// SPDX-License-Identifier: Apache-2.0
#include "warren/api/partition.hpp"

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/partition_metis.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/transform.hpp"

#include "api/graph_state.hpp"

namespace warren {
namespace {

std::vector<Vertex> vector_of(std::span<const Vertex> ids) { return {ids.begin(), ids.end()}; }

/// Of vertices by their new ids.
std::vector<std::string> names_in_order(const Graph& graph, std::span<const Vertex> old_id) {
  std::vector<std::string> names;
  if (graph.names().empty()) return names;
  for (const Vertex v : old_id) names.push_back(graph.names()[v]);
  return names;
}

constexpr std::uint64_t kUsualSeed = 1;

/// A seed is for what is drawn.
void check_seed(const std::optional<std::uint64_t>& seed, const char* option,
                const std::string& choice, bool is_drawn, const char* drawn) {
  require(!seed || is_drawn,
          fmt::format("seed: got {}, but {} \"{}\" draws nothing: leave it out, or choose {} {}",
                      seed.value_or(0), option, choice, option, drawn));
}

/// With the session's threads.
graph::Partition cut_by(const PartitionOptions& options, const graph::Graph& graph,
                        exec::ThreadPool& pool) {
  if (options.method == "rabbit") return graph::partition_rabbit(graph, options.parts, pool);
  if (options.method == "metis")
    return graph::partition_metis(graph, options.parts, options.seed.value_or(kUsualSeed), pool);
  return graph::make_partition(graph, options.method, options.parts,
                               options.seed.value_or(kUsualSeed));
}

PartitionResult told(const graph::Partition& partition, std::uint64_t vertices) {
  PartitionResult result;
  result.cuts = partition.cuts;
  result.new_id.resize(vertices);
  result.part.resize(vertices);
  for (int p = 0; p < partition.parts(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    constexpr std::uint64_t kPieceVertices = std::uint64_t{1} << 17;
    in_pieces(partition.cuts[at], partition.cuts[at + 1], kPieceVertices,
              [&](std::uint64_t begin, std::uint64_t end) {
                for (std::uint64_t id = begin; id < end; ++id) {
                  const Vertex v = partition.to_old(static_cast<Vertex>(id));
                  result.part[v] = p;
                  result.new_id[v] = static_cast<Vertex>(id);
                }
              });
  }
  return result;
}

}  // namespace

PartitionResult partition(const Graph& graph, const PartitionOptions& options) {
  api::check_choice("method", options.method, {"ranges", "random", "degree", "rabbit", "metis"});
  check_seed(options.seed, "method", options.method,
             options.method == "random" || options.method == "metis", "random or metis");
  require(options.parts >= 1 && options.parts <= graph::kMaxParts,
          fmt::format("parts: got {}, expected 1 to {}", options.parts, graph::kMaxParts));
  const int workgroup = options.workgroup == 0 ? options.parts : options.workgroup;
  require(workgroup >= 1 && options.parts % workgroup == 0,
          fmt::format("workgroup: got {}, expected a divisor of the number of parts, {}",
                      options.workgroup, options.parts));
  api::check_repeat(options.repeat);
  PartitionResult result;
  const graph::Graph& arrays = graph.csr();  // Drawn before the host's threads are taken.
  api::session_of(options.session).teams()->on_host([&](exec::ThreadPool& pool) {
    graph::Partition cut;
    std::vector<double> seconds;
    for (int run = 0; run < options.repeat + 1; ++run) {
      const TraceSpan span("partition", 0);
      const double begin = now_seconds();
      cut = cut_by(options, arrays, pool);
      seconds.push_back(now_seconds() - begin);
    }
    const graph::PartitionQuality quality =
        graph::partition_quality(arrays, cut, pool, {workgroup, options.with_cover});
    if (options.with_parts) result = told(cut, graph.vertices());
    result.cut_edges = quality.cut_edges;
    result.halo_rows = quality.halo_rows;
    result.imbalance = quality.imbalance;
    result.volume = quality.moved;
    result.between = quality.between;
    result.seconds = seconds.back();
    if (options.repeat > 0) result.run_seconds.assign(seconds.begin() + 1, seconds.end());
  });
  return result;
}

ReorderResult reorder(const Graph& graph, const ReorderOptions& options) {
  api::check_choice("order", options.order, {"rabbit", "degree", "random"});
  check_seed(options.seed, "order", options.order, options.order == "random", "random");
  ReorderResult result;
  api::session_of(options.session).teams()->on_host([&](exec::ThreadPool& pool) {
    const double begin = now_seconds();
    const memory::HostArray<Vertex> order =
        graph::make_order(graph.csr(), options.order, options.seed.value_or(kUsualSeed), pool);
    result.seconds = now_seconds() - begin;
    result.new_id = vector_of(order.span());
    const memory::HostArray<Vertex> back = graph::inverse(order.span());
    result.old_id = vector_of(back.span());
    if (!options.with_graph) return;
    result.graph.emplace(graph::relabel(graph.csr(), order.span(), pool),
                         names_in_order(graph, result.old_id));
  });
  return result;
}

}  // namespace warren
