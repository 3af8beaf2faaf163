// SPDX-License-Identifier: Apache-2.0
// warren bc: betweenness centrality.
#include <algorithm>
#include <memory>

#include "warren/graph/transform.hpp"
#include "warren/traverse/betweenness.hpp"

#include "counts.hpp"

namespace warren::app {
namespace {

struct BetweennessCommand : CountsCommand {
  std::uint64_t sources = 0;  ///< 0: all vertices.
  bool is_unnormalized = false;
};

/// In the user's numbering.
std::vector<Vertex> sources_of(const BetweennessCommand& command, std::uint64_t vertices) {
  return traverse::sample_sources(vertices, command.sources == 0 ? vertices : command.sources,
                                  command.common.seed);
}

/// Over the command's sources, and scaled.
class ScaledBetweenness {
 public:
  ScaledBetweenness(team::Team& team, const graph::Shard& shard, const TraversalInput& input,
                    const BetweennessCommand& command)
      : betweenness_(team, shard), sources_(sources_of(command, shard.vertices)) {
    scale_ = traverse::betweenness_scale(shard.vertices, sources_.size(), !command.is_unnormalized,
                                         shard.is_symmetric);
    std::ranges::transform(sources_, sources_.begin(),
                           [&](Vertex source) { return input.to_shard(source); });
  }
  traverse::BetweennessResult run() { return betweenness_.run(sources_); }
  [[nodiscard]] std::vector<double> scores() const {
    std::vector<double> scores = betweenness_.all_scores();
    for (double& score : scores) score *= scale_;
    return scores;
  }

 private:
  traverse::Betweenness betweenness_;
  std::vector<Vertex> sources_;
  double scale_ = 1.0;
};

ExitStatus run_bc(const BetweennessCommand& command) {
  return run_counts<traverse::BetweennessResult, double>(
      "bc", "searching", command, "score",
      [&](team::Team& team, const graph::Shard& shard, const TraversalInput& input) {
        return std::make_unique<ScaledBetweenness>(team, shard, input, command);
      },
      [](const ScaledBetweenness& betweenness) { return betweenness.scores(); },
      [&](const graph::Graph& graph, const std::vector<double>& scores, exec::ThreadPool& pool) {
        graph::Graph known = graph;
        const std::vector<Vertex> sources = sources_of(command, graph.vertices);
        const double scale =
            traverse::betweenness_scale(graph.vertices, sources.size(), !command.is_unnormalized,
                                        graph::is_symmetric(known, pool));
        return traverse::verify_betweenness(graph, sources, scores, scale, pool);
      },
      [&](Json& json, Table& table, const traverse::BetweennessResult& result) {
        json["normalized"] = !command.is_unnormalized;
        json["steps"] = result.steps;
        const auto vertices = json["vertices"].get<std::uint64_t>();
        const std::uint64_t sources =
            command.sources == 0 ? vertices : std::min(command.sources, vertices);
        json["sources"] = sources;
        table.row("sources", sources == vertices ? "all vertices" : thousands(sources));
      },
      command.sources > 0);
}

}  // namespace

void add_bc(CLI::App& program, Action& action) {
  auto command = std::make_shared<BetweennessCommand>();
  CLI::App* bc = add_command(
      program, "bc",
      "Betweenness centrality: the part of the shortest paths that lead through each vertex");
  add_graph_options(*bc, command->graph);
  add_number(*bc, "--sources", command->sources,
             "Search from N random vertices, by --seed (default: from all, which is exact)", "N", 1,
             kMaxVertices);
  bc->add_flag("--unnormalized", command->is_unnormalized,
               "Sums over pairs, in place of parts of (n - 1) (n - 2)");
  add_traversal_options(*bc, command->traversal);
  add_common_options(*bc, command->common);
  bc->footer(
      "Example:\n  warren bc debian --sources 64 --verify\n"
      "  warren bc kron:16 --symmetrize --drop-self-loops --sources 256 --json -");
  bc->callback([command, &action] { action = [command] { return run_bc(*command); }; });
}

}  // namespace warren::app
