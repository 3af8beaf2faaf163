// SPDX-License-Identifier: Apache-2.0
// Graphs that benchmarks are asked for by name.
#pragma once

#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/io.hpp"

namespace warren::bench {

/// What a generator (seed 1) makes, or a file holds; built as `options.build` says, in host memory.
/// Throws UsageError, and what graph::read_graph() throws.
[[nodiscard]] graph::Graph input_graph(const std::string& name, const graph::ReadOptions& options,
                                       exec::ThreadPool& pool);

}  // namespace warren::bench
