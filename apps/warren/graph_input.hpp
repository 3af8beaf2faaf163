// SPDX-License-Identifier: Apache-2.0
// What a GRAPH argument names, and its reading.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/graph_name.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/partition.hpp"

#include "options.hpp"
#include "session.hpp"

namespace warren::app {

/// A file or a generator.
struct GraphInput : api::GraphPlace {
  /// The ids of an edge list whose ids are words, one a vertex; filled as it is read.
  std::shared_ptr<std::vector<std::string>> words;
  graph::BuildOptions build;  ///< With what a generator is by definition.
};

/// A generator, a file, a dataset's folder or a dataset's name, in this order; with --format a
/// file, a pipe or standard input. Warns of options that are for edge lists where it is none.
/// Throws UsageError or InputError if `options.graph` is none of them, or `options.weights` is not
/// well formed.
[[nodiscard]] GraphInput find_graph(const Session& session, const GraphOptions& options);

/// True if the seed decides about the graph, or about its weights where those are wanted.
[[nodiscard]] bool is_drawn(const GraphInput& input, const GraphOptions& options,
                            bool wants_weights);

/// Which weights a command can use.
enum class WeightRange { any, not_negative };

/// Reads or draws the graph on the session's threads, and writes the map of its ids where that is
/// asked for. Weights are left out unless `wants_weights`; `weights` is told of those of the file.
/// Throws InputError for weights out of `range`, by file, line and ids.
[[nodiscard]] graph::Graph load_graph(const Session& session, const GraphInput& input,
                                      const GraphOptions& options, bool wants_weights,
                                      WeightRange range = WeightRange::any,
                                      graph::WeightReport* weights = nullptr);

/// Warns of --weights; `command` is what takes none.
void warn_of_weights(const Session& session, const std::string& command);

/// Draws weights where `options.weights` says so. Throws InputError where it wants those of the
/// file, which has none.
void set_weights(graph::Graph& graph, const GraphOptions& options, const Session& session);

/// Sets `graph`, `vertices` and `edges` of the session's JSON and prints the line on the graph.
void describe_graph(Session& session, const GraphOptions& options, std::uint64_t vertices,
                    std::uint64_t edges);

/// An object with the rows of each way.
[[nodiscard]] Json rows_json(const graph::MovedRows& rows);

}  // namespace warren::app
