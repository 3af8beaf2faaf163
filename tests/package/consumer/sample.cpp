// SPDX-License-Identifier: Apache-2.0
// Two neighbours each of three vertices of a grid that two ranks hold.
#include "warren/sample.hpp"

#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "warren/graph.hpp"

using namespace warren;

int main() {
  exec::ThreadPool pool(2);
  const auto spec = graph::parse_generator("grid:10x10", 1);
  graph::Graph grid =
      graph::build(*graph::make_source(*spec), graph::effective_options(*spec, {}), pool);
  const graph::ShardSource source = graph::shard_source(std::move(grid), 2, pool);
  int status = EXIT_SUCCESS;
  team::run_team({exec::DeviceKind::cpu, 2, 2}, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const graph::Shard shard = graph::make_shard(team, source);
    const sample::GraphStore store(team, shard);
    sample::NeighbourSampler sampler(team.device(), store, {.fanouts = {2}, .batch = 3});
    const std::vector<Vertex> seeds{0, 50, 99};
    memory::Buffer<Vertex> on_device(team.device(), seeds.size());
    on_device.upload(stream, std::span(seeds));
    sampler.run(stream, on_device.data(), seeds.size(), 0);
    const std::vector<sample::BatchCounts> counts = sampler.counts(stream);
    if (counts.front().edges[0] != 6) status = EXIT_FAILURE;
    if (team.rank() == 0)
      std::cout << counts.front().edges[0] << " edges to "
                << counts.front().vertices[1] - counts.front().vertices[0] << " new vertices\n";
    team.barrier();
  });
  return status;
}
