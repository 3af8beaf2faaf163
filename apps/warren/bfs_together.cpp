// SPDX-License-Identifier: Apache-2.0
#include "bfs_together.hpp"

#include <algorithm>

#include "text.hpp"

namespace warren::app {

BfsTogether bfs_together(team::Team& team, const graph::Shard& shard,
                         const std::vector<Vertex>& sources, int repeat) {
  traverse::ManySourceBfs bfs(team, shard);
  BfsTogether outcome;
  for (int run = -1; run < repeat; ++run) {
    outcome.sources.clear();
    double seconds = 0.0;
    for (std::size_t first = 0; first < sources.size();
         first += traverse::ManySourceBfs::kMaxSources) {
      const std::size_t count =
          std::min(sources.size() - first, traverse::ManySourceBfs::kMaxSources);
      const auto result = bfs.run(std::span(sources).subspan(first, count));
      seconds += team.all_reduce(result.seconds, [](double a, double b) { return a > b ? a : b; });
      outcome.sources.insert(outcome.sources.end(), result.sources.begin(), result.sources.end());
    }
    if (run >= 0) outcome.seconds.push_back(seconds);
  }
  return outcome;
}

void report(Session& session, const BfsTogether& outcome, const std::string& placement,
            const VertexNames& names) {
  Json& json = session.json();
  json["seconds"] = outcome.seconds;
  json["mode"] = "sync";
  json["edges_placement"] = placement;
  json["sources"] = Json::array();
  for (const traverse::SourceReach& reach : outcome.sources) {
    json["sources"].push_back({{"source", names.json_id(reach.source)},
                               {"reached", reach.reached},
                               {"max_depth", reach.max_depth},
                               {"sum_depth", reach.sum_depth}});
  }
  json["verified"] = outcome.is_correct ? Json(*outcome.is_correct) : Json(nullptr);
  session.print("\n{:>12}  {:>12}  {:>9}\n", "source", "reached", "max depth");
  for (const traverse::SourceReach& reach : outcome.sources) {
    session.print("{:>12}  {:>12}  {:>9}\n", names.id_text(reach.source), thousands(reach.reached),
                  reach.max_depth);
  }
  Table table;
  table.row("time", fmt::format("{} for all {} together ({})", duration(median(outcome.seconds)),
                                outcome.sources.size(), session.place()));
  if (outcome.is_correct) {
    table.row("verified", *outcome.is_correct ? "yes, by one search at a time" : "NO");
  }
  session.print("\n{}", table.text());
}

}  // namespace warren::app
