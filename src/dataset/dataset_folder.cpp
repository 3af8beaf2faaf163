// SPDX-License-Identifier: Apache-2.0
// A dataset's folder: arrays as NumPy and SciPy save them, and lists of vertices as text.
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/text_lines.hpp"
#include "warren/dataset/dataset.hpp"
#include "warren/files/mapped_file.hpp"

#include "dataset/dataset_arrays.hpp"
#include "dataset/table_file.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;
[[noreturn]] void refuse_element(const std::string& path, std::uint64_t row, std::uint64_t column,
                                 double value) {
  throw InputError(
      fmt::format("{}: row {}, column {} is {}; features must be finite float32 values", path, row,
                  column, value));
}

void check_rows(const std::string& path, std::uint64_t rows, std::uint64_t vertices) {
  if (rows == vertices) return;
  throw InputError(fmt::format(
      "{}: {} rows, but the graph has {} vertices; a row for each vertex would be right{}", path,
      rows, vertices,
      rows < vertices ? ""
                      : fmt::format(" (of an edge list vertices end with the largest id: a line "
                                    "\"# Nodes: {}\" in it makes those without edges count)",
                                    rows)));
}

void read_dense(const std::string& path, Dataset& dataset) {
  const files::MappedFile file(path);
  const files::NpyArray array = files::parse_npy(file.data(), file.size(), path);
  if (array.shape.size() != 2)
    throw InputError(
        fmt::format("{}: the array has {} dimensions; vertices x features would be right", path,
                    array.shape.size()));
  check_rows(path, array.shape[0], dataset.vertices);
  dataset.width = array.shape[1];
  if (dataset.width == 0)
    throw InputError(path + ": there are no features: the array has 0 columns");
  dataset.dense.resize(array.count);
  with_elements(array, path, [&](auto&& read) {
    for (std::uint64_t i = 0; i < array.count; ++i) {
      const double value = read(i);
      if (!fits_float(value)) refuse_element(path, i / dataset.width, i % dataset.width, value);
      dataset.dense[i] = static_cast<float>(value);
    }
  });
}

/// Sizes of the matrix, vertices and features.
std::pair<std::uint64_t, std::uint64_t> shape_of(const Archive& archive) {
  constexpr auto kMost = static_cast<double>(kMaxVertices);
  auto shape = archive.array("shape");
  check_integers(shape);
  double size[2] = {0.0, 0.0};
  if (shape.array().count != 2) shape.fail("two sizes would be right");
  each_element(shape, [&](std::uint64_t i, double value) { size[i] = value; });
  if (!(size[0] >= 0.0 && size[0] <= kMost) || !(size[1] >= 1.0 && size[1] <= 4294967294.0))
    shape.fail("sizes must be vertices and 1 to 4294967294 features");
  return {static_cast<std::uint64_t>(size[0]), static_cast<std::uint64_t>(size[1])};
}

void read_shape(const Archive& archive, Dataset& dataset) {
  std::tie(dataset.sparse.rows, dataset.sparse.columns) = shape_of(archive);
  dataset.width = dataset.sparse.columns;
  check_rows(archive.file.path(), dataset.sparse.rows, dataset.vertices);
}

void read_offsets(files::NpyStream indptr, std::uint64_t entries, SparseRows& rows) {
  check_integers(indptr);
  if (indptr.array().count != rows.rows + 1)
    indptr.fail(fmt::format("{} elements; {} would be right (is the matrix in CSR form?)",
                            indptr.array().count, rows.rows + 1));
  rows.offsets.resize(rows.rows + 1);
  double before = 0.0;
  each_element(indptr, [&](std::uint64_t i, double value) {
    const double last = static_cast<double>(entries);
    if (value < before || value > last || (i == 0 && value != 0.0) ||
        (i == rows.rows && value != last))
      indptr.fail(fmt::format("element {} is {}; offsets ascend from 0 to {}", i, value, entries));
    before = value;
    rows.offsets[i] = static_cast<EdgeOffset>(value);
  });
}

void read_sparse(const std::string& path, Dataset& dataset) {
  const Archive archive(path);
  if (archive.contains("format")) {
    const std::string format = read_text(archive.array("format"));
    if (format != "csr")
      throw InputError(fmt::format(
          "{}: the matrix is in '{}' form; save it as CSR: save_npz(file, matrix.tocsr())", path,
          format));
  }
  read_shape(archive, dataset);
  SparseRows& rows = dataset.sparse;
  auto indices = archive.array("indices"), data = archive.array("data");
  const std::uint64_t entries = data.array().count;
  if (indices.array().count != entries)
    indices.fail(fmt::format("{} column indices for {} values", indices.array().count, entries));
  check_integers(indices);
  read_offsets(archive.array("indptr"), entries, rows);
  rows.column_ids.resize(entries);
  each_element(indices, [&](std::uint64_t i, double value) {
    if (!is_index(value, rows.columns))
      indices.fail(
          fmt::format("element {} is {}; columns go from 0 to {}", i, value, rows.columns - 1));
    rows.column_ids[i] = static_cast<Vertex>(value);
  });
  rows.values.resize(entries);
  std::uint64_t row = 0;
  each_element(data, [&](std::uint64_t i, double value) {
    while (rows.offsets[row + 1] <= i) ++row;
    if (!fits_float(value)) refuse_element(path, row, rows.column_ids[i], value);
    rows.values[i] = static_cast<float>(value);
  });
}

void read_classes(const std::string& path, const files::NpyArray& array, Dataset& dataset) {
  dataset.labels.resize(dataset.vertices);
  with_elements(array, path, [&](auto&& read) {
    for (std::uint64_t v = 0; v < dataset.vertices; ++v)
      take_class(dataset, v, std::isnan(read(v)) ? -1.0 : read(v), [&](const std::string& what) {
        throw InputError(fmt::format("{}: {}", path, what));
      });
  });
  check_classes(dataset, path);
}

void read_multi_label(const std::string& path, const files::NpyArray& array, Dataset& dataset) {
  dataset.loss = LossKind::binary;
  dataset.classes = array.shape[1];
  dataset.targets.resize(array.count);
  with_elements(array, path, [&](auto&& read) {
    for (std::uint64_t i = 0; i < array.count; ++i) {
      const double value = read(i);
      if (value != 0.0 && value != 1.0)
        throw InputError(
            fmt::format("{}: row {}, column {} is {}; of several columns each is 0 or 1", path,
                        i / dataset.classes, i % dataset.classes, value));
      dataset.targets[i] = static_cast<float>(value);
    }
  });
}

void read_labels(const std::string& path, Dataset& dataset) {
  const files::MappedFile file(path);
  const files::NpyArray array = files::parse_npy(file.data(), file.size(), path);
  if (array.shape.empty() || array.shape.size() > 2)
    throw InputError(
        fmt::format("{}: the array has {} dimensions; one label or one row of 0 and 1 "
                    "for each vertex would be right",
                    path, array.shape.size()));
  check_rows(path, array.shape[0], dataset.vertices);
  if (array.shape.size() == 1 || array.shape[1] == 1) return read_classes(path, array, dataset);
  read_multi_label(path, array, dataset);
}

/// Where a split's vertices are: ids a line, or a mask.
struct SplitFiles {
  Split split;
  std::vector<const char*> names;
};
const std::vector<SplitFiles>& split_files() {
  static const std::vector<SplitFiles> files = {
      {kTrain, {"train.txt", "train_mask.npy"}},
      {kValidation, {"validation.txt", "validation_mask.npy", "val_mask.npy"}},
      {kTest, {"test.txt", "test_mask.npy"}}};
  return files;
}

/// The first of a split's files that a folder has.
std::string find_split(const fs::path& root, const SplitFiles& files) {
  std::error_code error;
  for (const char* name : files.names)
    if (fs::exists(root / name, error)) return (root / name).string();
  throw InputError(fmt::format("{}: there is no {} (vertex ids) and no {} (a mask)", root.string(),
                               files.names[0], files.names[1]));
}

/// Puts vertices into splits, from their files.
class SplitReader {
 public:
  SplitReader(const fs::path& root, Dataset& dataset) : root_(root), dataset_(dataset) {}

  void read(const SplitFiles& files) {
    const std::string path = find_split(root_, files);
    names_.at(files.split) = fs::path(path).filename().string();
    const bool is_empty = path.ends_with(".npy") ? read_mask(path, files.split) == 0
                                                 : read_ids(path, files.split) == 0;
    if (is_empty)
      throw InputError(path +
                       ": there are no vertices in it; an id a line, or a mask with a True, "
                       "would be right");
  }

 private:
  /// How many vertices there are in the files.
  std::uint64_t read_ids(const std::string& path, Split split) {
    const files::MappedFile file(path);
    std::uint64_t count = 0;
    each_line({file.data(), file.size()}, [&](std::uint64_t line, std::string_view token) {
      if (token.empty() || token.front() == '#') return;
      const auto fail = [&](const std::string& what) {
        throw InputError(fmt::format("{}: line {}: {}", path, line, printable(what)));
      };
      std::uint64_t v = 0;
      const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), v);
      if (error != std::errc{} || stop != token.data() + token.size() || v >= dataset_.vertices)
        fail(fmt::format("\"{}\" should be a vertex id from 0 to {}", token.substr(0, 24),
                         dataset_.vertices - 1));
      assign(v, split, fail);
      ++count;
    });
    return count;
  }

  std::uint64_t read_mask(const std::string& path, Split split) {
    const files::MappedFile file(path);
    const files::NpyArray mask = files::parse_npy(file.data(), file.size(), path);
    const auto fail = [&](const std::string& what) { throw InputError(path + ": " + what); };
    if (mask.shape.empty() || mask.shape[0] != dataset_.vertices || mask.count != mask.shape[0])
      fail(
          fmt::format("{} elements in {} dimensions; True or False for each of {} vertices would "
                      "be right",
                      mask.count, mask.shape.size(), dataset_.vertices));
    std::uint64_t count = 0;
    with_elements(mask, path, [&](auto&& element) {
      for (std::uint64_t v = 0; v < dataset_.vertices; ++v) {
        const double value = element(v);
        if (value == 0.0) continue;
        if (value != 1.0) fail(fmt::format("element {} is {}; a mask is of 0 and 1", v, value));
        assign(v, split, fail);
        ++count;
      }
    });
    return count;
  }

  /// Calls fail(what) where that cannot be.
  template <class F>
  void assign(std::uint64_t v, Split split, F&& fail) {
    if (dataset_.splits[v] != kNoSplit)
      fail(fmt::format("vertex {} stands in {} already", v, names_.at(dataset_.splits[v])));
    if (!dataset_.labels.empty() && dataset_.labels[v] < 0)
      fail(fmt::format("vertex {} has no label", v));
    dataset_.splits[v] = split;
  }

  const fs::path& root_;
  Dataset& dataset_;
  std::array<std::string, kSplits + 1> names_;  // By split.
};

/// Where a folder's features, or its labels, are.
constexpr std::array kFeatureFiles = {"features.npy", "features.npz", "features.csv",
                                      "features.csv.gz", "features.csv.zst"};
constexpr std::array kLabelFiles = {"labels.npy", "labels.csv", "labels.csv.gz", "labels.csv.zst"};

/// The first of them that a folder has; empty without one.
template <class Names>
std::string find_file(const fs::path& root, const Names& names) {
  std::error_code error;
  for (const char* name : names)
    if (fs::exists(root / name, error)) return (root / name).string();
  return {};
}

}  // namespace

bool has_labels(const std::string& folder) { return !find_file(folder, kLabelFiles).empty(); }

std::uint64_t feature_rows(const std::string& folder) {
  const std::string path = find_file(folder, kFeatureFiles);
  if (path.empty()) return 0;
  if (path.ends_with(".npz")) return shape_of(Archive(path)).first;
  if (!path.ends_with(".npy")) return TableFile(path).vertices();
  const files::MappedFile file(path);
  const files::NpyArray array = files::parse_npy(file.data(), file.size(), path);
  return array.shape.empty() ? 0 : array.shape[0];
}

Dataset read_dataset(const std::string& folder, std::uint64_t vertices, Contents contents,
                     LabelForm form) {
  const fs::path root(folder);
  Dataset dataset;
  dataset.vertices = vertices;
  dataset.splits.assign(vertices, kNoSplit);
  const std::string features = find_file(root, kFeatureFiles);
  if (features.empty())
    throw InputError(folder +
                     ": there is no features.npy (vertices x features), no features.npz (SciPy "
                     "CSR) and no features.csv");
  if (features.ends_with(".npy")) {
    read_dense(features, dataset);
  } else if (features.ends_with(".npz")) {
    read_sparse(features, dataset);
  } else {
    read_table_features(features, dataset);
  }
  if (contents == Contents::features) return dataset;
  const std::string labels = find_file(root, kLabelFiles);
  if (labels.empty()) throw InputError(folder + ": there is no labels.npy and no labels.csv");
  if (labels.ends_with(".npy")) {
    read_labels(labels, dataset);
  } else {
    read_table_labels(labels, dataset);
  }
  settle_labels(dataset, form, labels);
  SplitReader splits(root, dataset);
  for (const SplitFiles& files : split_files()) splits.read(files);
  finish_dataset(dataset, folder);
  return dataset;
}

}  // namespace warren::learn
