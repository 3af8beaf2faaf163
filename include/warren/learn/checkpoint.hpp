// SPDX-License-Identifier: Apache-2.0
// Named float32 matrices in a file, as the safetensors format has them: the length of a JSON header
// (8 bytes), the header, the elements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warren::learn {

struct NamedTensor {
  std::string name;
  std::uint64_t rows = 0, columns = 0;
  std::vector<float> values;
};

struct TensorFile {
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> metadata;

  /// Throws InputError where there is none of that name.
  [[nodiscard]] const NamedTensor& tensor(const std::string& name, const std::string& path) const;
  [[nodiscard]] const std::string& text(const std::string& key, const std::string& path) const;
  [[nodiscard]] std::uint64_t number(const std::string& key, const std::string& path) const;
  /// A number that set_real() wrote: the same bits. Files that were written before it have the bits
  /// as a whole number, which is read, too.
  [[nodiscard]] double real(const std::string& key, const std::string& path) const;
  /// As the shortest decimal number that reads back the same.
  void set_real(const std::string& key, double value);
};

/// The file appears whole or not at all: what was there stays until then. Throws InputError where
/// it cannot be written.
void write_tensors(const std::string& path, const TensorFile& file);
/// Several, each by its path: all are written before the first one takes its place, so that a disk
/// that fills leaves what was there, of each of them.
void write_tensors(const std::vector<std::pair<std::string, TensorFile>>& files);
/// Throws InputError where there is no room for them all. Writes nothing.
void check_room_for_tensors(const std::vector<std::pair<std::string, TensorFile>>& files);
/// Float32 matrices only. Throws InputError for what is no such file, or is damaged.
[[nodiscard]] TensorFile read_tensors(const std::string& path);

}  // namespace warren::learn
