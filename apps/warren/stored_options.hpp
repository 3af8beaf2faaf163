// SPDX-License-Identifier: Apache-2.0
// Options whose defaults are a checkpoint's.
#pragma once

#include "warren/learn/settings.hpp"

#include "train_input.hpp"

namespace CLI {
class App;
}

namespace warren::app {

/// Gives the options of `command` that the command line leaves out (or sets to "auto") the values
/// that the checkpoint in `folder` keeps; throws InputError for a value that is none. What says how
/// a file is to be read is taken only for the file that the model was trained on, what says how to
/// draw features only for generators, and what is of batches only where they are trained on. True
/// if an option contradicts the checkpoint and --allow-changes lets it.
bool restore_options(CLI::App& command, const std::string& folder, const learn::Settings& stored);

/// How a dataset is made, for TrainOptions::inputs.
[[nodiscard]] learn::Settings input_settings(const DatasetOptions& options, std::uint64_t seed);

/// Why --allow-changes has no effect.
inline constexpr const char* kNothingDiffers = "nothing differs from the checkpoint's options";

/// The line on a checkpoint that does not keep its options.
void warn_of_old_checkpoint(const std::string& folder);

}  // namespace warren::app
