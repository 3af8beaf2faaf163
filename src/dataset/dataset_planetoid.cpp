// SPDX-License-Identifier: Apache-2.0
// Cora, Citeseer and Pubmed as Planetoid's authors publish them (Yang, Cohen and Salakhutdinov,
// "Revisiting semi-supervised learning with graph embeddings", ICML 2016): pickles ind.NAME.allx
// and tx (features of vertices but those of the test, and of those), ally and ty (their classes), y
// (the training vertices', whose number alone counts), graph (lists of neighbours), and test.index.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/text_lines.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/files/folder.hpp"
#include "warren/files/mapped_file.hpp"

#include "dataset/array_file.hpp"
#include "dataset/edge_list.hpp"
#include "dataset/pickle.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

// Of the vertices after the training ones, as all work on these sets has it.
constexpr std::uint64_t kValidated = 500;

/// ".../ind.NAME." of the folder, or of raw/ in it; empty where there is none.
std::string stem_of(const std::string& folder) {
  for (const fs::path& place : {fs::path(folder), fs::path(folder) / "raw"}) {
    for (const std::string& name : files::names_in(place.string())) {
      if (name.starts_with("ind.") && name.ends_with(".graph"))
        return (place / name.substr(0, name.size() - 5)).string();
    }
  }
  return {};
}

struct File {
  explicit File(std::string path)
      : mapped(path), pickle({mapped.data(), mapped.size()}, std::move(path)) {}
  files::MappedFile mapped;
  Pickle pickle;
};

std::vector<Vertex> read_test_ids(const std::string& path) {
  const files::MappedFile file(path);
  std::vector<Vertex> ids;
  each_line({file.data(), file.size()}, [&](std::uint64_t line, std::string_view word) {
    if (word.empty()) return;
    Vertex id = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc{} || stop != word.data() + word.size() || id >= kMaxVertices)
      throw InputError(fmt::format("{}: line {}: a vertex id would be right", path, line));
    ids.push_back(id);
  });
  if (ids.empty()) throw InputError(path + ": there are no vertices in it");
  return ids;
}

/// Rows and columns of SciPy's CSR matrix, and where its rows begin.
struct MatrixShape {
  std::uint64_t rows, columns;
  files::NpyArray indptr;
};
MatrixShape shape_of(File& file) {
  const PickleNode& root = file.pickle.root();
  const PickleNode* state = root.state;
  if (root.callable == nullptr || !root.callable->bytes.ends_with("csr_matrix") || state == nullptr)
    file.pickle.fail("this is no matrix of SciPy in CSR form");
  const PickleNode* shape = state->find("_shape");
  if (shape == nullptr) shape = state->find("shape");
  if (shape == nullptr || shape->items.size() != 2 || shape->items[0]->integer < 0 ||
      shape->items[1]->integer < 1 ||
      static_cast<std::uint64_t>(shape->items[1]->integer) > kMaxVertices)
    file.pickle.fail("the matrix has no shape");
  const auto rows = static_cast<std::uint64_t>(shape->items[0]->integer);
  auto indptr = file.pickle.array(state->find("indptr"), "indptr");
  if (indptr.count != rows + 1)
    file.pickle.fail(fmt::format("{} offsets for {} rows", indptr.count, rows));
  return {rows, static_cast<std::uint64_t>(shape->items[1]->integer), std::move(indptr)};
}

/// SciPy's CSR matrix.
SparseRows read_rows(const std::string& path) {
  File file(path);
  const MatrixShape shape = shape_of(file);
  const PickleNode* state = file.pickle.root().state;
  const files::NpyArray& indptr = shape.indptr;
  SparseRows rows;
  rows.rows = shape.rows;
  rows.columns = shape.columns;
  const auto indices = file.pickle.array(state->find("indices"), "indices");
  const auto data = file.pickle.array(state->find("data"), "data");
  if (indices.count != data.count)
    file.pickle.fail(fmt::format("{} columns for {} values", indices.count, data.count));
  rows.offsets.clear();
  double before = 0.0;
  with_elements(indptr, path, [&](auto&& read) {
    for (std::uint64_t i = 0; i < indptr.count; ++i) {
      if (!(read(i) >= before && read(i) <= static_cast<double>(data.count)) ||
          (i == 0 && read(i) != 0.0))
        file.pickle.fail(fmt::format("offset {} is {}; they ascend from 0", i, read(i)));
      before = read(i);
      rows.offsets.push_back(static_cast<EdgeOffset>(before));
    }
  });
  if (rows.offsets.back() != data.count) file.pickle.fail("the last offset is not the last");
  with_elements(indices, path, [&](auto&& read) {
    for (std::uint64_t i = 0; i < indices.count; ++i) {
      if (!(read(i) >= 0.0 && read(i) < static_cast<double>(rows.columns)))
        file.pickle.fail(fmt::format("column {} of {}", read(i), rows.columns));
      rows.column_ids.push_back(static_cast<Vertex>(read(i)));
    }
  });
  with_elements(data, path, [&](auto&& read) {
    for (std::uint64_t i = 0; i < data.count; ++i) {
      if (!(std::abs(read(i)) <= 3.4028234663852886e38))
        file.pickle.fail(fmt::format("value {} is {}; features must be finite", i, read(i)));
      rows.values.push_back(static_cast<float>(read(i)));
    }
  });
  return rows;
}

/// A class for each row of zeros with a one; -1 for rows of zeros.
std::vector<std::int32_t> read_classes(const std::string& path, std::uint64_t& classes) {
  File file(path);
  const auto array = file.pickle.array(&file.pickle.root(), "the file");
  if (array.shape.size() != 2 || array.shape[1] < 2)
    file.pickle.fail("vertices x classes of 0 and 1 would be right");
  classes = array.shape[1];
  std::vector<std::int32_t> labels(array.shape[0], -1);
  with_elements(array, path, [&](auto&& read) {
    for (std::uint64_t i = 0; i < array.count; ++i) {
      if (read(i) == 0.0) continue;
      if (read(i) != 1.0 || labels[i / classes] >= 0)
        file.pickle.fail(fmt::format("row {} is not one of zeros with a one", i / classes));
      labels[i / classes] = static_cast<std::int32_t>(i % classes);
    }
  });
  return labels;
}

void check(bool holds, const std::string& stem, const std::string& what) {
  if (!holds) throw InputError(stem + "*: " + what);
}

void append(SparseRows& to, const SparseRows& from, std::uint64_t row) {
  for (EdgeOffset e = from.offsets[row]; e < from.offsets[row + 1]; ++e) {
    to.column_ids.push_back(from.column_ids[e]);
    to.values.push_back(from.values[e]);
  }
}

/// How many vertices there are: to the last of the test's. Ids may be left out (Citeseer has 15
/// vertices of which nothing is said), but not most.
std::uint64_t count_vertices(const std::string& stem, const std::vector<Vertex>& tests) {
  const std::uint64_t vertices = *std::max_element(tests.begin(), tests.end()) + 1ull;
  File file(stem + "allx");
  const std::uint64_t rows = shape_of(file).rows + tests.size();
  if (vertices > 2 * rows)
    throw InputError(
        fmt::format("{}test.index: vertex {} is in it, but allx and test.index are of {} vertices: "
                    "ids without most of those below them are none",
                    stem, vertices - 1, rows));
  return vertices;
}

/// A dictionary, or a defaultdict of lists, as Planetoid's own are.
bool is_dictionary(const PickleNode& node) {
  if (node.kind == PickleNode::Kind::pairs) return true;
  return node.kind == PickleNode::Kind::object &&
         (node.callable->bytes == "collections defaultdict" ||
          node.callable->bytes == "collections OrderedDict");
}

/// Lists of neighbours by vertex. No more than there are bytes: lists that stand in the file more
/// than once would make more of it.
std::vector<graph::Edge> read_neighbours(const std::string& path, std::uint64_t vertices) {
  File file(path);
  const Pickle& pickle = file.pickle;
  if (!is_dictionary(pickle.root()))
    pickle.fail("this is no graph: a dictionary of lists of vertices would be right");
  const auto id = [&](const PickleNode* node) {
    if (node->kind != PickleNode::Kind::integer)
      pickle.fail("a vertex is no whole number: a dictionary of lists of vertices would be right");
    if (node->integer < 0 || static_cast<std::uint64_t>(node->integer) >= vertices)
      pickle.fail(fmt::format("a vertex is {}; they go from 0 to {}", node->integer, vertices - 1));
    return static_cast<Vertex>(node->integer);
  };
  std::vector<graph::Edge> edges;
  for (const auto& [vertex, list] : pickle.root().pairs) {
    const Vertex source = id(vertex);
    if (list->kind != PickleNode::Kind::items)
      pickle.fail(fmt::format("the neighbours of vertex {} are no list", source));
    if (list->items.size() > pickle.size() - edges.size())
      pickle.fail("vertices share one list of neighbours: one list for each would be right");
    for (const PickleNode* neighbour : list->items) edges.push_back({source, id(neighbour)});
  }
  return edges;
}

}  // namespace

bool is_planetoid_folder(const std::string& folder) { return !stem_of(folder).empty(); }

graph::Graph read_planetoid_graph(const std::string& folder, graph::BuildOptions options,
                                  exec::ThreadPool& pool) {
  const std::string stem = stem_of(folder);
  const auto tests = read_test_ids(stem + "test.index");
  const std::uint64_t vertices = count_vertices(stem, tests);
  const std::vector<graph::Edge> edges = read_neighbours(stem + "graph", vertices);
  options.symmetrize = true;
  EdgeList list(vertices, edges);
  return graph::build(list, options, pool);
}

Dataset read_planetoid_dataset(const std::string& folder, std::uint64_t vertices,
                               Contents contents) {
  const std::string stem = stem_of(folder);
  const SparseRows others = read_rows(stem + "allx"), tested = read_rows(stem + "tx");
  const auto tests = read_test_ids(stem + "test.index");
  check(others.columns == tested.columns, stem, "allx and tx have different columns");
  check(tested.rows == tests.size(), stem,
        fmt::format("tx has {} rows, but test.index {} vertices", tested.rows, tests.size()));
  check(others.rows < vertices, stem, "allx has a row for each vertex, and tx others");
  Dataset dataset;
  dataset.vertices = vertices;
  dataset.splits.assign(vertices, kNoSplit);
  // Where a vertex' row is in tx; vertices of which nothing is known have none.
  std::vector<std::uint64_t> place(vertices, tested.rows);
  for (std::uint64_t i = 0; i < tests.size(); ++i) {
    check(tests[i] >= others.rows && tests[i] < vertices && place[tests[i]] == tested.rows, stem,
          fmt::format("test.index names vertex {} twice, or one of allx", tests[i]));
    place[tests[i]] = i;
  }
  dataset.width = dataset.sparse.columns = others.columns;
  dataset.sparse.rows = vertices;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    if (v < others.rows) {
      append(dataset.sparse, others, v);
    } else if (place[v] < tested.rows) {
      append(dataset.sparse, tested, place[v]);
    }
    dataset.sparse.offsets.push_back(dataset.sparse.column_ids.size());
  }
  if (contents == Contents::features) return dataset;

  std::uint64_t of_tests = 0, of_training = 0;
  dataset.labels = read_classes(stem + "ally", dataset.classes);
  const auto labels = read_classes(stem + "ty", of_tests);
  const std::uint64_t training = read_classes(stem + "y", of_training).size();
  check(of_tests == dataset.classes && of_training == dataset.classes, stem,
        "y, ally and ty have different numbers of classes");
  check(dataset.labels.size() == others.rows && labels.size() == tests.size() &&
            training <= others.rows,
        stem, "there is not a row of classes for each row of features");
  dataset.labels.resize(vertices, -1);
  const std::uint64_t end = std::min(training + kValidated, others.rows);
  for (std::uint64_t v = 0; v < end; ++v)
    if (dataset.labels[v] >= 0) dataset.splits[v] = v < training ? kTrain : kValidation;
  for (std::uint64_t i = 0; i < tests.size(); ++i) {
    dataset.labels[tests[i]] = labels[i];
    if (labels[i] >= 0) dataset.splits[tests[i]] = kTest;
  }
  finish_dataset(dataset, folder);
  return dataset;
}

}  // namespace warren::learn
