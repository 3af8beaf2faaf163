// SPDX-License-Identifier: Apache-2.0
// Node-property datasets as the Open Graph Benchmark is downloaded (Hu et al., NeurIPS 2020):
// raw/edge, node-feat, node-label and num-node-list, split/NAME/train, valid and test, all .csv.gz;
// or with .npz archives in raw/ (dataset_ogb_binary.cpp).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/builder.hpp"
#include "warren/learn/dataset.hpp"

#include "learn/csv_file.hpp"
#include "learn/dataset_arrays.hpp"
#include "learn/edge_list.hpp"
#include "learn/ogb_binary.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

std::string raw(const std::string& folder, const char* name) {
  return (fs::path(folder) / "raw" / name).string();
}

/// The one folder in split/, whatever the split is called.
fs::path split_folder(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / "split", error)) {
    if (fs::exists(entry.path() / "train.csv.gz", error)) return entry.path();
  }
  throw InputError(folder + ": there is no split/NAME/train.csv.gz in it");
}

void read_features(const std::string& folder, Dataset& dataset) {
  std::error_code error;
  if (!fs::exists(raw(folder, "node-feat.csv.gz"), error))
    throw InputError(folder +
                     ": there is no raw/node-feat.csv.gz; a set whose vertices have no features "
                     "(ogbn-proteins) cannot be read");
  const CsvFile csv(raw(folder, "node-feat.csv.gz"));
  const std::uint64_t lines = csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    if (!fits_float(value))
      csv.fail(line, fmt::format("column {} is {}; features must be finite float32 values", column,
                                 value));
    dataset.dense.push_back(static_cast<float>(value));
  });
  if (lines != dataset.vertices)
    throw InputError(fmt::format("{}: {} numbers in {} lines, but there are {} vertices",
                                 csv.path(), dataset.dense.size(), lines, dataset.vertices));
  dataset.width = dataset.dense.size() / lines;
}

void read_ogb_labels(const std::string& folder, Dataset& dataset) {
  const CsvFile csv(raw(folder, "node-label.csv.gz"));
  std::vector<double> all;
  const std::uint64_t lines =
      csv.each([&](std::uint64_t, std::uint64_t, double value) { all.push_back(value); });
  if (lines != dataset.vertices)
    throw InputError(fmt::format("{}: {} labels in {} lines, but there are {} vertices", csv.path(),
                                 all.size(), lines, dataset.vertices));
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

}  // namespace

bool is_ogb_folder(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::path(folder) / "split", error)) return false;
  return fs::exists(raw(folder, "edge.csv.gz"), error) || is_binary_ogb(folder);
}

graph::Graph read_ogb_graph(const std::string& folder, const graph::BuildOptions& options,
                            exec::ThreadPool& pool) {
  if (is_binary_ogb(folder)) return read_binary_ogb_graph(folder, options, pool);
  const CsvFile count(raw(folder, "num-node-list.csv.gz"));
  std::uint64_t vertices = 0;
  count.each([&](std::uint64_t line, std::uint64_t, double value) {
    if (!is_index(value - 1.0, kMaxVertices) || line > 0)
      count.fail(line, "one number of vertices would be right");
    vertices = static_cast<std::uint64_t>(value);
  });
  if (vertices == 0) count.fail(0, "one number of vertices would be right");
  const CsvFile csv(raw(folder, "edge.csv.gz"));
  std::vector<graph::Edge> edges;
  std::uint64_t ends = 0;
  csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    if (column > 1 || !is_index(value, vertices))
      csv.fail(line, fmt::format("two vertices from 0 to {} would be right", vertices - 1));
    if (column == 0) {
      edges.push_back({static_cast<Vertex>(value), 0});
    } else {
      edges.back().target = static_cast<Vertex>(value);
    }
    ++ends;
  });
  if (ends != 2 * edges.size()) csv.fail(0, "two vertices a line would be right");
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
