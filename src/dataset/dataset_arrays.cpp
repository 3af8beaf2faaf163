// SPDX-License-Identifier: Apache-2.0
#include "dataset/dataset_arrays.hpp"

#include "warren/core/error.hpp"

#include "dataset/free_memory.hpp"

namespace warren::learn {
namespace {

std::string shown_shape(const files::NpyArray& array) {
  std::string text;
  for (const std::uint64_t extent : array.shape)
    text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
  return text.empty() ? "no dimensions" : text;
}

void check_rows(const files::NpyStream& stream, std::uint64_t vertices) {
  const std::uint64_t rows = stream.array().shape[0];
  if (rows == vertices) return;
  stream.fail(
      fmt::format("{} rows, but the graph has {} vertices; a row for each vertex would be right",
                  rows, vertices));
}

void read_multi_label(files::NpyStream& stream, Dataset& dataset) {
  dataset.loss = LossKind::binary;
  dataset.classes = stream.array().shape[1];
  check_free_memory(stream.label(), stream.array().count * sizeof(float));
  dataset.targets.resize(stream.array().count);
  each_element(stream, [&](std::uint64_t i, double value) {
    if (value != 0.0 && value != 1.0)
      stream.fail(fmt::format("row {}, column {} is {}; of several columns each is 0 or 1",
                              i / dataset.classes, i % dataset.classes, value));
    dataset.targets[i] = static_cast<float>(value);
  });
}

}  // namespace

void check_classes(const Dataset& dataset, const std::string& path) {
  if (dataset.classes >= 2) return;
  throw InputError(fmt::format("{}: labels of {} classes; there is nothing to tell apart", path,
                               dataset.classes));
}

void check_integers(const files::NpyStream& stream) {
  const char kind = stream.array().kind;
  if (kind != 'i' && kind != 'u')
    stream.fail(
        fmt::format("the elements are of type {}; integers would be right", stream.array().type()));
}

std::uint64_t read_count(files::NpyStream stream, std::uint64_t most) {
  check_integers(stream);
  if (stream.array().count != 1)
    stream.fail(fmt::format("{} numbers; one, of one graph, would be right", stream.array().count));
  double count = 0.0;
  each_element(stream, [&](std::uint64_t, double value) { count = value; });
  if (!(count >= 1.0 && count <= static_cast<double>(most)))
    stream.fail(fmt::format("{}; 1 to {} would be right", count, most));
  return static_cast<std::uint64_t>(count);
}

std::string read_text(files::NpyStream stream) {
  const files::NpyArray text = stream.next();
  if (text.count != 1 || (text.kind != 'S' && text.kind != 'U'))
    stream.fail("this is no string; save the matrix with scipy.sparse.save_npz");
  constexpr std::size_t kLongest = 24;
  std::string shown;
  for (std::uint64_t i = 0; i < text.width; i += text.kind == 'U' ? 4 : 1) {
    const char letter = text.data[i];
    if (letter >= 0x20 && letter < 0x7f && shown.size() < kLongest) shown += letter;
  }
  return shown;
}

std::uint64_t feature_rows(const files::NpyStream& stream) {
  const auto& shape = stream.array().shape;
  if (shape.size() != 2 || shape[1] == 0 || shape[0] == 0 || shape[0] > kMaxVertices)
    stream.fail(fmt::format(
        "the array's shape is {}; vertices x features would be right, of 1 to {} vertices",
        shown_shape(stream.array()), kMaxVertices));
  return shape[0];
}

void read_features(files::NpyStream stream, Dataset& dataset) {
  (void)feature_rows(stream);
  check_rows(stream, dataset.vertices);
  dataset.width = stream.array().shape[1];
  check_free_memory(stream.label(), stream.array().count * sizeof(float));
  dataset.dense.resize(stream.array().count);
  each_element(stream, [&](std::uint64_t i, double value) {
    if (!fits_float(value))
      stream.fail(fmt::format("row {}, column {} is {}; features must be finite float32 values",
                              i / dataset.width, i % dataset.width, value));
    dataset.dense[i] = static_cast<float>(value);
  });
}

void read_labels(files::NpyStream stream, Dataset& dataset) {
  const auto& shape = stream.array().shape;
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && shape[1] == 0))
    stream.fail(fmt::format(
        "the array's shape is {}; one label or one row of 0 and 1 for each vertex would be right",
        shown_shape(stream.array())));
  check_rows(stream, dataset.vertices);
  if (shape.size() == 2 && shape[1] > 1) return read_multi_label(stream, dataset);
  dataset.labels.resize(dataset.vertices);
  each_element(stream, [&](std::uint64_t v, double label) {
    take_class(dataset, v, std::isnan(label) ? -1.0 : label,
               [&](const std::string& what) { stream.fail(what); });
  });
  check_classes(dataset, stream.label());
}

}  // namespace warren::learn
