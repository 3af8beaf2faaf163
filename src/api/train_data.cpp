// SPDX-License-Identifier: Apache-2.0
// A dataset made ready for the ranks of a team.
#include <utility>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/api/training.hpp"
#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/transform.hpp"

#include "api/ready_data.hpp"

namespace warren::api {
namespace {

// Sparse products with more of the elements than this are slower than dense ones.
constexpr double kDenseShare = 0.15;

/// Rows of dense features with negative elements are not shares of anything: divided by their
/// sizes' sum they are left so small that nothing is learnt from them. A generator's are drawn as
/// they are meant to be.
std::string normalization(const Preparation& how, bool is_generated, TrainingData& data) {
  if (how.normalize == "none") return "none";
  const auto negative = learn::first_negative(data.dataset);
  if (how.normalize == "auto") return is_generated || negative ? "none" : "rows";
  if (negative)
    data.warnings.push_back(fmt::format(
        "--normalize rows: feature {} of vertex {} is {}: rows with negative features are divided "
        "by the sum of their elements' sizes, which leaves little of them; --normalize auto "
        "leaves them alone",
        *negative % data.dataset.width, *negative / data.dataset.width,
        data.dataset.dense[*negative]));
  return "rows";
}

}  // namespace

void check(const Preparation& how) {
  check_choice("--normalize", how.normalize, {"auto", "rows", "none"});
  check_method(how.method);
  check_choice("--reorder", how.reorder, {"none", "rabbit", "degree", "random"});
}

TrainingData prepare(Dataset::Parts parts, const Preparation& how, const Needs& needs,
                     exec::ThreadPool& pool) {
  const TraceSpan span("order and cut", 0);
  // What is made of the graph takes its place.
  graph::Graph graph = Graph(std::move(parts.graph)).csr();
  if (!needs.weights) graph::drop_weights(graph);
  TrainingData data;
  data.dataset = std::move(parts.content);
  if (needs.unlabelled) learn::drop_labels(data.dataset, *needs.unlabelled);
  data.normalize = normalization(how, parts.is_generated, data);
  if (data.normalize == "rows") learn::normalize_rows(data.dataset);
  learn::make_dense(data.dataset, needs.dense ? 0.0 : kDenseShare);

  const auto order = graph::make_order(graph, how.reorder, how.seed, pool);
  if (!order.empty()) graph = graph::relabel(graph, order.span(), pool);
  const graph::Partition cut = graph::make_partition(graph, how.method, how.ranks, how.seed);
  const bool is_symmetric = graph::is_symmetric(graph, pool);
  if (!cut.identity()) graph = graph::relabel(graph, cut.new_id.span(), pool);
  const graph::Partition partition = graph::after_order(order, cut);
  learn::GraphPair& graphs = data.graphs;
  graphs.cuts = partition.cuts;
  if (!partition.identity()) {
    graphs.input_ids.assign(partition.old_id.data(),
                            partition.old_id.data() + partition.old_id.size());
  }
  graphs.out = std::make_shared<const graph::Graph>(std::move(graph));
  graphs.in = is_symmetric
                  ? graphs.out
                  : std::make_shared<const graph::Graph>(graph::transpose(*graphs.out, pool));
  if (needs.links) {
    const std::string name = parts.name.empty() ? "dataset" : parts.name;
    data.links = std::make_shared<const learn::LinkSplit>(
        learn::hold_out_links(graphs, how.seed, name, pool));
  }
  return data;
}

}  // namespace warren::api
