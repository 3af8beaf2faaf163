// SPDX-License-Identifier: Apache-2.0
// What train and predict share: the DATASET, which is found, read, checked, and cut over the ranks,
// and options whose defaults are a checkpoint's.
#pragma once

#include <cstdint>
#include <string>

#include "warren/api/training.hpp"
#include "warren/learn/settings.hpp"

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

/// Says warnings of the dataset. Throws UsageError, InputError.
[[nodiscard]] api::TrainingData read_training_data(Session& session, const DatasetOptions& options,
                                                   const api::Needs& needs);

/// How a dataset is made, for TrainOptions::inputs.
[[nodiscard]] learn::Settings input_settings(const DatasetOptions& options, std::uint64_t seed);

/// Gives the options of `command` that the command line leaves out (or sets to "auto") the values
/// that the checkpoint in `folder` keeps, where they hold (api::restored()); throws InputError for
/// a value that is none. True if an option contradicts the checkpoint and --allow-changes lets it.
bool restore_options(CLI::App& command, const std::string& folder, const learn::Settings& stored);

/// Why --allow-changes has no effect.
inline constexpr const char* kNothingDiffers = "nothing differs from the checkpoint's options";

}  // namespace warren::app
