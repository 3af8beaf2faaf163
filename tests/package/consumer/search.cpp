// SPDX-License-Identifier: Apache-2.0
// Breadth-first search of a generated grid with two ranks: the far corner of a grid of 30 x 20 lies
// 29 + 19 steps from the first vertex.
#include <cstdlib>
#include <iostream>
#include <utility>

#include "warren/graph.hpp"
#include "warren/traverse.hpp"

int main() {
  using namespace warren;
  exec::ThreadPool pool(2);
  const auto spec = graph::parse_generator("grid:30x20", 1);
  graph::Graph grid =
      graph::build(*graph::make_source(*spec), graph::effective_options(*spec, {}), pool);
  team::TeamOptions options;
  options.ranks = 2;
  options.threads = 2;
  const graph::ShardSource source = graph::shard_source(std::move(grid), options.ranks, pool);

  int status = EXIT_SUCCESS;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard);
    const traverse::BfsResult result = bfs.run(0);
    if (team.rank() != 0) return;
    std::cout << "reached " << result.reached << " vertices, the farthest in " << result.max_depth
              << " steps\n";
    if (result.reached != 600 || result.max_depth != 48) status = EXIT_FAILURE;
  });
  return status;
}
