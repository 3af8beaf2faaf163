// SPDX-License-Identifier: Apache-2.0
// Counts of real graphs against golden answers computed elsewhere.
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "graph/io_support.hpp"
#include "support/folders.hpp"

namespace warren::graph {
namespace {

const std::filesystem::path kData = testing_support::data_folder();

TEST(Golden, Graphs) {
  if (!std::filesystem::exists(kData / "GOLDEN.json"))
    GTEST_SKIP() << "no golden data in " << kData;
  const nlohmann::json golden = nlohmann::json::parse(std::ifstream(kData / "GOLDEN.json"));
  exec::ThreadPool pool(2);
  for (const auto& [name, expected] : golden["graphs"].items()) {
    SCOPED_TRACE(name);
    ReadOptions options;
    options.compact = expected["id_gaps"] != 0;
    options.build.symmetrize = expected["directed"] == false;
    const std::string file = expected["file"];
    // A list of both directions already says what it is; symmetrising it changes nothing.
    const Graph graph = read_graph((kData / "graphs" / file).string(), options, pool);
    EXPECT_EQ(graph.vertices, expected["n"]);
    EXPECT_EQ(graph.edges(), expected["arcs"]);
    std::uint64_t loops = 0, max_degree = 0;
    for (Vertex v = 0; v < graph.vertices; ++v) {
      max_degree = std::max(max_degree, graph.degree(v));
      for (const Vertex u : graph.neighbours(v)) loops += u == v ? 1 : 0;
    }
    EXPECT_EQ(loops, expected["self_loops"]);
    EXPECT_EQ(max_degree, expected["max_out_degree"]);
    EXPECT_EQ(graph.original_id(graph.vertices - 1), expected["max_id"]);
    if (expected.contains("weights")) {
      std::int64_t sum = 0;
      for (const std::int32_t weight : graph.weights_int.span()) sum += weight;
      EXPECT_EQ(sum, expected["weights"]["sum_over_arcs"]);
    }
  }
}

TEST(Golden, Matrices) {
  if (!std::filesystem::exists(kData / "GOLDEN.json"))
    GTEST_SKIP() << "no golden data in " << kData;
  const nlohmann::json golden = nlohmann::json::parse(std::ifstream(kData / "GOLDEN.json"));
  exec::ThreadPool pool(2);
  for (const auto& [name, expected] : golden["spmm_matrices"].items()) {
    SCOPED_TRACE(name);
    const Graph graph = read_graph((kData / "matrices" / (name + ".zst")).string(), {}, pool);
    EXPECT_EQ(graph.vertices, expected["rows"]);
    EXPECT_EQ(graph.edges(), expected["nnz_expanded"]);
    EXPECT_EQ(graph.weight_type, WeightType::float32);
  }
}

}  // namespace
}  // namespace warren::graph
