// SPDX-License-Identifier: Apache-2.0
// Reddit as the Deep Graph Library packs it. reddit_data.npz: feature (posts x features), label,
// node_types (1 for training, 2 for validation, 3 for the test). reddit_graph.npz: SciPy's sparse
// matrix of posts x posts, its rows the sources. node_ids are left alone, as that library does:
// rows stand in the order of the posts.
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/memory/host_array.hpp"

#include "dataset/dataset_arrays.hpp"
#include "dataset/edge_list.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;
using Edges = memory::HostArray<graph::Edge>;

std::string data_path(const std::string& folder) {
  return (fs::path(folder) / "reddit_data.npz").string();
}

/// Empty where there is none.
std::string graph_path(const std::string& folder) {
  for (const char* name : {"reddit_graph.npz", "reddit_self_loop_graph.npz"}) {
    std::error_code error;
    const fs::path path = fs::path(folder) / name;
    if (fs::exists(path, error)) return path.string();
  }
  return {};
}

std::uint64_t read_vertices(const Archive& matrix) {
  auto shape = matrix.array("shape");
  check_integers(shape);
  double sizes[2] = {0.0, 0.0};
  if (shape.array().count != 2) shape.fail("two sizes would be right");
  each_element(shape, [&](std::uint64_t i, double value) { sizes[i] = value; });
  if (sizes[0] != sizes[1] || !is_index(sizes[0] - 1.0, kMaxVertices))
    shape.fail(fmt::format("{} x {}; the matrix of a graph is square, of 1 to {} vertices",
                           sizes[0], sizes[1], kMaxVertices));
  return static_cast<std::uint64_t>(sizes[0]);
}

std::string read_format(const Archive& matrix) {
  std::string name = read_text(matrix.array("format"));
  if (name != "coo" && name != "csr" && name != "csc")
    throw InputError(fmt::format("{}: the matrix is in '{}' form; COO, CSR and CSC can be read",
                                 matrix.file.path(), name));
  return name;
}

void check_length(const files::NpyStream& stream, std::uint64_t length) {
  check_integers(stream);
  if (stream.array().shape.size() != 1 || stream.array().count != length)
    stream.fail(fmt::format("{} elements in {} dimensions; {} in one would be right",
                            stream.array().count, stream.array().shape.size(), length));
}

/// An end of every edge.
void read_ends(files::NpyStream& ends, std::uint64_t vertices, Vertex graph::Edge::*end,
               Edges& edges) {
  check_length(ends, edges.size());
  each_element(ends, [&](std::uint64_t i, double value) {
    if (!is_index(value, vertices))
      ends.fail(fmt::format("element {} is {}; vertices go from 0 to {}", i, value, vertices - 1));
    edges[i].*end = static_cast<Vertex>(value);
  });
}

Edges read_pairs(const Archive& matrix, std::uint64_t vertices) {
  auto rows = matrix.array("row"), columns = matrix.array("col");
  Edges edges(rows.array().count);
  read_ends(rows, vertices, &graph::Edge::source, edges);
  read_ends(columns, vertices, &graph::Edge::target, edges);
  return edges;
}

/// Lists one after the other, of which `of_list` is the end that the list is of.
Edges read_lists(const Archive& matrix, std::uint64_t vertices, Vertex graph::Edge::*of_list,
                 Vertex graph::Edge::*in_list) {
  auto offsets = matrix.array("indptr"), indices = matrix.array("indices");
  check_length(offsets, vertices + 1);
  Edges edges(indices.array().count);
  std::uint64_t before = 0;
  each_element(offsets, [&](std::uint64_t i, double value) {
    if (!is_index(value, edges.size() + 1) || value < static_cast<double>(before) ||
        (i == 0 && value != 0.0) || (i == vertices && value != static_cast<double>(edges.size())))
      offsets.fail(
          fmt::format("element {} is {}; offsets ascend from 0 to {}", i, value, edges.size()));
    const auto end = static_cast<std::uint64_t>(value);
    for (; before < end; ++before) edges[before].*of_list = static_cast<Vertex>(i - 1);
  });
  read_ends(indices, vertices, in_list, edges);
  return edges;
}

Edges read_edges(const Archive& matrix, std::uint64_t vertices) {
  const std::string format = read_format(matrix);
  if (format == "coo") return read_pairs(matrix, vertices);
  if (format == "csr")
    return read_lists(matrix, vertices, &graph::Edge::source, &graph::Edge::target);
  return read_lists(matrix, vertices, &graph::Edge::target, &graph::Edge::source);
}

void read_splits(files::NpyStream types, Dataset& dataset) {
  check_length(types, dataset.vertices);
  each_element(types, [&](std::uint64_t v, double type) {
    if (!is_index(type - 1.0, kSplits))
      types.fail(fmt::format(
          "row {} is {}; 1 (training), 2 (validation) or 3 (test) would be right", v, type));
    if (!dataset.labels.empty() && dataset.labels[v] < 0)
      types.fail(fmt::format("row {}: vertex {} has no label", v, v));
    dataset.splits[v] = static_cast<std::uint8_t>(type);
  });
}

}  // namespace

bool is_dgl_folder(const std::string& folder) {
  std::error_code error;
  return fs::exists(data_path(folder), error) && !graph_path(folder).empty();
}

graph::Graph read_dgl_graph(const std::string& folder, const graph::BuildOptions& options,
                            exec::ThreadPool& pool) {
  const Archive matrix(graph_path(folder));
  const std::uint64_t vertices = read_vertices(matrix);
  const Archive data(data_path(folder));
  const auto features = data.array("feature");
  if (feature_rows(features) != vertices)
    features.fail(fmt::format("{} rows, but the matrix of {} has {}", feature_rows(features),
                              matrix.file.path(), vertices));
  const Edges edges = read_edges(matrix, vertices);
  EdgeList source(vertices, edges.span());
  return graph::build(source, options, pool);
}

Dataset read_dgl_dataset(const std::string& folder, std::uint64_t vertices, Contents contents,
                         LabelForm form) {
  static_assert(kTrain == 1 && kValidation == 2 && kTest == 3);
  const Archive data(data_path(folder));
  Dataset dataset;
  dataset.vertices = vertices;
  dataset.splits.assign(vertices, kNoSplit);
  read_features(data.array("feature"), dataset);
  if (contents == Contents::features) return dataset;
  read_labels(data.array("label"), dataset);
  settle_labels(dataset, form, folder);
  read_splits(data.array("node_types"), dataset);
  finish_dataset(dataset, folder);
  return dataset;
}

}  // namespace warren::learn
