// SPDX-License-Identifier: Apache-2.0
// Graphs that traversals are tested on, and the teams that they are tested with.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "warren/graph/builder.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/shard.hpp"
#include "warren/graph/transform.hpp"
#include "warren/team/team.hpp"

#include "support/size.hpp"

namespace warren::fixtures {

/// Edges from a list, in two pieces.
class ListSource : public graph::EdgeSource {
 public:
  ListSource(Vertex vertices, std::vector<graph::Edge> edges)
      : vertices_(vertices), edges_(std::move(edges)) {}
  [[nodiscard]] std::uint64_t vertices() const override { return vertices_; }
  [[nodiscard]] graph::WeightType weight_type() const override { return graph::WeightType::none; }
  [[nodiscard]] std::uint64_t pieces() const override { return 2; }
  void read(std::uint64_t piece, graph::EdgeSink& sink) override {
    const std::size_t half = edges_.size() / 2;
    const std::span<const graph::Edge> all(edges_);
    sink.take(piece == 0 ? all.subspan(0, half) : all.subspan(half), {}, {});
  }

 private:
  Vertex vertices_;
  std::vector<graph::Edge> edges_;
};

inline graph::Graph from_list(Vertex vertices, std::vector<graph::Edge> edges,
                              const graph::BuildOptions& options = {}) {
  exec::ThreadPool pool(2);
  ListSource source(vertices, std::move(edges));
  return graph::build(source, options, pool);
}

inline graph::Graph generated(const std::string& text, bool symmetrize, std::uint64_t seed = 1) {
  exec::ThreadPool pool(2);
  const auto spec = graph::parse_generator(text, seed);
  graph::BuildOptions options;
  options.symmetrize = symmetrize;
  return graph::build(*graph::make_source(*spec), graph::effective_options(*spec, options), pool);
}

inline graph::Graph random_graph(Vertex vertices, std::size_t edges, std::uint64_t seed,
                                 bool symmetrize) {
  std::mt19937_64 random(seed);
  std::vector<graph::Edge> list;
  for (std::size_t i = 0; i < edges; ++i) {
    list.push_back(
        {static_cast<Vertex>(random() % vertices), static_cast<Vertex>(random() % vertices)});
  }
  graph::BuildOptions options;
  options.symmetrize = symmetrize;
  return from_list(vertices, std::move(list), options);
}

/// Out-star: the centre's edges to all others, as a directed graph or both ways.
inline graph::Graph star(Vertex vertices, bool symmetrize) {
  std::vector<graph::Edge> list;
  for (Vertex v = 1; v < vertices; ++v) list.push_back({0, v});
  graph::BuildOptions options;
  options.symmetrize = symmetrize;
  return from_list(vertices, std::move(list), options);
}

inline graph::Graph path(Vertex vertices) {
  std::vector<graph::Edge> list;
  for (Vertex v = 0; v + 1 < vertices; ++v) list.push_back({v, v + 1});
  return from_list(vertices, std::move(list));
}

/// Edges in host memory: none of them cached, the first rows' cached, all cached; compressed.
inline std::vector<graph::EdgesOptions> host_edges() {
  return {{graph::EdgesPlacement::host, 0},
          {graph::EdgesPlacement::host, 4000},
          {graph::EdgesPlacement::host, std::uint64_t{1} << 26},
          {graph::EdgesPlacement::compressed_host, 0}};
}

struct Named {
  std::string name;
  graph::Graph graph;
};

/// The shapes that break traversals: one vertex, loops, stars, long paths, isolated vertices,
/// several components, hubs.
inline std::vector<Named> shapes() {
  using testing_support::of_size;
  const bool is_tiny = testing_support::is_tiny();
  std::vector<Named> all;
  all.push_back({"one vertex", from_list(1, {})});
  all.push_back({"one vertex with a loop", from_list(1, {{0, 0}})});
  all.push_back({"two vertices, one edge", from_list(2, {{0, 1}})});
  all.push_back({"no edges", from_list(70, {})});
  all.push_back(
      {"loops and duplicates", from_list(5, {{0, 0}, {0, 1}, {0, 1}, {1, 2}, {2, 2}, {4, 3}})});
  all.push_back({"path", path(of_size(3000, 300, 40))});
  all.push_back({"star", star(is_tiny ? 700 : 5000, true)});
  all.push_back({"out-star", star(is_tiny ? 700 : 5000, false)});
  all.push_back({"grid", generated(is_tiny ? "grid:12x9" : "grid:40x31", true)});
  all.push_back({"kronecker", generated(of_size("kron:12", "kron:10", "kron:9"), true)});
  all.push_back({"kronecker, directed", generated(of_size("kron:11", "kron:9", "kron:8"), false)});
  all.push_back({"uniform", generated(of_size("urand:11,8", "urand:9,8", "urand:8,8"), true)});
  all.push_back(
      {"community",
       generated(of_size("community:4000,6", "community:1000,6", "community:400,6"), true)});
  for (std::uint64_t seed = 0; seed < (is_tiny ? 2u : 6u); ++seed) {
    all.push_back(
        {"random " + std::to_string(seed),
         random_graph(static_cast<Vertex>(50 + 137 * seed), 40 + 300 * seed, seed, seed % 2 == 0)});
  }
  testing_support::keep_for_threads(all);
  return all;
}

/// The shapes, and one whose two thousand levels are wider than a block has threads.
inline std::vector<Named> shapes_and_wide_levels() {
  std::vector<Named> all = shapes();
  all.push_back(
      {"grid, wide levels",
       generated(testing_support::of_size("grid:1200x1100", "grid:260x250", "grid:40x30"), true)});
  return all;
}

/// Shapes for every place that edges can be in: fewer in the smallest tests, but long lists, levels
/// that are wide, and lists of one end each.
inline std::vector<Named> placed_shapes() {
  std::vector<Named> all = shapes();
  if (!testing_support::is_tiny()) return all;
  std::erase_if(all, [](const Named& named) {
    return named.name != "star" && named.name != "grid" && named.name != "kronecker, directed" &&
           named.name != "random 1";
  });
  return all;
}

/// With compressed lists.
inline graph::ShardSource shard_source(const graph::Graph& graph, int ranks) {
  exec::ThreadPool pool(2);
  graph::ShardSource source = graph::shard_source(graph, ranks, pool);
  graph::compress_lists(source, pool);
  return source;
}

/// Teams that every algorithm is run with.
inline std::vector<team::TeamOptions> cpu_teams() {
  std::vector<team::TeamOptions> teams;
  for (const auto& [ranks, threads] : {std::pair{1, 1}, {1, 3}, {2, 2}, {3, 3}, {4, 8}, {7, 7}}) {
    if (ranks > 4 && testing_support::is_small()) continue;
    team::TeamOptions options;
    options.ranks = ranks;
    options.threads = threads;
    teams.push_back(options);
  }
  return teams;
}

/// Ranks on as many GPUs, which take turns where there are fewer.
inline team::TeamOptions cuda_team(int ranks) {
  team::TeamOptions options;
  options.kind = exec::DeviceKind::cuda;
  options.ranks = ranks;
  if (ranks > exec::cuda_device_count()) options.sharing = team::Sharing::turns;
  return options;
}

/// Every number of GPUs that there are, and ranks that share them: these wait for each other by
/// turns of the GPU, which takes too long in small tests. The smallest have a rank on every GPU
/// that is visible, and no other team: CUDA_VISIBLE_DEVICES chooses.
inline std::vector<team::TeamOptions> cuda_teams() {
  std::vector<team::TeamOptions> teams;
  const int present = exec::cuda_device_count();
  const int most = testing_support::is_small() ? present : present + 2;
  const bool is_tiny = testing_support::is_tiny();
  for (int ranks = 1; ranks <= most && present > 0; ++ranks) {
    if (is_tiny && ranks != present) continue;
    teams.push_back(cuda_team(ranks));
  }
  return teams;
}

/// With teams of up to four ranks, besides, that share GPUs side by side: what has kernels that
/// wait for each other.
inline std::vector<team::TeamOptions> cuda_teams_of_waiting_kernels() {
  std::vector<team::TeamOptions> teams = cuda_teams();
  const int present = exec::cuda_device_count();
  const bool has_more = present > 0 && !testing_support::is_small();
  for (int ranks = present + 1; ranks <= 4 && has_more; ++ranks) {
    teams.push_back(cuda_team(ranks));
    teams.back().sharing = team::Sharing::side_by_side;
  }
  return teams;
}

/// Ranks that do not reach each other's memory, of whichever teams have several.
inline std::vector<team::TeamOptions> apart(std::vector<team::TeamOptions> teams) {
  std::erase_if(teams, [](const team::TeamOptions& options) { return options.ranks == 1; });
  for (team::TeamOptions& options : teams) options.are_apart = true;
  return teams;
}
inline std::vector<team::TeamOptions> cpu_teams_apart() { return apart(cpu_teams()); }
/// On one GPU ranks that take turns.
inline std::vector<team::TeamOptions> cuda_teams_apart() {
  const int present = exec::cuda_device_count();
  if (present == 0) return {};
  std::vector<team::TeamOptions> teams = apart(cuda_teams());
  if (teams.empty()) teams = apart({cuda_team(2)});
  return teams;
}

}  // namespace warren::fixtures
