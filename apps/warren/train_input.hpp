// SPDX-License-Identifier: Apache-2.0
// The DATASET of train and predict: found, read, checked, and cut over the ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warren/api/training.hpp"

#include "graph_input.hpp"

namespace warren::app {

/// What train and predict take of a dataset.
struct DatasetOptions {
  GraphOptions graph;
  std::uint64_t features = 0, classes = 0;  ///< Of a generator.
  std::string normalize = "auto";
  std::string labels = "auto";
  std::string method = "ranges";
  std::string reorder = "none";
};
void add_dataset_options(CLI::App& command, DatasetOptions& options);

/// As the library takes them.
[[nodiscard]] warren::DatasetOptions library_options(const DatasetOptions& options,
                                                     std::uint64_t seed);

struct TrainInput : api::TrainingData {
  /// Says warnings of the dataset. Throws UsageError, InputError.
  TrainInput(Session& session, const DatasetOptions& options, const api::Needs& needs);

  std::vector<std::string> names;  ///< Of the vertices, where the dataset has some.
};

}  // namespace warren::app
