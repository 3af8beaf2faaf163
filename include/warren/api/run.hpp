// SPDX-License-Identifier: Apache-2.0
// Where and how calls run: where a graph's parts lie, how often a call runs and whether its result
// is checked, and what is told of that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/session.hpp"

namespace warren {

/// Of a search: one step after another with a barrier between them, or as tasks.
enum class Mode : std::uint8_t {
  automatic,  ///< Step by step first; as tasks where an earlier search showed that they pay.
  synchronous,
  asynchronous
};

/// Where the lists of edges lie while a call runs.
enum class Edges : std::uint8_t {
  device,
  host,             ///< In host memory, which GPUs read in place.
  compressed_host,  ///< The same, compressed.
  /// In the graph's .wgr file, from which every call streams them: bfs(), connected_components()
  /// and pagerank() of a graph that was read so (ReadOptions::lists), on one CPU or GPU.
  file
};

/// How a graph is cut for the ranks, and how much of their devices it may take. Each rank keeps a
/// part of the graph for every placement that calls name.
struct PlacementOptions {
  /// As PartitionOptions::method. Vertices keep their numbers for the caller. Empty: "ranges", in
  /// whose place pagerank() may take an order by degree on one GPU.
  std::string method{};
  std::uint64_t seed = 1;  ///< Of "random" and "metis".
  /// Of Edges::host: bytes on each device that hold lists all the same. Left out: what is free,
  /// less a margin; on the CPU none.
  std::optional<std::uint64_t> cache{};
  /// Bytes that each device is believed to have while the call runs; 0: what it has.
  std::uint64_t device_memory = 0;
  /// The same of the host, what the process has already taken being counted; 0: what it has.
  std::uint64_t host_memory = 0;
  friend bool operator==(const PlacementOptions&, const PlacementOptions&) = default;
};

/// Where the arrays of a result are made.
enum class ResultArrays : std::uint8_t {
  device,  ///< Where the call ran, in one GPU's memory or the host's; with another order of
           ///< vertices than "ranges" on the host.
  host,    ///< In host memory: takes none of a GPU.
  none     ///< Not at all: they are empty.
};

/// How often a call runs, and what is done with what it found.
struct RunOptions {
  /// Runs that are timed (RunInfo::run_seconds), after one that warms up; the result is the last
  /// one's. 0: one run, with none before it.
  int repeat = 0;
  bool warm_up = true;  ///< Of `repeat`: false where an earlier call has done so.
  /// Checks the result on the host, by code that shares none with what it checks
  /// (RunInfo::verdict). Takes a multiple of the call's time.
  bool verify = false;
  ResultArrays arrays = ResultArrays::device;
};

/// What a check found.
struct Verdict {
  bool correct = true;
  std::string message;  ///< The first vertex or edge that is wrong.
};

/// What the scheduler did in an asynchronous run, over all ranks.
struct TaskReport {
  std::uint64_t tasks = 0;
  std::vector<std::uint64_t> rank_tasks;
  std::vector<double> rank_idle_seconds;  ///< Of all workers of the rank together.
  std::uint64_t expanded = 0;             ///< Vertices worked on, each as often as it was.
  double redundancy = 0.0;    ///< `expanded` over the least of any order (1); 0: of ranks.
  std::uint64_t spilled = 0;  ///< Tasks for which the queues had no room.
  bool is_persistent = false;
  std::uint32_t rounds = 0;
  std::uint64_t messages_sent = 0;
  /// From rank p to rank q at p x ranks + q, and their bytes.
  std::vector<std::uint64_t> messages, message_bytes;
};

/// What a call ran on.
struct RunInfo {
  DeviceKind device = DeviceKind::cpu;
  int devices = 1;  ///< Ranks.
  std::string devices_reason;
  int threads = 0;  ///< Of the CPU, in all.
  Mode mode = Mode::synchronous;
  std::string mode_reason;
  Edges edges = Edges::device;
  std::string edges_reason;  ///< Of Edges::file: why lists are there.
  /// Sent to other hosts by all ranks of the call, where ranks are on several: what algorithms and
  /// results show to each other, without what tells where it goes.
  std::uint64_t bytes_between_hosts = 0;
  /// From host memory, of lists that are placed there; of Edges::file from the file, offsets too.
  std::uint64_t bytes_read = 0;
  /// Of Edges::file: seconds of the last run in which no list had come from the file yet.
  double file_wait_seconds = 0.0;
  double seconds = 0.0;  ///< The algorithm alone, on the slowest rank, in the last run.
  std::vector<double> run_seconds{};   ///< The same of each timed run.
  std::optional<Verdict> verdict{};    ///< Where it was to be verified.
  std::optional<TaskReport> report{};  ///< Of an asynchronous run, the last one.
};

/// What calls of the session run on that name neither a device nor a number of ranks. Throws
/// UsageError.
[[nodiscard]] RunInfo run_info(const Session& session);

}  // namespace warren
