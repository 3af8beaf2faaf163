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
/// that the checkpoint in `folder` keeps, where they hold (api::restored()); throws InputError for
/// a value that is none. True if an option contradicts the checkpoint and --allow-changes lets it.
bool restore_options(CLI::App& command, const std::string& folder, const learn::Settings& stored);

/// How a dataset is made, for TrainOptions::inputs.
[[nodiscard]] learn::Settings input_settings(const DatasetOptions& options, std::uint64_t seed);

/// Why --allow-changes has no effect.
inline constexpr const char* kNothingDiffers = "nothing differs from the checkpoint's options";

}  // namespace warren::app
