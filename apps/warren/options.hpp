// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, and choices of which some values are not there yet.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"

namespace CLI {
class App;
}

namespace warren::app {

/// What every command takes.
struct CommonOptions {
  std::string device = "auto";
  int devices = 0;  ///< 0: as many GPUs as help; one rank on the CPU.
  int threads = 0;  ///< 0: all that the process may use.
  bool share_devices = false;
  bool side_by_side = false;
  bool no_peer = false;
  double slice_milliseconds = 0.0;
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
struct TraversalOptions {
  std::string mode = "auto";
  std::string edges = "device";
  std::optional<std::uint64_t> cache;  ///< Bytes; not given: what is free, less a margin.
  std::uint64_t device_memory = 0;  ///< Bytes that each device is believed to have; 0: what it has.
  std::uint64_t host_memory = 0;    ///< The same of the host.
  std::string method;               ///< Of partition; empty: the command chooses.
  bool verify = false;
  std::string output;
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

/// Throws UsageError unless a graph can be cut by `method`.
void check_method(const std::string& method);
/// True if partitions by `method`, or orders of that name, are drawn by the seed.
[[nodiscard]] bool is_drawn(const std::string& method);

/// "15,10,-1". Throws UsageError for anything else, and for more hops than there can be.
[[nodiscard]] std::vector<std::int64_t> parse_fanouts(const std::string& text);

/// Where a command's ranks may be processes that a launcher started.
enum class RankProcesses { none, on_one_host, on_hosts };
[[nodiscard]] RankProcesses rank_processes(const std::string& command);
/// Those that have ranks on several hosts.
[[nodiscard]] std::vector<std::string> commands_on_hosts();

/// Throws UsageError for a command that is unknown or not there yet. Options pass.
void check_command(const std::string& command);

}  // namespace warren::app
