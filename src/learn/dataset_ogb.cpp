// SPDX-License-Identifier: Apache-2.0
// Node-property datasets as the Open Graph Benchmark is downloaded (Hu et al., NeurIPS 2020):
// raw/edge, node-feat, node-label and num-node-list, split/NAME/train, valid and test, all .csv.gz.
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/builder.hpp"
#include "warren/learn/dataset.hpp"

#include "graph/io/decompressor.hpp"
#include "graph/io/mapped_file.hpp"
#include "learn/edge_list.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

/// A file of numbers between commas and line ends, inflated.
class Csv {
 public:
  explicit Csv(std::string path) : path_(std::move(path)) {
    const graph::io::MappedFile file(path_);
    const auto stream = graph::io::make_decompressor(file, graph::io::Compression::gzip);
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
    for (;;) {
      const std::size_t before = text_.size();
      text_.resize(before + kPiece);
      const std::uint64_t got = stream->read(text_.data() + before, kPiece);
      text_.resize(before + got);
      if (got == 0) break;
    }
  }

  /// f(line, column, value) for every number; columns of line 0 are what all lines must have.
  template <class F>
  std::uint64_t each(F&& f) const {
    std::uint64_t line = 0, column = 0;
    const char* p = text_.data();
    const char* const end = p + text_.size();
    while (p < end) {
      double value = 0.0;
      const auto [next, error] = std::from_chars(p, end, value);
      const bool is_nan = error != std::errc{} && (*p == ',' || *p == '\n');
      if (error != std::errc{} && !is_nan) fail(line, "a number would be right");
      f(line, column, is_nan ? std::nan("") : value);
      p = next;
      if (p < end && *p == '\r') ++p;
      if (p == end || *p == '\n') {
        ++line;
        column = 0;
      } else if (*p == ',') {
        ++column;
      } else {
        fail(line, "numbers with commas between them would be right");
      }
      ++p;
    }
    return line;
  }
  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const {
    throw InputError(fmt::format("{}: line {}: {}", path_, line + 1, what));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_, text_;
};

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
  const Csv csv(raw(folder, "node-feat.csv.gz"));
  const std::uint64_t lines = csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    // NaN fails, too.
    if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())))
      csv.fail(line, fmt::format("column {} is {}; features must be finite", column, value));
    dataset.dense.push_back(static_cast<float>(value));
  });
  if (lines != dataset.vertices || dataset.dense.size() % lines != 0)
    throw InputError(fmt::format("{}: {} numbers in {} lines, but there are {} vertices",
                                 csv.path(), dataset.dense.size(), lines, dataset.vertices));
  dataset.width = dataset.dense.size() / lines;
}

void read_labels(const std::string& folder, Dataset& dataset) {
  const Csv csv(raw(folder, "node-label.csv.gz"));
  std::vector<double> all;
  const std::uint64_t lines =
      csv.each([&](std::uint64_t, std::uint64_t, double value) { all.push_back(value); });
  if (lines != dataset.vertices || all.size() % lines != 0)
    throw InputError(fmt::format("{}: {} labels in {} lines, but there are {} vertices", csv.path(),
                                 all.size(), lines, dataset.vertices));
  dataset.classes = all.size() / lines;
  if (dataset.classes > 1) {
    dataset.loss = LossKind::binary;
    for (std::uint64_t i = 0; i < all.size(); ++i) {
      if (all[i] != 0.0 && all[i] != 1.0)
        csv.fail(i / dataset.classes,
                 fmt::format("column {} is {}; of several columns each is 0 or 1",
                             i % dataset.classes, all[i]));
    }
    dataset.targets.assign(all.begin(), all.end());
    return;
  }
  dataset.labels.resize(lines);
  for (std::uint64_t v = 0; v < lines; ++v) {
    const double label = std::isnan(all[v]) ? -1.0 : all[v];
    if (label != std::floor(label) || label < -1.0 || label > 1048575.0)
      csv.fail(v, fmt::format("the label is {}; classes are whole numbers from 0", label));
    dataset.labels[v] = static_cast<std::int32_t>(label);
    dataset.classes = std::max(dataset.classes, static_cast<std::uint64_t>(label + 1.0));
  }
}

void read_split(const fs::path& path, Split split, Dataset& dataset) {
  const Csv csv(path.string());
  csv.each([&](std::uint64_t line, std::uint64_t, double value) {
    if (!(value >= 0.0 && value < static_cast<double>(dataset.vertices)))
      csv.fail(line,
               fmt::format("{} should be a vertex from 0 to {}", value, dataset.vertices - 1));
    const auto v = static_cast<std::uint64_t>(value);
    if (dataset.splits[v] != kNoSplit)
      csv.fail(line, fmt::format("vertex {} stands in another split already", v));
    if (!dataset.labels.empty() && dataset.labels[v] < 0)
      csv.fail(line, fmt::format("vertex {} has no label", v));
    dataset.splits[v] = split;
  });
}

}  // namespace

bool is_ogb_folder(const std::string& folder) {
  std::error_code error;
  return fs::exists(raw(folder, "edge.csv.gz"), error) &&
         fs::is_directory(fs::path(folder) / "split", error);
}

graph::Graph read_ogb_graph(const std::string& folder, const graph::BuildOptions& options,
                            exec::ThreadPool& pool) {
  const Csv count(raw(folder, "num-node-list.csv.gz"));
  std::uint64_t vertices = 0;
  count.each([&](std::uint64_t line, std::uint64_t, double value) {
    if (!(value >= 1.0 && value <= static_cast<double>(kMaxVertices)) || line > 0)
      count.fail(line, "one number of vertices would be right");
    vertices = static_cast<std::uint64_t>(value);
  });
  const Csv csv(raw(folder, "edge.csv.gz"));
  std::vector<graph::Edge> edges;
  csv.each([&](std::uint64_t line, std::uint64_t column, double value) {
    if (column > 1 || !(value >= 0.0 && value < static_cast<double>(vertices)))
      csv.fail(line, fmt::format("two vertices from 0 to {} would be right", vertices - 1));
    if (column == 0) {
      edges.push_back({static_cast<Vertex>(value), 0});
    } else {
      edges.back().target = static_cast<Vertex>(value);
    }
  });
  EdgeList source(vertices, std::move(edges));
  return graph::build(source, options, pool);
}

Dataset read_ogb_dataset(const std::string& folder, std::uint64_t vertices, Contents contents) {
  Dataset dataset;
  dataset.vertices = vertices;
  dataset.splits.assign(vertices, kNoSplit);
  read_features(folder, dataset);
  if (contents == Contents::features) return dataset;
  read_labels(folder, dataset);
  const fs::path splits = split_folder(folder);
  read_split(splits / "train.csv.gz", kTrain, dataset);
  read_split(splits / "valid.csv.gz", kValidation, dataset);
  read_split(splits / "test.csv.gz", kTest, dataset);
  finish_dataset(dataset, folder);
  return dataset;
}

}  // namespace warren::learn
