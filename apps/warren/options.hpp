// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, and choices of which some values are not there yet.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/run.hpp"

namespace CLI {
class App;
}

namespace warren::app {

/// What every command takes: the session's options, and what the command line has besides.
struct CommonOptions : SessionOptions {
  std::string device_name = "auto";
  std::uint64_t seed = 1;
  bool deterministic = false;
  int repeat = 1;
  std::string json;   ///< A file, "-" for standard output, or empty.
  std::string trace;  ///< A file, or empty.
  bool quiet = false;
  bool verbose = false;
  std::vector<CLI::App*> parsers;  ///< Of the commands that may fill this.

  /// Before a traversal has settled how many help.
  [[nodiscard]] int ranks() const { return devices == 0 ? 1 : devices; }
  /// True if the option ("--seed") stands on the command line.
  [[nodiscard]] bool is_given(const std::string& option) const;
};
/// A line on standard error for each of the options that is given: it has no effect, and why.
void warn_without_effect(const CommonOptions& common, std::initializer_list<const char*> options,
                         const std::string& why);
void add_common_options(CLI::App& command, CommonOptions& options);

/// What every command that takes a GRAPH takes: how the library reads it, and what the command line
/// has besides. Weights: those of the file where it has any.
struct GraphOptions : warren::ReadOptions {
  std::string graph;
  std::string ids = "auto";       ///< "words": of an edge list, whatever they look like.
  std::string headings = "auto";  ///< "yes", "no": of an edge list.
  std::string id_map;             ///< A file, or empty.

  /// With all of that.
  [[nodiscard]] warren::ReadOptions reading(std::uint64_t draws_by) const;
};
void add_graph_options(CLI::App& command, GraphOptions& options);

/// --method and --reorder of commands whose ranks each have a part of the graph.
void add_method(CLI::App& command, std::string& method);
void add_reorder(CLI::App& command, std::string& order);

/// What every traversal takes.
struct TraversalOptions : PlacementOptions {
  std::string mode = "auto";
  std::string edges = "device";
  bool verify = false;
  std::string output;

  [[nodiscard]] Mode mode_value() const;
  [[nodiscard]] Edges edges_value() const;
};
void add_traversal_options(CLI::App& command, TraversalOptions& options);
/// Throws UsageError for a value that is none, or is not there yet. `has_async`: the command has an
/// asynchronous form; `streams`: it reads lists from a file as well.
void check_traversal_options(const TraversalOptions& options, bool has_async = true,
                             bool streams = false);

/// Throws UsageError unless `value` is one of `available`; for one of `later`, with a message that
/// says that it is not there yet.
void check_choice(const std::string& option, const std::string& value,
                  const std::vector<std::string>& available, const std::vector<std::string>& later);

/// True if partitions by `method`, or orders of that name, are drawn by the seed.
[[nodiscard]] bool is_drawn(const std::string& method);

/// "15,10,-1". Throws UsageError for anything else, and for more hops than there can be.
[[nodiscard]] std::vector<std::int64_t> parse_fanouts(const std::string& text);

}  // namespace warren::app
