// SPDX-License-Identifier: Apache-2.0
// ogbn-papers100M's form: raw/data.npz of edge_index (2 x edges, sources above targets), node_feat
// (vertices x features), num_nodes_list and num_edges_list (of one graph); raw/node-label.npz of
// node_label, NaN for vertices without one. Other members (node_year) are left alone.
#include <filesystem>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/memory/host_array.hpp"

#include "dataset/dataset_arrays.hpp"
#include "dataset/edge_list.hpp"
#include "dataset/ogb_binary.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

std::string binary_path(const std::string& folder) {
  return (fs::path(folder) / "raw" / "data.npz").string();
}

std::uint64_t count_vertices(const Archive& data) {
  const auto features = data.array("node_feat");
  const std::uint64_t rows = feature_rows(features);
  if (data.contains("num_nodes_list")) {
    const std::uint64_t told = read_count(data.array("num_nodes_list"), kMaxVertices);
    if (told != rows) features.fail(fmt::format("{} rows, but num_nodes_list says {}", rows, told));
  }
  return rows;
}

/// 8 bytes an edge, whatever integers the archive has.
memory::HostArray<graph::Edge> read_edge_index(const Archive& data, std::uint64_t vertices) {
  auto index = data.array("edge_index");
  check_integers(index);
  const auto& shape = index.array().shape;
  if (shape.size() != 2 || shape[0] != 2)
    index.fail("the array's shape is not 2 x edges, sources above targets");
  const std::uint64_t count = shape[1];
  if (data.contains("num_edges_list")) {
    const std::uint64_t told = read_count(data.array("num_edges_list"), ~std::uint64_t{0});
    if (told != count) index.fail(fmt::format("{} edges, but num_edges_list says {}", count, told));
  }
  memory::HostArray<graph::Edge> edges(count);
  each_element(index, [&](std::uint64_t i, double end) {
    const bool is_source = i < count;
    const std::uint64_t edge = is_source ? i : i - count;
    if (!is_index(end, vertices))
      index.fail(fmt::format("row {}, column {} is {}; vertices go from 0 to {}", is_source ? 0 : 1,
                             edge, end, vertices - 1));
    (is_source ? edges[edge].source : edges[edge].target) = static_cast<Vertex>(end);
  });
  return edges;
}

}  // namespace

bool is_binary_ogb(const std::string& folder) {
  std::error_code error;
  return fs::exists(binary_path(folder), error) &&
         !fs::exists(fs::path(folder) / "raw" / "edge.csv.gz", error);
}

graph::Graph read_binary_ogb_graph(const std::string& folder, const graph::BuildOptions& options,
                                   exec::ThreadPool& pool) {
  const Archive data(binary_path(folder));
  const std::uint64_t vertices = count_vertices(data);
  const auto edges = read_edge_index(data, vertices);
  EdgeList source(vertices, edges.span());
  return graph::build(source, options, pool);
}

void read_binary_ogb_features(const std::string& folder, Dataset& dataset) {
  const Archive data(binary_path(folder));
  read_features(data.array("node_feat"), dataset);
}

void read_binary_ogb_labels(const std::string& folder, Dataset& dataset) {
  const Archive labels((fs::path(folder) / "raw" / "node-label.npz").string());
  read_labels(labels.array("node_label"), dataset);
}

}  // namespace warren::learn
