// SPDX-License-Identifier: Apache-2.0
// A dataset's folder: arrays as NumPy and SciPy save them, and lists of vertices as text.
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/learn/dataset.hpp"

#include "graph/io/mapped_file.hpp"
#include "learn/dataset_arrays.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;
namespace io = graph::io;

[[noreturn]] void refuse_element(const std::string& path, std::uint64_t row, std::uint64_t column,
                                 double value) {
  throw InputError(
      fmt::format("{}: row {}, column {} is {}; features must be finite float32 values", path, row,
                  column, value));
}

void check_rows(const std::string& path, std::uint64_t rows, std::uint64_t vertices) {
  if (rows == vertices) return;
  throw InputError(fmt::format(
      "{}: {} rows, but the graph has {} vertices; a row for each vertex would be right", path,
      rows, vertices));
}

void read_dense(const std::string& path, Dataset& dataset) {
  const io::MappedFile file(path);
  const io::NpyArray array = io::parse_npy(file.data(), file.size(), path);
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

/// Sizes of the matrix, vertices x features.
void read_shape(const Archive& archive, Dataset& dataset) {
  auto shape = archive.array("shape");
  check_integers(shape);
  double size[2] = {0.0, 0.0};
  if (shape.array().count != 2) shape.fail("two sizes would be right");
  each_element(shape, [&](std::uint64_t i, double value) { size[i] = value; });
  if (!(size[0] >= 0.0) || !(size[1] >= 1.0 && size[1] <= 4294967294.0))
    shape.fail("sizes must be vertices and 1 to 4294967294 features");
  dataset.sparse.rows = static_cast<std::uint64_t>(size[0]);
  dataset.width = dataset.sparse.columns = static_cast<std::uint64_t>(size[1]);
  check_rows(archive.file.path(), dataset.sparse.rows, dataset.vertices);
}

void read_offsets(io::NpyStream indptr, std::uint64_t entries, SparseRows& rows) {
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

void read_classes(const std::string& path, const io::NpyArray& array, Dataset& dataset) {
  dataset.labels.resize(dataset.vertices);
  with_elements(array, path, [&](auto&& read) {
    for (std::uint64_t v = 0; v < dataset.vertices; ++v)
      take_class(dataset, v, read(v), [&](const std::string& what) {
        throw InputError(fmt::format("{}: {}", path, what));
      });
  });
  check_classes(dataset, path);
}

void read_multi_label(const std::string& path, const io::NpyArray& array, Dataset& dataset) {
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
  const io::MappedFile file(path);
  const io::NpyArray array = io::parse_npy(file.data(), file.size(), path);
  if (array.shape.empty() || array.shape.size() > 2)
    throw InputError(
        fmt::format("{}: the array has {} dimensions; one label or one row of 0 and 1 "
                    "for each vertex would be right",
                    path, array.shape.size()));
  check_rows(path, array.shape[0], dataset.vertices);
  if (array.shape.size() == 1 || array.shape[1] == 1) return read_classes(path, array, dataset);
  read_multi_label(path, array, dataset);
}

void read_split(const std::string& path, Split split, Dataset& dataset) {
  static constexpr const char* kNames[] = {"", "train.txt", "validation.txt", "test.txt"};
  const io::MappedFile file(path);
  const std::string_view text(file.data(), file.size());
  std::uint64_t line = 1;
  bool is_empty = true;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view token = text.substr(at, end - at);
    at = end + 1;
    if (!token.empty() && token.back() == '\r') token.remove_suffix(1);
    if (token.empty() || token.front() == '#') continue;
    std::uint64_t v = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), v);
    if (error != std::errc{} || stop != token.data() + token.size() || v >= dataset.vertices)
      throw InputError(fmt::format("{}: line {}: \"{}\" should be a vertex id from 0 to {}", path,
                                   line, token.substr(0, 24), dataset.vertices - 1));
    if (dataset.splits[v] != kNoSplit)
      throw InputError(fmt::format("{}: line {}: vertex {} stands in {} already", path, line, v,
                                   kNames[dataset.splits[v]]));
    if (!dataset.labels.empty() && dataset.labels[v] < 0)
      throw InputError(fmt::format("{}: line {}: vertex {} has no label", path, line, v));
    dataset.splits[v] = split;
    is_empty = false;
  }
  if (is_empty)
    throw InputError(path + ": there are no vertices in it; an id a line would be right");
}

}  // namespace

Dataset read_dataset(const std::string& folder, std::uint64_t vertices, Contents contents) {
  const fs::path root(folder);
  Dataset dataset;
  dataset.vertices = vertices;
  dataset.splits.assign(vertices, kNoSplit);
  const auto path = [&](const char* name) { return (root / name).string(); };
  std::error_code error;
  if (fs::exists(root / "features.npy", error)) {
    read_dense(path("features.npy"), dataset);
  } else if (fs::exists(root / "features.npz", error)) {
    read_sparse(path("features.npz"), dataset);
  } else {
    throw InputError(
        folder +
        ": there is no features.npy (vertices x features) and no features.npz (SciPy CSR)");
  }
  if (contents == Contents::features) return dataset;
  for (const char* name : {"labels.npy", "train.txt", "validation.txt", "test.txt"}) {
    if (!fs::exists(root / name, error))
      throw InputError(fmt::format("{}: there is no {}", folder, name));
  }
  read_labels(path("labels.npy"), dataset);
  read_split(path("train.txt"), kTrain, dataset);
  read_split(path("validation.txt"), kValidation, dataset);
  read_split(path("test.txt"), kTest, dataset);
  finish_dataset(dataset, folder);
  return dataset;
}

}  // namespace warren::learn
