// SPDX-License-Identifier: Apache-2.0
// What can be counted of a graph, on the host's threads of the session, whatever device it has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/graph/transform.hpp"

namespace warren {

struct StatisticsOptions {
  /// Runs that are timed (StatisticsResult::run_seconds), after one that warms up. 0: one run.
  int repeat = 0;
  std::optional<Session> session{};
};

struct StatisticsResult : graph::Statistics {
  bool is_symmetric = false;          ///< As Graph::is_symmetric().
  std::string weight_type = "none";   ///< "none", "int32" or "float32".
  std::vector<double> run_seconds{};  ///< Of each timed run, without looking for symmetry.
};

/// Degrees, isolated vertices and self-loops. Repeats bit for bit. Throws UsageError for a negative
/// `repeat`, MemoryError.
[[nodiscard]] StatisticsResult statistics(const Graph& graph,
                                          const StatisticsOptions& options = {});

}  // namespace warren
