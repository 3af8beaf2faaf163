// SPDX-License-Identifier: Apache-2.0
// Options of a training as text, which checkpoints keep: what going on and predicting go by.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace warren::learn {

struct TrainOptions;

/// Values by the names that options have on the command line ("lr", "normalize"). A switch is
/// "true" or "false".
using Settings = std::map<std::string, std::string>;

/// Of the model, the training and TrainOptions::inputs. Numbers are decimal and read back exactly.
[[nodiscard]] Settings settings_of(const TrainOptions& options);

/// What is to be done with a checkpoint.
enum class Purpose {
  resume,  ///< Training goes on.
  predict  ///< The model is asked, perhaps of another dataset.
};

/// Throws UsageError, with both values, for an option that is `given` otherwise than `stored` and
/// may not be: resuming, those of the model, the seed, the optimiser and the inputs; predicting,
/// those by which inputs are made. Resuming with another learning rate, type, dropout or the like
/// changes what is trained: it takes `allows_changes`, as inputs do for predicting. Epochs,
/// patience, and all that changes no number may always differ. Options that either does not name
/// are not compared. `folder` begins the message. True if there was a change that `allows_changes`
/// let pass.
bool check_settings(const std::string& folder, Purpose purpose, const Settings& stored,
                    const Settings& given, bool allows_changes);

/// Throws UsageError as check_settings() does: option `name` was `before` and is `now`.
[[noreturn]] void refuse_change(const std::string& folder, Purpose purpose, const std::string& name,
                                const std::string& before, const std::string& now, bool may_change);

/// The options of which check_settings() was told to allow changes: "lr: 0.01, now 0.001".
[[nodiscard]] std::vector<std::string> changed_settings(const Settings& stored,
                                                        const Settings& given);

}  // namespace warren::learn
