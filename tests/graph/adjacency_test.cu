// SPDX-License-Identifier: Apache-2.0
// Far neighbour lists walked by warps, out of pinned host memory.
#include "graph/adjacency_cases.hpp"

namespace warren::graph {
namespace {

TEST(AdjacencyCuda, WarpsWalkThroughAStage) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  exec::ThreadPool pool(2);
  const exec::Device device = exec::Device::cuda(0);
  const exec::Stream stream(device);
  for (const auto& [name, graph] : compression_graphs(pool)) {
    SCOPED_TRACE(name);
    check_adjacencies(graph, device, 32, pool, [&](std::uint64_t tasks, const auto& kernel) {
      exec::launch<exec::Cuda, exec::Warp>(stream, tasks, kernel,
                                           {.scratch_bytes = sizeof(FarStage)});
      stream.synchronize();
    });
  }
}

}  // namespace
}  // namespace warren::graph
