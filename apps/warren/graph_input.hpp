// SPDX-License-Identifier: Apache-2.0
// What a GRAPH argument names, and its reading.
#pragma once

#include <optional>
#include <string>

#include "warren/graph/generate.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/partition.hpp"

#include "options.hpp"
#include "session.hpp"

namespace warren::app {

/// A file or a generator.
struct GraphInput {
  std::string path;   ///< The file; empty for a generator.
  std::string names;  ///< A dataset's names.txt, or empty.
  std::optional<graph::GeneratorSpec> generator;
  graph::BuildOptions build;  ///< With what a generator is by definition.
};

/// A generator, a file, a dataset's folder or a dataset's name, in this order. Throws UsageError or
/// InputError if `options.graph` is none of them, or `options.weights` is not well formed.
[[nodiscard]] GraphInput find_graph(const Session& session, const GraphOptions& options);

/// Reads or draws the graph on the session's threads. Weights are left out unless `wants_weights`.
[[nodiscard]] graph::Graph load_graph(const Session& session, const GraphInput& input,
                                      const GraphOptions& options, bool wants_weights);

/// Draws weights where `options.weights` says so. Throws InputError where it wants those of the
/// file, which has none.
void set_weights(graph::Graph& graph, const GraphOptions& options, const Session& session);

/// Sets `graph`, `vertices` and `edges` of the session's JSON and prints the line on the graph.
void describe_graph(Session& session, const GraphOptions& options, std::uint64_t vertices,
                    std::uint64_t edges);

/// An object with the rows of each way.
[[nodiscard]] Json rows_json(const graph::MovedRows& rows);

}  // namespace warren::app
