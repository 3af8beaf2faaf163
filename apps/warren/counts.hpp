// SPDX-License-Identifier: Apache-2.0
// What the commands bc, core and triangles share: a number for each vertex, found by a team,
// checked, shown and written.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/core/trace.hpp"
#include "warren/traverse/verify.hpp"

#include "command.hpp"
#include "files.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "traversal_input.hpp"

namespace warren::app {

struct CountsCommand {
  CommonOptions common;
  GraphOptions graph;
  TraversalOptions traversal;
};

/// What the ranks find together, filled by rank 0.
template <class Result, class Count>
struct Counts {
  std::uint64_t edges = 0;
  Result result;
  std::vector<double> seconds;
  std::vector<Count> counts;  ///< In the user's order.
  std::optional<traverse::Verdict> verdict;
};

/// One rank's work: `make` makes the algorithm of a team, a shard and the input; `all` tells its
/// values of all vertices.
template <class Result, class Count, class Make, class All, class Verify>
void count_on_rank(const CountsCommand& command, TraversalInput& input, team::Team& team,
                   Counts<Result, Count>& found, Make&& make, All&& all, Verify&& verify) {
  const graph::Shard shard = input.shard(team);
  const auto made = make(team, shard, input);
  auto& algorithm = *made;
  algorithm.run();  // Warms up.
  Result result;
  std::vector<double> seconds;
  for (int run = 0; run < command.common.repeat; ++run) {
    result = algorithm.run();
    seconds.push_back(
        team.all_reduce(result.seconds, [](double a, double b) { return a > b ? a : b; }));
  }
  const bool verifies = command.traversal.verify;
  std::vector<Count> counts = all(algorithm);
  std::shared_ptr<const graph::Graph> graph;
  if (verifies) graph = input.whole_graph(team, shard);
  if (team.rank() != 0) return;
  found.edges = shard.edges;
  found.result = result;
  found.seconds = std::move(seconds);
  found.counts = input.in_user_order(std::move(counts));
  if (!verifies) return;
  const TraceSpan span("verify", 0);
  found.verdict = verify(*graph, found.counts);
}

inline std::string count_text(std::uint64_t count) { return thousands(count); }
inline std::string count_text(std::uint32_t count) { return thousands(count); }
inline std::string count_text(double score) { return fmt::format("{:.6g}", score); }

/// The vertices with the largest counts, as many as `most`, ties by id.
template <class Count>
std::vector<Vertex> most_of(const std::vector<Count>& counts, std::size_t most) {
  std::vector<Vertex> order(counts.size());
  for (std::size_t v = 0; v < order.size(); ++v) order[v] = static_cast<Vertex>(v);
  const std::size_t shown = std::min(most, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
      [&](Vertex a, Vertex b) { return counts[a] != counts[b] ? counts[a] > counts[b] : a < b; });
  order.resize(shown);
  return order;
}

template <class Count>
void print_largest(Session& session, const std::vector<Count>& counts, const VertexNames& names,
                   const std::string& heading) {
  session.print("\n{:>12}  vertex\n", heading);
  for (const Vertex v : most_of(counts, 5))
    session.print("{:>12}  {}\n", count_text(counts[v]), names.name_and_id(v));
}

/// A line a vertex: its id, and the count.
template <class Count>
void write_counts(const std::string& path, const std::vector<Count>& counts,
                  const VertexNames& names) {
  write_lines(path, counts.size(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v), counts[v]);
  });
}

/// An algorithm that is made of a team and a shard alone.
template <class Algorithm>
std::unique_ptr<Algorithm> plain(team::Team& team, const graph::Shard& shard,
                                 const TraversalInput&) {
  return std::make_unique<Algorithm>(team, shard);
}

/// The command, from its options to its end. `what` is shown while it works; `tell(session, found)`
/// sets the JSON fields and adds rows to the table.
template <class Result, class Count, class Make, class All, class Verify, class Tell>
ExitStatus run_counts(const std::string& name, const std::string& what,
                      const CountsCommand& command, const std::string& heading, Make&& make,
                      All&& all, Verify&& verify, Tell&& tell, bool is_drawn = false) {
  check_traversal_options(command.traversal, false);
  Session session(name, command.common);
  const std::string& output = command.traversal.output;
  if (!output.empty()) session.writes("--output", output);
  const std::string& method = command.traversal.method;
  TraversalInput input(session, command.graph, command.traversal,
                       method.empty() ? "ranges" : method);
  warn_of_weights(session, name);
  warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || is_drawn);
  session.json()["method"] = input.method();
  Counts<Result, Count> found;
  {
    const auto progress = session.progress(what);
    team::run_team(session.team(), [&](team::Team& team) {
      count_on_rank(command, input, team, found, make, all,
                    [&](const graph::Graph& graph, const std::vector<Count>& counts) {
                      return verify(graph, counts, session.pool());
                    });
    });
  }
  if (!output.empty()) write_counts(output, found.counts, input.names());
  describe_graph(session, command.graph, input.vertices(), found.edges);
  Json& json = session.json();
  json["seconds"] = found.seconds;
  Table table;
  tell(json, table, found.result);
  json["top"] = Json::array();
  for (const Vertex v : most_of(found.counts, 10))
    json["top"].push_back({input.names().json_id(v), found.counts[v]});
  json["verified"] = found.verdict ? Json(found.verdict->correct) : Json(nullptr);
  json["mode"] = "sync";
  json["edges_placement"] = command.traversal.edges;
  if (session.prints()) {
    print_largest(session, found.counts, input.names(), heading);
    const double middle = median(found.seconds);
    const double rate = middle > 0.0 ? static_cast<double>(found.edges) / middle : 0.0;
    table.row("time", fmt::format("{}: {}edges/s ({})", duration(middle), with_prefix(rate),
                                  session.place()));
    if (found.verdict) {
      table.row("verified", found.verdict->correct ? "yes, by a sequential count"
                                                   : "NO: " + found.verdict->message);
    }
    session.print("\n{}", table.text());
  }
  session.finish();
  if (!found.verdict || found.verdict->correct) return ExitStatus::done;
  print_error(fmt::format("the result is wrong: {}", found.verdict->message));
  return ExitStatus::not_verified;
}

}  // namespace warren::app
