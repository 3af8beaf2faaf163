// SPDX-License-Identifier: Apache-2.0
// What there is to learn of a vertex, and which vertices it is learnt from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warren::learn {

enum class LossKind {
  cross_entropy,  ///< Softmax cross-entropy of one class a vertex; right: the largest score.
  binary,         ///< Sigmoid cross-entropy, summed over classes of which a vertex has any number;
                  ///< right: micro-averaged F1.
  squared         ///< Mean squared error, over a row's elements; nothing is right.
};

/// Which vertices are learnt from.
enum Split : std::uint8_t { kNoSplit = 0, kTrain = 1, kValidation = 2, kTest = 3 };
inline constexpr std::size_t kSplits = 3;

}  // namespace warren::learn
