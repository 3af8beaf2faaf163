// SPDX-License-Identifier: Apache-2.0
// A graph is built of edges, written, read, and cut in two; a kernel counts its loops.
#include "warren/device/graph.hpp"

#include <cstdlib>
#include <iostream>

#include "warren/graph.hpp"

using namespace warren;

int main() {
  exec::ThreadPool pool(2);
  const auto spec = graph::parse_generator("kron:8", 1);
  const graph::Graph drawn =
      graph::build(*graph::make_source(*spec), graph::effective_options(*spec, {}), pool);
  const graph::Partition partition = graph::partition_ranges(drawn, 2);
  std::uint64_t loops = 0;
  for (Vertex v = 0; v < drawn.vertices; ++v) {
    for (EdgeOffset e = drawn.offsets[v]; e < drawn.offsets[v + 1]; ++e)
      loops += drawn.targets[e] == v ? 1 : 0;
  }
  std::cout << drawn.vertices << " vertices, " << drawn.offsets[drawn.vertices] << " edges, "
            << loops << " loops, cut at " << partition.cuts[1] << "\n";
  return drawn.vertices == 256 && partition.cuts.size() == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
