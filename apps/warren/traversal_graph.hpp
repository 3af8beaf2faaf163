// SPDX-License-Identifier: Apache-2.0
// The graph of a traversal, read by the library, and where its calls run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warren/api/ranks.hpp"
#include "warren/api/report.hpp"

#include "graph_input.hpp"
#include "session.hpp"

namespace warren::app {

/// Warns of --cache where there is no GPU, and the command counts what it reads without it.
void warn_of_cache(const Session& session, const TraversalOptions& traversal);

/// What commands on a graph that is traversed take.
struct TraversalCommand : GraphCommand {
  TraversalOptions traversal;
};
void add_options(CLI::App& parser, TraversalCommand& command);

/// What a command asks of its graph.
struct GraphWishes {
  std::string method = "ranges";  ///< Of the partition, where --method does not say it.
  bool weights = false;
  WeightRange range = WeightRange::any;
  bool exact_decimals = false;                     ///< As warren::ReadOptions.
  std::optional<traverse::Traversal> traversal{};  ///< By which the number of GPUs is chosen.
  bool streams = false;                            ///< Lists may stay in a file.
  bool ranges = false;  ///< Ranks in processes may read or draw their own ranges.
};

class TraversalGraph {
 public:
  /// Tells --output's file, finds and reads the graph, unless its ranks will draw it, and settles
  /// how many run, if --devices does not. Throws as find_graph() and read_graph().
  TraversalGraph(Session& session, const TraversalCommand& command, const GraphWishes& wishes = {});

  [[nodiscard]] const warren::Graph& graph() const { return *graph_; }
  [[nodiscard]] const VertexNames& names() const { return *names_; }
  [[nodiscard]] std::uint64_t vertices() const { return graph_->vertices(); }
  /// Of the partition.
  [[nodiscard]] const std::string& method() const { return where_.placement.method; }
  /// True if the seed decides about the graph, its weights or its partition.
  [[nodiscard]] bool is_drawn() const { return is_drawn_; }

  /// Tells of the graph, and of how it was cut.
  void describe(Session& session, const TraversalCommand& command) const;
  /// Sets `read` and `read_reason` of the session's JSON, where ranges were asked for.
  void describe_reading(Session& session) const;

  [[nodiscard]] const WhereOptions& where() const { return where_; }
  /// Options of a call: what the algorithm takes, where it runs, and the timed runs that --repeat
  /// and --verify want.
  template <class Options>
  [[nodiscard]] Options call(Options options = {}) const {
    if constexpr (requires { options.mode; }) options.mode = where_.mode;
    options.edges = where_.edges;
    options.placement = where_.placement;
    options.devices = where_.devices;
    options.session = where_.session;
    options.run = run_;
    return options;
  }

 private:
  bool is_drawn_;
  bool asks_for_ranges_ = false;  ///< Of the ranks' processes, each for its own.
  std::optional<warren::Graph> graph_;
  std::optional<VertexNames> names_;
  WhereOptions where_;
  RunOptions run_;
};

/// Where the arrays of a result are wanted that is printed, and written where that is asked for.
[[nodiscard]] ResultArrays arrays_of(const Session& session, const TraversalOptions& traversal);

/// Writes and tells what a call found, whose document is `json`, and ends the command. `wrong`:
/// what stands before the check's message.
template <class Result>
[[nodiscard]] ExitStatus tell(Session& session, const TraversalCommand& command,
                              const TraversalGraph& input, const Result& result,
                              const std::string& json, const std::string& wrong) {
  const std::string& output = command.traversal.output;
  if (!output.empty()) save(input.names(), result, output);
  input.describe(session, command);
  return session.end(json, session.prints() ? to_text(input.names(), result) : "",
                     fault_of(result.info, wrong));
}

}  // namespace warren::app
