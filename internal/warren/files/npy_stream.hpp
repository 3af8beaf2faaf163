// SPDX-License-Identifier: Apache-2.0
// An array in an .npz archive, its elements front to back: no more than a piece is in memory.
#pragma once

#include <string>
#include <vector>

#include "warren/files/npy.hpp"
#include "warren/files/zip_reader.hpp"

namespace warren::files {

class NpyStream {
 public:
  /// The array `name` of `zip`, which is of the file `path` and must outlive the stream. Throws
  /// InputError where there is none, or it cannot be read.
  NpyStream(const ZipReader& zip, const std::string& path, const std::string& name);

  /// "FILE: NAME", with which messages begin.
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  /// Type, shape and number of elements, without data.
  [[nodiscard]] const NpyArray& array() const noexcept { return array_; }
  /// The next elements in one dimension, valid until the next call; none at the end.
  [[nodiscard]] NpyArray next();
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string label_;
  ZipStream stream_;
  NpyArray array_;
  std::uint64_t left_ = 0;
  std::vector<char> piece_;
};

}  // namespace warren::files
