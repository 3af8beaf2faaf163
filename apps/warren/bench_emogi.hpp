// SPDX-License-Identifier: Apache-2.0
// warren bench emogi: BFS over neighbour lists in host memory, by access pattern.
#pragma once

#include "options.hpp"
#include "session.hpp"

namespace warren::app {

struct EmogiOptions {
  GraphOptions graph;
  std::uint64_t sources = 64;
};

/// Measures every pattern and warren's own traversals from the same sources, and sets `results` of
/// the session's JSON, a row each. Lists in managed memory only where that is safe; `left_out` says
/// why not.
void bench_emogi(Session& session, const EmogiOptions& options);

}  // namespace warren::app
