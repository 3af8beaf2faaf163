// SPDX-License-Identifier: Apache-2.0
// Dropout of edges, as attention draws it.
#pragma once

#include "warren/learn/neighbours.hpp"

#include "learn/attention/gat/attention_walk.hpp"

namespace warren::learn {

/// What kernels draw from, until the end of this object.
struct EdgeDropoutKeys {
  Workspace::Taken<std::uint32_t> keys;
  float probability = 0.0f;  ///< 0: off.
  [[nodiscard]] detail::EdgeDropout view() const { return {keys, probability}; }
};

/// For the rows of `n` and the columns that they name.
[[nodiscard]] EdgeDropoutKeys edge_dropout(Context& context, const Neighbours& n,
                                           const Dropout& dropout);

}  // namespace warren::learn
