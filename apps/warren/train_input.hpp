// SPDX-License-Identifier: Apache-2.0
// The DATASET of train and predict: found, read, checked, and cut over the ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/dataset/dataset.hpp"
#include "warren/graph/partition.hpp"
#include "warren/learn/links.hpp"
#include "warren/learn/neighbours.hpp"

#include "graph_input.hpp"
#include "session.hpp"

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

/// What a model needs of its dataset.
struct InputNeeds {
  bool dense = false;    ///< Features: the first layer reads no sparse ones.
  bool weights = false;  ///< Of the edges.
  /// Labels and splits are neither read nor missed; scores are rows of so many numbers.
  std::optional<std::uint64_t> unlabelled = {};
  bool links = false;  ///< Edges are held out; needs `unlabelled`.
};

struct TrainInput {
  /// Says warnings of the dataset. Throws UsageError, InputError.
  TrainInput(Session& session, const DatasetOptions& options, const InputNeeds& needs);

  learn::Dataset dataset;
  std::vector<std::string> names;  ///< Of the vertices, where the dataset has some.
  std::string normalize;           ///< What was done to the features: "rows" or "none".
  learn::GraphPair graphs;
  std::shared_ptr<const learn::LinkSplit> links;  ///< Where they are learnt.
};

}  // namespace warren::app
