// SPDX-License-Identifier: Apache-2.0
// What each class counts in the loss of training vertices.
#pragma once

#include <vector>

#include "warren/learn/trainer.hpp"

namespace warren::learn {

/// A factor of each class such that training vertices have 1 on average, as TrainOptions says;
/// without class weights none. Throws UsageError.
[[nodiscard]] std::vector<float> class_factors(const Dataset& dataset, const TrainOptions& options);

}  // namespace warren::learn
