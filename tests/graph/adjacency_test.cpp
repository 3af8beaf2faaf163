// SPDX-License-Identifier: Apache-2.0
// Far neighbour lists walked by one thread, and by workers of several threads through a stage.
#include "warren/exec/cpu_block.hpp"

#include "graph/adjacency_cases.hpp"
#include "support/size.hpp"

namespace warren::graph {
namespace {

constexpr std::uint32_t kStageBytes = sizeof(FarStage);

TEST(Adjacency, OneThreadWalks) {
  exec::ThreadPool pool(2);
  const exec::Device device = exec::Device::cpu(1);
  const exec::Stream stream(device);
  for (const auto& [name, graph] : compression_graphs(pool)) {
    SCOPED_TRACE(name);
    check_adjacencies(graph, device, 1, pool, [&](std::uint64_t tasks, const auto& kernel) {
      exec::launch<exec::Cpu, exec::Serial>(stream, tasks, kernel, {.scratch_bytes = kStageBytes});
    });
  }
}

class AdjacencyLanes : public testing::TestWithParam<int> {};

TEST_P(AdjacencyLanes, WalkThroughAStage) {
  exec::ThreadPool pool(2), lanes(GetParam());
  const exec::Device device = exec::Device::cpu(1);
  const EdgeOffset most_edges = GetParam() == 1 ? 3000
                                : testing_support::sees_few()
                                    ? 60
                                    : 200;  // An edge takes dozens of barriers.
  for (const auto& [name, graph] : compression_graphs(pool)) {
    if (graph.edges() > most_edges) continue;
    SCOPED_TRACE(name);
    check_adjacencies(graph, device, static_cast<std::uint32_t>(GetParam()), pool,
                      [&](std::uint64_t tasks, const auto& kernel) {
                        exec::launch_cpu_block(lanes, tasks, kernel, kStageBytes);
                      });
  }
}
INSTANTIATE_TEST_SUITE_P(Threads, AdjacencyLanes, testing::Values(1, 3, 5));

}  // namespace
}  // namespace warren::graph
