// SPDX-License-Identifier: Apache-2.0
// The DATASET of train and predict: found, read, checked, and cut over the ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "warren/graph/partition.hpp"
#include "warren/learn/dataset.hpp"
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

struct TrainInput {
  /// `needs_dense`: the model's first layer reads dense features. `embedding`: links are learnt,
  /// by embeddings of so many numbers: there need be no labels, and edges are held out.
  /// `needs_weights`: of the edges. Says warnings of the dataset. Throws UsageError, InputError.
  TrainInput(Session& session, const DatasetOptions& options, bool needs_dense,
             std::optional<std::uint64_t> embedding = {}, bool needs_weights = false);

  learn::Dataset dataset;
  std::string normalize;  ///< What was done to the features: "rows" or "none".
  learn::GraphPair graphs;
  std::shared_ptr<const learn::LinkSplit> links;  ///< Where they are learnt.
};

}  // namespace warren::app
