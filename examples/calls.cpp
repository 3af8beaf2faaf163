// SPDX-License-Identifier: Apache-2.0
// The library by its calls: a graph of arrays, four algorithms, a session of one's own, and what a
// wrong argument says.
#include <cstdio>
#include <vector>

#include "warren/warren.hpp"

int main() {
  // Six towns; roads both ways with their lengths in kilometres.
  const std::vector<warren::Vertex> from = {0, 0, 1, 2, 3};
  const std::vector<warren::Vertex> to = {1, 2, 2, 3, 4};
  const std::vector<std::int32_t> kilometres = {4, 1, 2, 5, 3};
  warren::ArrayOptions both_ways;
  both_ways.symmetrize = true;
  const warren::Graph roads = warren::from_edges(from, to, kilometres, 6, both_ways);

  const warren::BfsResult hops = warren::bfs(roads, {.source = 0});
  std::printf("%u roads from 0 to 4\n", hops.depth[4]);
  const warren::SsspResult ways = warren::sssp(roads, {.source = 0});
  std::printf("%lld km from 0 to 4\n", static_cast<long long>(ways.distance[4]));
  const warren::ComponentsResult parts = warren::connected_components(roads);
  std::printf("%llu parts, one of %llu towns\n", static_cast<unsigned long long>(parts.components),
              static_cast<unsigned long long>(parts.largest));

  // Two ranks that share two threads; its teams end with it.
  const warren::Session session({.device = warren::DeviceKind::cpu, .devices = 2, .threads = 2});
  const warren::PageRankResult ranks = warren::pagerank(roads, {.session = session});
  std::printf("the rank of 2 is %.3f, found by %d ranks\n", ranks.rank[2], ranks.info.devices);

  try {
    (void)warren::bfs(roads, {.source = 6});
  } catch (const warren::VertexError& error) {
    std::printf("%s\n", error.what());
  }
}
