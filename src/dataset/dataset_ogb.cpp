// SPDX-License-Identifier: Apache-2.0
// Node-property datasets as the Open Graph Benchmark is downloaded (Hu et al., NeurIPS 2020):
// raw/edge, node-feat, node-label and num-node-list, split/NAME/train, valid and test, all .csv.gz;
// or with .npz archives in raw/ (dataset_ogb_binary.cpp). Files are inflated some lines at a time,
// and no more is kept of them than other files say there is.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/files/folder.hpp"
#include "warren/graph/builder.hpp"

#include "dataset/csv_file.hpp"
#include "dataset/dataset_arrays.hpp"
#include "dataset/edge_list.hpp"
#include "dataset/free_memory.hpp"
#include "dataset/ogb_binary.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

std::string raw(const std::string& folder, const char* name) {
  return (fs::path(folder) / "raw" / name).string();
}

/// The one folder in split/, whatever the split is called.
fs::path split_folder(const std::string& folder) {
  const fs::path all = fs::path(folder) / "split";
  for (const std::string& name : files::names_in(all.string())) {
    std::error_code error;
    if (fs::exists(all / name / "train.csv.gz", error)) return all / name;
  }
  throw InputError(folder + ": there is no split/NAME/train.csv.gz in it");
}

/// Throws InputError at the first line that is of no vertex.
void check_line(const CsvFile& csv, std::uint64_t line, std::uint64_t vertices) {
  if (line >= vertices)
    csv.fail(line, fmt::format("a line for each of {} vertices would be right", vertices));
}
void check_lines(const CsvFile& csv, std::uint64_t lines, std::uint64_t vertices) {
  if (lines != vertices)
    throw InputError(
        fmt::format("{}: {} lines, but there are {} vertices; a line for each would "
                    "be right",
                    csv.path(), lines, vertices));
}

void read_features(const std::string& folder, Dataset& dataset) {
  std::error_code error;
  if (!fs::exists(raw(folder, "node-feat.csv.gz"), error))
    throw InputError(folder +
                     ": there is no raw/node-feat.csv.gz; a set whose vertices have no features "
                     "(ogbn-proteins) cannot be read");
  const CsvFile csv(raw(folder, "node-feat.csv.gz"));
  auto& values = dataset.dense;
  const std::uint64_t lines = csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    check_line(csv, line, dataset.vertices);
    if (!fits_float(value))
      csv.fail(line, fmt::format("column {} is {}; features must be finite float32 values", column,
                                 value));
    if (line == 1 && column == 0) {
      // The first line says how many there are of all.
      check_free_memory(csv.path(), values.size() * dataset.vertices * sizeof(float));
      values.reserve(values.size() * dataset.vertices);
    }
    ensure_capacity(csv.path(), values);
    values.push_back(static_cast<float>(value));
  });
  check_lines(csv, lines, dataset.vertices);
  dataset.width = values.size() / lines;
}

void read_ogb_labels(const std::string& folder, Dataset& dataset) {
  const CsvFile csv(raw(folder, "node-label.csv.gz"));
  std::vector<double> all;
  const std::uint64_t lines = csv.each([&](std::uint64_t line, std::uint64_t, double value) {
    check_line(csv, line, dataset.vertices);
    ensure_capacity(csv.path(), all);
    all.push_back(value);
  });
  check_lines(csv, lines, dataset.vertices);
  const std::uint64_t columns = all.size() / lines;
  if (columns > 1) {
    dataset.loss = LossKind::binary;
    dataset.classes = columns;
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      if (all[i] != 0.0 && all[i] != 1.0)
        csv.fail(i / columns, fmt::format("column {} is {}; of several columns each is 0 or 1",
                                          i % columns, all[i]));
    }
    dataset.targets.assign(all.begin(), all.end());
    return;
  }
  dataset.labels.resize(lines);
  for (std::uint64_t v = 0; v < lines; ++v) {
    take_class(dataset, v, std::isnan(all[v]) ? -1.0 : all[v],
               [&](const std::string& what) { csv.fail(v, what); });
  }
  check_classes(dataset, csv.path());
}

void read_split(const fs::path& path, Split split, Dataset& dataset) {
  static constexpr const char* kNames[] = {"", "train.csv.gz", "valid.csv.gz", "test.csv.gz"};
  const CsvFile csv(path.string());
  csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    if (column > 0) csv.fail(line, "one vertex a line would be right");
    if (!is_index(value, dataset.vertices))
      csv.fail(line,
               fmt::format("{} should be a vertex from 0 to {}", value, dataset.vertices - 1));
    const auto v = static_cast<std::uint64_t>(value);
    if (dataset.splits[v] != kNoSplit)
      csv.fail(line, fmt::format("vertex {} stands in {} already", v, kNames[dataset.splits[v]]));
    if (!dataset.labels.empty() && dataset.labels[v] < 0)
      csv.fail(line, fmt::format("vertex {} has no label", v));
    dataset.splits[v] = split;
  });
}

/// The one number in a file, from `least` to `most`.
std::uint64_t read_number(const CsvFile& csv, const char* what, std::uint64_t least,
                          std::uint64_t most) {
  std::uint64_t number = 0;
  const auto refuse = [&](std::uint64_t line) {
    csv.fail(line, fmt::format("one number of {} would be right", what));
  };
  const std::uint64_t lines = csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    if (!is_index(value, most + 1) || line > 0 || column > 0) refuse(line);
    number = static_cast<std::uint64_t>(value);
  });
  if (lines == 0 || number < least) refuse(0);
  return number;
}

/// What num-node-list says, once labels (or features, where there are none) are of as many: before
/// anything is made for so many vertices.
std::uint64_t count_vertices(const std::string& folder) {
  const CsvFile told(raw(folder, "num-node-list.csv.gz"));
  const std::uint64_t vertices = read_number(told, "vertices", 1, kMaxVertices);
  std::error_code error;
  const bool has_labels = fs::exists(raw(folder, "node-label.csv.gz"), error);
  if (!has_labels && !fs::exists(raw(folder, "node-feat.csv.gz"), error))
    throw InputError(folder + ": there is no raw/node-label.csv.gz and no raw/node-feat.csv.gz");
  const CsvFile rows(raw(folder, has_labels ? "node-label.csv.gz" : "node-feat.csv.gz"));
  const std::uint64_t lines = rows.each(
      [&](std::uint64_t line, std::uint64_t, double) { check_line(rows, line, vertices); });
  if (lines != vertices)
    told.fail(0, fmt::format("{} vertices, but {} has {} lines; one for each would be right",
                             vertices, rows.path(), lines));
  return vertices;
}

std::vector<graph::Edge> read_edge_lines(const std::string& folder, std::uint64_t vertices) {
  constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 53;  // That a double tells apart.
  // OGB's own folders say how many there are; not more are taken in.
  std::uint64_t count = ~std::uint64_t{0};
  std::error_code error;
  if (const std::string told = raw(folder, "num-edge-list.csv.gz"); fs::exists(told, error))
    count = read_number(CsvFile(told), "edges", 0, kMostEdges);
  const CsvFile csv(raw(folder, "edge.csv.gz"));
  std::vector<graph::Edge> edges;
  std::uint64_t ends = 0;
  csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    if (line >= count)
      csv.fail(line, fmt::format("{} edges, as num-edge-list.csv.gz says, would be right", count));
    if (column > 1 || !is_index(value, vertices))
      csv.fail(line, fmt::format("two vertices from 0 to {} would be right", vertices - 1));
    if (column == 0) {
      ensure_capacity(csv.path(), edges);
      edges.push_back({static_cast<Vertex>(value), 0});
    } else {
      edges.back().target = static_cast<Vertex>(value);
    }
    ++ends;
  });
  if (ends != 2 * edges.size()) csv.fail(0, "two vertices a line would be right");
  if (~count != 0 && count != edges.size())
    csv.fail(edges.size(),
             fmt::format("the list ends, but num-edge-list.csv.gz says {} edges", count));
  return edges;
}

}  // namespace

bool is_ogb_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::path(folder) / "split", error)) return false;
  return fs::exists(raw(folder, "edge.csv.gz"), error) || is_binary_ogb(folder);
}

graph::Graph read_ogb_graph(const std::string& folder, const graph::BuildOptions& options,
                            exec::ThreadPool& pool) {
  if (is_binary_ogb(folder)) return read_binary_ogb_graph(folder, options, pool);
  const std::uint64_t vertices = count_vertices(folder);
  const std::vector<graph::Edge> edges = read_edge_lines(folder, vertices);
  EdgeList source(vertices, edges);
  return graph::build(source, options, pool);
}

Dataset read_ogb_dataset(const std::string& folder, std::uint64_t vertices, Contents contents,
                         LabelForm form) {
  Dataset dataset;
  dataset.vertices = vertices;
  dataset.splits.assign(vertices, kNoSplit);
  const bool is_binary = is_binary_ogb(folder);
  if (is_binary) {
    read_binary_ogb_features(folder, dataset);
  } else {
    read_features(folder, dataset);
  }
  if (contents == Contents::features) return dataset;
  if (is_binary) {
    read_binary_ogb_labels(folder, dataset);
  } else {
    read_ogb_labels(folder, dataset);
  }
  settle_labels(dataset, form, folder);
  const fs::path splits = split_folder(folder);
  read_split(splits / "train.csv.gz", kTrain, dataset);
  read_split(splits / "valid.csv.gz", kValidation, dataset);
  read_split(splits / "test.csv.gz", kTest, dataset);
  finish_dataset(dataset, folder);
  return dataset;
}

}  // namespace warren::learn
