// SPDX-License-Identifier: Apache-2.0
#include "warren/api/statistics.hpp"

#include "warren/api/checks.hpp"
#include "warren/core/trace.hpp"

#include "api/graph_state.hpp"

namespace warren {

StatisticsResult statistics(const Graph& graph, const StatisticsOptions& options) {
  api::check_repeat(options.repeat);
  StatisticsResult result;
  const graph::Graph& arrays = graph.csr();  // Drawn before the host's threads are taken.
  api::session_of(options.session).teams()->on_host([&](exec::ThreadPool& pool) {
    graph::Statistics& counted = result;
    counted = graph::statistics(arrays, pool);
    for (int run = 0; run < options.repeat; ++run) {
      const TraceSpan span("statistics", 0);
      const double begin = now_seconds();
      counted = graph::statistics(arrays, pool);
      result.run_seconds.push_back(now_seconds() - begin);
    }
    const graph::WeightType type = arrays.weight_type;
    if (type != graph::WeightType::none)
      result.weight_type = type == graph::WeightType::int32 ? "int32" : "float32";
    result.is_symmetric = graph.state()->is_symmetric(pool);
  });
  return result;
}

}  // namespace warren
