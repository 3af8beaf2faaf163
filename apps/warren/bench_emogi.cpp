// SPDX-License-Identifier: Apache-2.0
// bench emogi: every pattern and warren's own traversals from the same sources.
#include "warren/api/measure_patterns.hpp"
#include "warren/core/error.hpp"

#include "bench.hpp"
#include "search_input.hpp"
#include "text.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

Json fields_of(const api::PatternFigures& figures, std::uint64_t page_bytes) {
  Json fields = {{"pattern", figures.name},          {"mean_seconds", figures.mean_seconds},
                 {"bytes_read", figures.bytes},      {"amplification", figures.amplification},
                 {"bytes_per_second", figures.rate}, {"seconds", figures.seconds}};
  if (figures.has_pages) fields["page_bytes"] = page_bytes;
  if (!figures.has_requests) return fields;
  fields["requests"] = figures.requests;
  Json& by_bytes = fields["requests_by_bytes"];
  for (std::size_t i = 0; i < figures.by_size.size(); ++i)
    by_bytes[std::to_string(32 * (i + 1))] = figures.by_size[i];
  return fields;
}

void report(Session& session, const api::PatternsResult& result, std::size_t sources) {
  Json& json = session.json();
  json["sources"] = sources;
  json["dataset_bytes"] = result.list_bytes;
  json["sequential_bytes_per_second"] = result.sequential_rate;
  json["results"] = Json::array();
  session.print("read from first to last: {}B/s\n\n", with_prefix(result.sequential_rate));
  session.print("{:<22} {:>10} {:>9} {:>7}  {:>8} {:>8} {:>8} {:>8}\n", "traversal", "time", "GB/s",
                "read", "32 B", "64 B", "96 B", "128 B");
  for (const api::PatternFigures& figures : result.figures) {
    json["results"].push_back(fields_of(figures, result.page_bytes));
    std::string shares;
    for (std::size_t i = 0; figures.has_requests && i < figures.by_size.size(); ++i)
      shares +=
          fmt::format(" {:>7.1f}%",
                      figures.requests > 0.0 ? 100.0 * figures.by_size[i] / figures.requests : 0.0);
    session.print("{:<22} {:>10} {:>9.2f} {:>6.2f}x {}\n", figures.name,
                  duration(figures.mean_seconds), figures.rate * 1e-9, figures.amplification,
                  shares);
  }
  if (!result.left_out.empty()) {
    json["left_out"]["managed"] = result.left_out;
    session.print("\nmanaged: left out: {}\n", result.left_out);
  } else {
    session.print("\nmanaged: the pages of {} bytes read, the least that moved\n",
                  result.page_bytes);
  }
  session.print("\ntimes are means over {} sources; read: bytes over those of all lists\n",
                sources);
}

}  // namespace

bool measure(Session& session, const BenchEmogi& bench) {
  require(bench.common.ranks() == 1, "bench emogi measures one device: leave --devices out");
  TraversalCommand command{bench.common, bench.graph, {}};
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
  report(session, result, bench.sources);
  return true;
}

}  // namespace warren::app
