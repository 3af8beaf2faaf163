// SPDX-License-Identifier: Apache-2.0
// Dropout of edges, as attention draws it.
#pragma once

#include "warren/learn/neighbours.hpp"

#include "learn/attention/gat/attention_walk.hpp"

namespace warren::learn {

/// For the rows of `n` and the columns that they name; until the next call.
[[nodiscard]] detail::EdgeDropout edge_dropout(Context& context, const Neighbours& n,
                                               const Dropout& dropout);

}  // namespace warren::learn
