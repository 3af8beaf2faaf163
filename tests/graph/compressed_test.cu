// SPDX-License-Identifier: Apache-2.0
// Compressed lists read by GPU threads, tiles and warps, out of pinned host memory.
#include "graph/compressed_cases.hpp"

namespace warren::graph {
namespace {

template <class W>
void check(std::uint32_t lanes) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  exec::ThreadPool pool(2);
  const exec::Device device = exec::Device::cuda(0);
  const exec::Stream stream(device);
  for (const auto& [name, graph] : compression_graphs(pool)) {
    SCOPED_TRACE(name);
    check_reading(graph, compress(graph, pool), device, lanes,
                  [&](std::uint64_t tasks, const auto& kernel) {
                    exec::launch<exec::Cuda, W>(stream, tasks, kernel);
                    stream.synchronize();
                  });
  }
}

TEST(CompressedCuda, Thread) { check<exec::Thread>(1); }
TEST(CompressedCuda, Tile8) { check<exec::Tile<8>>(8); }
TEST(CompressedCuda, Warp) { check<exec::Warp>(32); }

}  // namespace
}  // namespace warren::graph
