// SPDX-License-Identifier: Apache-2.0
// Edges that calls draw from: what samples and walks ask of them alike.
#pragma once

#include "api/call.hpp"

namespace warren::api {

/// Throws UsageError for compressed lists, and, of `weighted`, for a graph without weights, with a
/// negative one or with none above 0.
template <class Options>
void check_drawn_edges(const Graph& graph, const Options& options) {
  require(options.edges != Edges::compressed_host,
          "edges: got compressed lists, expected lists on the device or in host memory");
  if (!options.weighted) return;
  require(graph.is_weighted(),
          "weighted: the graph has no weights, expected one with weights of 0 or more");
  if (graph.state()->has_good_weights()) return;
  (void)graph.csr();  // Read before the host's threads are taken.
  const Session session = session_of(options.session);
  session.teams()->on_host([&](exec::ThreadPool& pool) { graph.state()->check_weights(pool); });
}

}  // namespace warren::api
