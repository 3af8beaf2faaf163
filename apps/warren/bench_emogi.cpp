// SPDX-License-Identifier: Apache-2.0
// bench emogi: every pattern and warren's own traversals from the same sources.
#include "warren/api/report_measures.hpp"
#include "warren/core/error.hpp"

#include "bench.hpp"
#include "search_input.hpp"
#include "traversal_graph.hpp"

namespace warren::app {

bool measure(Session& session, const BenchEmogi& bench) {
  require(bench.common.ranks() == 1, "bench emogi measures one device: leave --devices out");
  TraversalCommand command{{bench.common, bench.graph}, {}};
  command.traversal.edges = "host";
  command.traversal.cache = 0;
  const TraversalGraph input(session, command);
  warn_of_weights(session, "breadth-first search");
  warn_without_effect(session.options(), {"--repeat"},
                      "--sources says how many searches are timed");
  SearchOptions search;
  search.sources = bench.sources;
  const api::PatternsResult result = api::measure_patterns(
      input.graph(), input.where(), find_sources(input, search, session.options().seed));
  describe_graph(session, bench.graph, input.vertices(), result.graph_edges);
  session.add(to_json(result, bench.sources));
  session.print("{}", to_text(result, bench.sources));
  return true;
}

}  // namespace warren::app
