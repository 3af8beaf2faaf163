// SPDX-License-Identifier: Apache-2.0
// warren cc: weakly connected components.
#include <algorithm>
#include <memory>
#include <optional>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/verify.hpp"

#include "command.hpp"
#include "files.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "traversal_input.hpp"

namespace warren::app {
namespace {

constexpr std::size_t kShown = 5;

struct ComponentsCommand {
  CommonOptions common;
  GraphOptions graph;
  TraversalOptions traversal;
};

/// What the ranks find together, filled by rank 0.
struct ComponentsOutcome {
  std::uint64_t edges = 0;
  traverse::ComponentsResult result;
  std::vector<double> seconds;
  std::vector<Vertex> labels;  ///< In the user's order; empty where nobody asked.
  std::optional<traverse::Verdict> verdict;
};

/// Labels of the shards' order, as the user's: the smallest of the user's vertices.
std::vector<Vertex> in_user_terms(const TraversalInput& input, std::vector<Vertex> labels) {
  labels = input.in_user_order(std::move(labels));
  std::vector<Vertex> smallest(labels.size(), kNoVertex);
  for (std::size_t v = 0; v < labels.size(); ++v) {
    Vertex& first = smallest[labels[v]];
    if (first == kNoVertex) first = static_cast<Vertex>(v);
    labels[v] = first;
  }
  return labels;
}

/// One rank's work.
void run_rank(const ComponentsCommand& command, const Session& session, TraversalInput& input,
              team::Team& team, ComponentsOutcome& outcome) {
  const graph::Shard shard = input.shard(team);
  traverse::Components components(team, shard);
  components.run();  // Warms up.
  traverse::ComponentsResult result;
  std::vector<double> seconds;
  for (int run = 0; run < command.common.repeat; ++run) {
    result = components.run();
    seconds.push_back(
        team.all_reduce(result.seconds, [](double a, double b) { return a > b ? a : b; }));
  }
  const bool verify = command.traversal.verify;
  std::vector<Vertex> labels;
  if (verify || session.prints() || !command.traversal.output.empty())
    labels = components.all_labels();
  std::shared_ptr<const graph::Graph> graph;
  if (verify) graph = input.whole_graph(team, shard);
  if (team.rank() != 0) return;
  outcome.edges = shard.edges;
  outcome.result = result;
  outcome.seconds = std::move(seconds);
  outcome.labels = in_user_terms(input, std::move(labels));
  if (!verify) return;
  const TraceSpan span("verify", 0);
  outcome.verdict = traverse::verify_components(*graph, outcome.labels, session.pool());
}

void set_json(Json& json, const ComponentsOutcome& outcome, const std::string& placement) {
  json["seconds"] = outcome.seconds;
  json["components"] = outcome.result.components;
  json["largest"] = outcome.result.largest;
  json["verified"] = outcome.verdict ? Json(outcome.verdict->correct) : Json(nullptr);
  json["mode"] = "sync";
  json["edges_placement"] = placement;
  json["bytes_read"] = outcome.result.far_bytes;
}

/// The largest components, ties by label: vertices, and the label.
std::vector<std::pair<std::uint64_t, Vertex>> largest_of(const std::vector<Vertex>& labels) {
  std::vector<std::uint64_t> vertices(labels.size(), 0);
  for (const Vertex label : labels) ++vertices[label];
  std::vector<std::pair<std::uint64_t, Vertex>> all;
  for (std::size_t v = 0; v < labels.size(); ++v) {
    if (vertices[v] > 0) all.emplace_back(vertices[v], static_cast<Vertex>(v));
  }
  const std::size_t count = std::min(kShown, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  all.resize(count);
  return all;
}

void print_outcome(Session& session, const ComponentsOutcome& outcome, const VertexNames& names) {
  if (!session.prints()) return;
  const auto largest = largest_of(outcome.labels);
  session.print("\n{:>12}  smallest vertex of the component\n", "vertices");
  for (const auto& [vertices, label] : largest)
    session.print("{:>12}  {}\n", thousands(vertices), names.name_and_id(label));
  if (outcome.result.components > largest.size())
    session.print("{:>12}  ({} components more)\n", "...",
                  thousands(outcome.result.components - largest.size()));
  Table table;
  table.row("components",
            fmt::format("{}, the largest of {} ({})", thousands(outcome.result.components),
                        counted(outcome.result.largest, "vertex", "vertices"),
                        percent(outcome.result.largest, names.vertices())));
  const double middle = median(outcome.seconds);
  table.row(
      "time",
      fmt::format("{}: {}edges/s ({})", duration(middle),
                  with_prefix(middle > 0.0 ? static_cast<double>(outcome.edges) / middle : 0.0),
                  session.place()));
  if (outcome.verdict) {
    table.row("verified", outcome.verdict->correct ? "yes, by every edge and a union-find"
                                                   : "NO: " + outcome.verdict->message);
  }
  session.print("\n{}", table.text());
}

void write_labels(const std::string& path, const std::vector<Vertex>& labels,
                  const VertexNames& names) {
  write_lines(path, labels.size(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", names.id_text(v),
                   names.id_text(labels[v]));
  });
}

ExitStatus run_cc(const ComponentsCommand& command) {
  check_traversal_options(command.traversal, false);
  Session session("cc", command.common);
  const std::string& output = command.traversal.output;
  if (!output.empty()) session.writes("--output", output);
  const std::string& method = command.traversal.method;
  TraversalInput input(session, command.graph, command.traversal,
                       method.empty() ? "ranges" : method);
  warn_of_weights(session, "cc");
  session.warn_of_seed(input.is_drawn());
  session.json()["method"] = input.method();
  ComponentsOutcome outcome;
  {
    const auto progress = session.progress("connecting");
    team::run_team(session.team(),
                   [&](team::Team& team) { run_rank(command, session, input, team, outcome); });
  }
  if (!output.empty()) write_labels(output, outcome.labels, input.names());
  describe_graph(session, command.graph, input.vertices(), outcome.edges);
  set_json(session.json(), outcome, command.traversal.edges);
  print_outcome(session, outcome, input.names());
  session.finish();
  if (!outcome.verdict || outcome.verdict->correct) return ExitStatus::done;
  print_error(fmt::format("the components are wrong: {}", outcome.verdict->message));
  return ExitStatus::not_verified;
}

}  // namespace

void add_cc(CLI::App& program, Action& action) {
  auto command = std::make_shared<ComponentsCommand>();
  CLI::App* cc = add_command(program, "cc", "Connected components, whatever the edges' direction");
  add_graph_options(*cc, command->graph);
  add_traversal_options(*cc, command->traversal);
  add_common_options(*cc, command->common);
  cc->footer(
      "Example:\n  warren cc debian --verify\n"
      "  warren cc kron:20 --symmetrize --drop-self-loops --json -");
  cc->callback([command, &action] { action = [command] { return run_cc(*command); }; });
}

}  // namespace warren::app
