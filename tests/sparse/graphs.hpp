// SPDX-License-Identifier: Apache-2.0
// Graphs that sparse products are tested on: the traversals' shapes that are small, weights of both
// kinds, hubs.
#pragma once

#include "traverse/fixtures.hpp"

namespace warren::fixtures {

inline graph::Graph weighted(graph::Graph graph, std::uint64_t seed) {
  exec::ThreadPool pool(2);
  graph::set_uniform_weights(graph, 1, 9, seed, pool);
  return graph;
}

inline graph::Graph float_weighted(graph::Graph graph) {
  graph.weight_type = graph::WeightType::float32;
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (EdgeOffset e = 0; e < graph.edges(); ++e)
    graph.weights_float[e] = static_cast<float>(e % 13) / 4.0f - 1.0f;
  return graph;
}

/// Smaller ones in the smallest tests; stars still have rows that are cut.
inline std::vector<Named> matrices() {
  const bool is_tiny = testing_support::is_tiny();
  std::vector<Named> all;
  all.push_back({"one vertex", from_list(1, {})});
  all.push_back({"one vertex with a loop", from_list(1, {{0, 0}})});
  all.push_back({"no edges", from_list(70, {})});
  graph::BuildOptions keep;
  keep.keep_duplicates = true;
  all.push_back({"loops and duplicates",
                 from_list(5, {{0, 0}, {0, 1}, {0, 1}, {1, 2}, {2, 2}, {4, 3}}, keep)});
  all.push_back({"path", path(is_tiny ? 60 : 300)});
  all.push_back({"star", star(is_tiny ? 700 : 2000, true)});
  all.push_back({"out-star", star(is_tiny ? 700 : 2000, false)});
  all.push_back({"kronecker", generated(is_tiny ? "kron:6" : "kron:9", true)});
  all.push_back({"kronecker, directed", generated(is_tiny ? "kron:6" : "kron:9", false)});
  all.push_back({"community, weighted",
                 weighted(generated(is_tiny ? "community:120,6" : "community:500,6", true), 3)});
  all.push_back({"uniform, float weights",
                 float_weighted(generated(is_tiny ? "urand:5,9" : "urand:8,9", false))});
  for (std::uint64_t seed = 0; seed < (is_tiny ? 2u : 4u); ++seed) {
    all.push_back(
        {"random " + std::to_string(seed),
         random_graph(static_cast<Vertex>(20 + 97 * seed), 40 + 500 * seed, seed, seed % 2 == 0)});
  }
  testing_support::keep_for_threads(all);
  return all;
}

}  // namespace warren::fixtures
