// SPDX-License-Identifier: Apache-2.0
// What a GRAPH argument names, and its reading.
#pragma once

#include <string>

#include "warren/api/graph.hpp"
#include "warren/api/graph_name.hpp"

#include "session.hpp"

namespace warren::app {

/// What every command on a GRAPH takes.
struct GraphCommand {
  CommonOptions common;
  GraphOptions graph;
};

/// A generator, a file, a dataset's folder or a dataset's name, in this order; with --format a
/// file, a pipe or standard input. Warns of options that are for edge lists where it is none.
/// Throws UsageError or InputError if `options.graph` is none of them, or `options.weights` is not
/// well formed.
[[nodiscard]] api::GraphPlace find_graph(const Session& session, const GraphOptions& options);

/// True if the seed decides about the graph, or about its weights where those are wanted.
[[nodiscard]] bool is_drawn(const api::GraphPlace& input, const GraphOptions& options,
                            bool wants_weights);

/// Which weights a command can use.
enum class WeightRange { any, not_negative };

/// How the library reads the graph, as the options say it.
[[nodiscard]] warren::ReadOptions read_options(const Session& session, const GraphOptions& options,
                                               bool wants_weights);
/// Reads or draws the graph as `read` says, and writes the map of its ids where that is asked for.
/// Throws InputError.
[[nodiscard]] warren::Graph read_graph(const Session& session, const api::GraphPlace& input,
                                       const GraphOptions& options,
                                       const warren::ReadOptions& read);
/// The same without a dataset's names, for what is not told of single vertices.
[[nodiscard]] warren::Graph load_graph(const Session& session, const api::GraphPlace& input,
                                       const GraphOptions& options,
                                       const warren::ReadOptions& read);
/// The same; weights are left out unless `wants_weights`. Throws InputError for weights out of
/// `range`, by file, line and ids.
[[nodiscard]] warren::Graph load_graph(const Session& session, const api::GraphPlace& input,
                                       const GraphOptions& options, bool wants_weights,
                                       WeightRange range = WeightRange::any);

/// Warns of --weights; `command` is what takes none.
void warn_of_weights(const Session& session, const std::string& command);

/// Whether the ranks, which are processes, are each to read or draw their own ranges of the graph
/// (Lists::ranges), where its vertices are in the order of `method`.
[[nodiscard]] bool wants_ranges(const std::string& method);
/// Sets `read` and `read_reason` of the session's JSON: whether they did.
void describe_reading(Session& session, const warren::Graph& graph);

/// Sets `graph`, `vertices` and `edges` of the session's JSON and prints the line on the graph.
void describe_graph(Session& session, const GraphOptions& options, std::uint64_t vertices,
                    std::uint64_t edges);

}  // namespace warren::app
