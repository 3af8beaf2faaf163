// SPDX-License-Identifier: Apache-2.0
// Datasets by name: folders with a graph, and perhaps names of its vertices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warren::learn {

struct DatasetFolder {
  std::string graph;  ///< Path of graph.* or edge_index.npy.
  std::string names;  ///< Path of names.txt (a vertex a line), or empty.
  /// Of a graph in .npy: as many as there are rows of features.
  std::uint64_t least_vertices = 0;
};

/// What is in a folder. Throws InputError if it has no graph.* of a known format and no
/// edge_index.npy.
[[nodiscard]] DatasetFolder open_dataset(const std::string& folder);

/// The folder of dataset `name`, looked for in $WARREN_DATA, ./data, the place where this program
/// is installed, and the folder that it was built from.
[[nodiscard]] std::optional<std::string> find_dataset(const std::string& name);
/// The folder of a DATASET to train on: a folder itself, or one by name, also under
/// ~/.cache/warren, of the Open Graph Benchmark, too. Throws InputError that says what there is,
/// and for the public sets where to put them.
[[nodiscard]] std::string find_training_folder(const std::string& name);
/// A name a line. Throws InputError.
[[nodiscard]] std::vector<std::string> read_names(const std::string& path);
/// The same, a name for each of `vertices`. Throws InputError where there are more or fewer.
[[nodiscard]] std::vector<std::string> read_names(const std::string& path, std::uint64_t vertices);
/// All names that find_dataset() would find, sorted.
[[nodiscard]] std::vector<std::string> dataset_names();

}  // namespace warren::learn
