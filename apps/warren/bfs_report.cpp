// SPDX-License-Identifier: Apache-2.0
#include "bfs_report.hpp"

#include <iterator>

#include "files.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

constexpr std::size_t kLevelsShown = 16;
constexpr std::size_t kLevelsTold = 65536;  // In the JSON.
constexpr std::size_t kNamesShown = 5;

struct Level {
  std::uint64_t count = 0;
  std::string names;  // Of the first few vertices.
};

std::vector<Level> levels_of(const BfsOutcome& outcome, const VertexNames& names) {
  std::vector<Level> levels(std::size_t{outcome.result.max_depth} + 1);
  for (std::size_t v = 0; v < outcome.depth.size(); ++v) {
    if (outcome.depth[v] == kNoVertex) continue;
    Level& level = levels.at(outcome.depth[v]);
    ++level.count;
    if (!names.has_names() || level.count > kNamesShown + 1) continue;
    const bool is_over = level.count > kNamesShown;
    if (level.count > 1) level.names += is_over ? ", ..." : ", ";
    if (!is_over) level.names += names.name(static_cast<Vertex>(v));
  }
  return levels;
}

}  // namespace

double BfsOutcome::teps() const {
  const double middle = median(seconds);
  return middle > 0.0 ? static_cast<double>(traversed_edges) / middle : 0.0;
}

void set_fields(Json& json, const BfsOutcome& outcome, const VertexNames& names) {
  json["source"] = names.json_id(outcome.source);
  if (names.has_names()) json["source_name"] = names.name(outcome.source);
  json["reached"] = outcome.result.reached;
  json["max_depth"] = outcome.result.max_depth;
  json["sum_depth"] = outcome.result.sum_depth;
  if (!outcome.levels.empty() && outcome.levels.size() <= kLevelsTold)
    json["levels"] = outcome.levels;
  json["traversed_edges"] = outcome.traversed_edges;
  json["teps"] = outcome.teps();
  json["verified"] = outcome.verdict ? Json(outcome.verdict->correct) : Json(nullptr);
}

void print_outcome(Session& session, const BfsOutcome& outcome, const VertexNames& names) {
  if (!session.prints()) return;
  const traverse::BfsResult& result = outcome.result;
  if (!outcome.depth.empty()) {
    session.print("\ndepth  vertices\n");
    const std::vector<Level> levels = levels_of(outcome, names);
    for (std::size_t d = 0; d < levels.size(); ++d) {
      if (levels.size() > kLevelsShown && d == kLevelsShown - 2) {
        session.print("  ...  ({} levels more)\n", levels.size() - kLevelsShown + 1);
        d = levels.size() - 1;
      }
      session.print("{:>5}  {:>8}{}{}\n", d, thousands(levels[d].count),
                    levels[d].names.empty() ? "" : "  ", levels[d].names);
    }
    session.print("\n");
  }
  const double mean = static_cast<double>(result.sum_depth) / static_cast<double>(result.reached);
  Table table;
  table.row("reached",
            fmt::format("{} of {} ({}), mean depth {:.2f}, largest {}", thousands(result.reached),
                        counted(names.vertices(), "vertex", "vertices"),
                        percent(result.reached, names.vertices()), mean, result.max_depth));
  table.row("time", fmt::format("{} for {}: {}edges/s ({})", duration(median(outcome.seconds)),
                                counted(outcome.traversed_edges, "edge", "edges"),
                                with_prefix(outcome.teps()), session.place()));
  if (outcome.verdict) {
    table.row("verified", outcome.verdict->correct ? "yes, by the Graph500 rules"
                                                   : "NO: " + outcome.verdict->message);
  }
  session.print("{}", table.text());
}

void write_bfs(const std::string& path, const BfsOutcome& outcome, const VertexNames& names) {
  write_lines(path, outcome.depth.size(), [&](std::string& lines, Vertex v) {
    if (outcome.depth[v] == kNoVertex) {
      fmt::format_to(std::back_inserter(lines), "{} -1 -1\n", names.id_text(v));
    } else {
      fmt::format_to(std::back_inserter(lines), "{} {} {}\n", names.id_text(v), outcome.depth[v],
                     names.id_text(outcome.parent[v]));
    }
  });
}

}  // namespace warren::app
