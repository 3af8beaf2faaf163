// SPDX-License-Identifier: Apache-2.0
// Which options of a checkpoint hold for a call that goes on from it, or asks its model. Options
// have the names of the command line ("one-based").
#pragma once

#include <string>

#include "warren/learn/settings.hpp"

namespace warren::api {

/// A call on what a checkpoint's `folder` has, and what it says itself.
struct RestoringCall {
  std::string folder;
  std::string graph;  ///< A file, a generator or a dataset.
  std::string mode;   ///< "full" or "sampled"; empty: the checkpoint's.
  learn::Purpose purpose = learn::Purpose::resume;
  learn::Settings given{};
  bool allows_changes = false;
};

struct Restored {
  learn::Settings settings;  ///< Values of options that the call leaves out, or sets to "auto".
  bool has_changes = false;  ///< What is given contradicts the checkpoint, and may.
};

/// What says how a file is to be read holds only for the file that the model was trained on, what
/// says how to draw features only for generators, and what is of batches only where they are
/// trained on. Throws UsageError where a call for a prediction reads that file in another way, or
/// draws another set, unless it allows that.
[[nodiscard]] Restored restored(const learn::Settings& stored, const RestoringCall& call);

/// The line on a checkpoint that does not keep its options.
[[nodiscard]] std::string old_checkpoint_warning(const std::string& folder);

}  // namespace warren::api
