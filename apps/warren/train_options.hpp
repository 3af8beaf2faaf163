// SPDX-License-Identifier: Apache-2.0
// The options of train.
#pragma once

#include <optional>
#include <string>

#include "warren/api/train.hpp"
#include "warren/learn/trainer.hpp"

#include "options.hpp"
#include "train_input.hpp"

namespace warren::app {

struct TrainCommand {
  CommonOptions common;
  DatasetOptions dataset;
  TrainOptions train;  ///< As the library takes them, but for what library_options() adds.
  std::optional<std::string> fanout;
  bool no_capture = false;
  bool tensor_sums = false;
  bool no_tensor_sums = false;
  bool exact_products = false;
  bool explain = false;
};

void add_train_options(CLI::App& train, TrainCommand& command);
/// The command's options as the library takes them. Throws UsageError.
[[nodiscard]] TrainOptions library_options(const TrainCommand& command);

}  // namespace warren::app
