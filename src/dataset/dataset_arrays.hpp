// SPDX-License-Identifier: Apache-2.0
// What readers of datasets share: which values features and labels may have, and arrays of .npz
// archives taken piece by piece, so that nothing is held but what is kept of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "warren/dataset/dataset.hpp"
#include "warren/files/npy_stream.hpp"

#include "dataset/array_file.hpp"

namespace warren::learn {

constexpr double kMostClasses = 1 << 20;

/// False for NaN, too.
inline bool fits_float(double value) { return std::abs(value) <= 3.4028234663852886e38; }

inline bool is_index(double value, std::uint64_t size) {
  return value >= 0.0 && value < static_cast<double>(size) && value == std::floor(value);
}

/// Takes the class of vertex v, -1 for none. Calls fail(message) for what is no class.
template <class F>
void take_class(Dataset& dataset, std::uint64_t v, double label, F&& fail) {
  if (!(label >= -1.0 && label < kMostClasses && label == std::floor(label)))
    fail(
        fmt::format("the label of vertex {} is {}; classes are whole numbers from 0 (-1: no "
                    "label) below {}",
                    v, label, kMostClasses));
  dataset.labels[v] = static_cast<std::int32_t>(label);
  dataset.classes = std::max(dataset.classes, static_cast<std::uint64_t>(label + 1.0));
}

/// Throws InputError where there are less than two classes.
void check_classes(const Dataset& dataset, const std::string& path);

/// An archive that is read in pieces.
struct Archive {
  explicit Archive(std::string path) : file(std::move(path)), zip(file) {}
  [[nodiscard]] files::NpyStream array(const std::string& name) const {
    return {zip, file.path(), name};
  }
  [[nodiscard]] bool contains(const std::string& name) const { return zip.contains(name + ".npy"); }
  files::MappedFile file;
  files::ZipReader zip;
};

/// Calls f(i, value) for the elements that are left.
template <class F>
void each_element(files::NpyStream& stream, F&& f) {
  std::uint64_t first = 0;
  for (auto piece = stream.next(); piece.count != 0; piece = stream.next()) {
    with_elements(piece, stream.label(), [&](auto&& read) {
      for (std::uint64_t i = 0; i < piece.count; ++i) f(first + i, read(i));
    });
    first += piece.count;
  }
}

/// Throws InputError for elements that are no integers.
void check_integers(const files::NpyStream& stream);

/// The number in an array of one, from 1 to `most`. Throws InputError.
[[nodiscard]] std::uint64_t read_count(files::NpyStream stream, std::uint64_t most);

/// A string of bytes or of characters of four, such as "csr": what can be printed of it, 24 at
/// most. Throws InputError.
[[nodiscard]] std::string read_text(files::NpyStream stream);

/// Of features, vertices x columns: of how many vertices. Throws InputError for another shape.
[[nodiscard]] std::uint64_t feature_rows(const files::NpyStream& stream);

/// vertices x columns. Throws InputError, naming row and column of what is not finite; MemoryError.
void read_features(files::NpyStream stream, Dataset& dataset);

/// A class for each vertex, NaN for none; or a row of 0 and 1. Throws InputError by row and column.
void read_labels(files::NpyStream stream, Dataset& dataset);

}  // namespace warren::learn
