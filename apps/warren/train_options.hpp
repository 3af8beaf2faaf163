// SPDX-License-Identifier: Apache-2.0
// The options of train.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warren/learn/trainer.hpp"

#include "options.hpp"
#include "train_input.hpp"

namespace warren::app {

struct TrainCommand {
  CommonOptions common;
  DatasetOptions dataset;
  std::string model = "gcn";
  std::string mode = "full";
  std::string task = "node";
  std::string type = "float32";
  std::string aggregate = "mean";
  std::string norm;
  std::string optimizer = "adam";
  std::string schedule = "constant";
  std::optional<std::uint64_t> layers;
  std::optional<std::uint64_t> hidden;
  std::uint64_t heads = 8;
  std::optional<double> dropout, rate, weight_decay;
  double clip = 0.0;
  std::uint64_t warmup = 0;
  std::uint64_t epochs = 200;
  std::uint64_t patience = 0;
  std::string fanout = "15,10";
  std::string evaluation = "exact";
  std::string placement = "auto";
  std::string cache_by = "degree";
  std::string edges = "auto";
  double cached = 0.1;
  std::optional<std::uint64_t> batch;
  std::optional<std::uint64_t> negatives;
  std::string class_weights, edge_weights;
  std::string checkpoint;
  std::uint64_t checkpoint_every = 20;
  std::uint64_t checkpoint_batches = 0;
  bool has_fanout = false, has_placement = false, has_evaluation = false, has_cached = false;
  bool has_cache_by = false, has_edges = false;
  bool has_class_weights = false, has_edge_weights = false;
  bool replace = false;
  bool weighted = false;
  bool resume = false;
  bool overwrite = false;
  bool allow_changes = false;
  bool residual = false;
  bool skip = false;
  bool recompute = false;
  bool no_capture = false;
  bool capture_batches = false;
  bool tensor_sums = false;
  bool no_tensor_sums = false;
  bool exact_products = false;
};

void add_train_options(CLI::App& train, TrainCommand& command);
/// Throws UsageError for what does not fit together.
[[nodiscard]] learn::TrainOptions train_options(const TrainCommand& o);
/// What can only be said of the dataset: throws UsageError for batches larger than the training
/// set, and takes smaller ones where none were asked for. Chooses where features and lists lie, if
/// it is left to choose. Hands the split of links over.
void fit_to(const Session& session, const TrainInput& input, const TrainCommand& command,
            learn::TrainOptions& train);
/// A line on standard error for each option that was given and changes nothing.
void warn_of_unused_options(const Session& session, const learn::TrainOptions& train);

}  // namespace warren::app
