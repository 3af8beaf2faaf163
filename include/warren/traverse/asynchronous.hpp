// SPDX-License-Identifier: Apache-2.0
// BFS, SSSP and PageRank without levels or iterations: as tasks over the scheduler (Atos: Chen et
// al., SC 2022, section IV). They win where a graph has many levels with little in each; where
// levels are large, the synchronous forms do less work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warren/graph/shard.hpp"
#include "warren/schedule/run.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"

namespace warren::traverse {

/// Who works off the tasks of BFS and SSSP on a GPU.
enum class SearchWorkers {
  automatic,  ///< Blocks where workers go on by themselves (`leap`).
  warps,      ///< Many, each with a few vertices of its own.
  blocks      ///< Few, each with up to a thousand: little of a small wave front's order is lost.
};

struct AsyncOptions {
  schedule::Form form = schedule::Form::automatic;
  /// Tasks in each local and each receive ring; 0: by the shard's size. PageRank: no
  /// fewer than its chunks.
  std::uint64_t capacity = 0;
  /// Levels of priority: depths or distances of width `delta` (0: 1 for depths, for distances as
  /// the synchronous form chooses). 0: chosen, 1 for workers of blocks that go on by themselves and
  /// for BFS whose workers do not (`leap` 0), else 4. PageRank has none.
  std::uint32_t levels = 0;
  double delta = 0.0;
  /// How much farther than the task it took (levels; widths of a bin) a worker of BFS or SSSP goes
  /// on with what it finds itself before others may take it: a long path then costs no queue. 0: no
  /// further; below 0: chosen, on GPUs where lists are short: workers of blocks 48 levels on road
  /// networks, else 192; warps 12 and 48; either 6 widths, blocks on road networks 18.
  double leap = -1.0;
  SearchWorkers workers = SearchWorkers::automatic;
  /// Vertices that a worker has of its own at most; 0: chosen. No more than it has room for.
  std::uint32_t keep = 0;
  schedule::Gather gather = schedule::Gather::measured;
  /// Of the aggregator: tasks of a batch (at most what a receive ring holds; 0: 4096, or what it
  /// holds), and turns of a worker after which fewer go.
  std::uint32_t batch = 0;
  std::uint32_t wait = 32;
  std::uint32_t link_delay_nanoseconds = 0;      ///< Tests: see schedule::QueueOptions.
  std::uint32_t injected_delay_nanoseconds = 0;  ///< Tests.
};

/// What the scheduler did in a run, over the team.
struct AsyncReport {
  schedule::QueueReport queue;
  std::uint64_t expanded = 0;  ///< Vertices worked on, each as often as it was.
  std::uint64_t edges = 0;     ///< Edges looked at.
  /// expanded over the least that any order needs: 1 is ideal (BFS, SSSP).
  double redundancy = 0.0;
};

class AsyncSearchMemory;

/// As Bfs: the same depths, whatever the order of the tasks; parents are one of the possible ones,
/// not always the same. Holds, on each device, 8 bytes for every vertex of the graph (9 where
/// workers keep nothing: `leap` 0), and rings of tasks of 16 bytes: for each level of priority one
/// of own vertices and pieces of lists, and one for each rank of as many but at most 2^20, twice
/// where messages are gathered. A ring has places beyond these, up to the next power of two, for
/// what the device's threads push at once, and there is a spill for what they push before they see
/// that it is full (schedule::TaskQueue): on a GPU of 132 processors up to 2^21 more places a ring,
/// and a spill of 0.4 to 0.8 GB.
class AsyncBfs {
 public:
  /// Collective. `shard` must outlive this; its lists must not be compressed. Throws UsageError,
  /// MemoryError.
  AsyncBfs(team::Team& team, const graph::Shard& shard, const AsyncOptions& options = {});
  ~AsyncBfs();
  AsyncBfs(const AsyncBfs&) = delete;
  AsyncBfs& operator=(const AsyncBfs&) = delete;

  /// Collective, synchronous. Throws UsageError for a source that is no vertex.
  BfsResult run(Vertex source);
  [[nodiscard]] const AsyncReport& report() const { return report_; }
  [[nodiscard]] std::vector<Vertex> depth() const;
  [[nodiscard]] std::vector<Vertex> parent() const;
  /// Like Bfs's.
  void write(Vertex* depth, Vertex* parent) const;
  [[nodiscard]] std::vector<Vertex> all_depths() const;
  [[nodiscard]] std::vector<Vertex> all_parents() const;

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  AsyncOptions options_;
  exec::Stream stream_;
  std::unique_ptr<AsyncSearchMemory> memory_;
  AsyncReport report_;
};

/// As Sssp: the same distances, in 64-bit words. Holds 8 bytes for every vertex of the graph, and
/// rings and a spill as AsyncBfs.
class AsyncSssp {
 public:
  /// Collective. As Sssp. `options.delta` of 0: twice the mean weight.
  AsyncSssp(team::Team& team, const graph::Shard& shard, const AsyncOptions& options = {});
  ~AsyncSssp();
  AsyncSssp(const AsyncSssp&) = delete;
  AsyncSssp& operator=(const AsyncSssp&) = delete;

  SsspResult run(Vertex source);
  [[nodiscard]] const AsyncReport& report() const { return report_; }
  [[nodiscard]] bool has_integer_distances() const { return is_integer_; }
  [[nodiscard]] std::vector<std::uint64_t> distance() const;
  [[nodiscard]] std::vector<double> real_distance() const;
  /// Like Sssp's.
  void write_distance(std::uint64_t* to) const;
  void write_real_distance(double* to) const;
  [[nodiscard]] std::vector<std::uint64_t> all_distances() const;
  [[nodiscard]] std::vector<double> all_real_distances() const;

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  AsyncOptions options_;
  exec::Stream stream_;
  bool is_integer_ = true;
  std::unique_ptr<AsyncSearchMemory> memory_;
  AsyncReport report_;
};

class AsyncPageRankMemory;

/// As PageRank, without iterations: chunks of rows are recomputed from the contributions as they
/// stand, each again and again, until one more synchronous iteration would provably change the
/// ranks by at most the tolerance in L1 (`residual` is that bound:
/// src/traverse/tasks/shared_ranking.hpp), or every chunk has been recomputed `max_iterations`
/// times. The rank of vertices without out-edges is spread by normalising at the end: with a
/// uniform teleport that is the same (Langville and Meyer, Deeper Inside PageRank, Internet
/// Mathematics 2004). Values are float64, contributions float32 where the tolerance is 1e-6 or
/// more. Of symmetric graphs a row becomes w times what it would plus (1 - w) times the value
/// before its last one (second-degree iteration: Golub and Varga, Numerische Mathematik 1961), w
/// being 1 to 1.11 by what sweeps take away. Does not repeat bit for bit. `iterations` counts the
/// work in iterations over all edges, rounded up. Holds, on each device, 8 bytes for every own
/// vertex, of symmetric graphs 16, and 4 or 8 for every vertex of the graph. Of the options `form`
/// and `capacity` count: tasks stay with their ranks. Contributions go to every other rank as they
/// are made: in the report each is a message of 4 or 8 bytes.
class AsyncPageRank {
 public:
  /// Collective. As PageRank, but the tolerance must be above 0 and lists not compressed.
  AsyncPageRank(team::Team& team, const graph::Shard& shard, const PageRankOptions& options = {},
                const AsyncOptions& async = {});
  ~AsyncPageRank();
  AsyncPageRank(const AsyncPageRank&) = delete;
  AsyncPageRank& operator=(const AsyncPageRank&) = delete;

  PageRankResult run();
  [[nodiscard]] const AsyncReport& report() const { return report_; }
  [[nodiscard]] std::vector<double> ranks() const;
  void write_ranks(double* to) const;
  [[nodiscard]] std::vector<double> all_ranks() const;

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  PageRankOptions options_;
  schedule::Form form_;
  exec::Stream stream_;
  std::unique_ptr<AsyncPageRankMemory> memory_;
  AsyncReport report_;
};

/// What is known of a search when its form is chosen.
struct ModeEvidence {
  bool on_gpu = false;
  std::uint64_t reached = 0;  ///< By an earlier search, the source included.
  std::uint64_t levels = 0;   ///< That it had.
  double mean_degree = 0.0;
  std::uint64_t max_degree = 0;
  bool is_weighted = false;  ///< SSSP.
};
struct ModeChoice {
  bool is_async = false;
  std::string reason;  ///< "4093 levels of 1025 vertices on average, ...".
};
/// Asynchronous where an earlier search had many levels with little in each and degrees differ
/// little (grids, roads): no level there fills a GPU, and a barrier's cost is not paid back. Else
/// synchronous. By what was measured: docs/asynchronous.md.
[[nodiscard]] ModeChoice choose_mode(const ModeEvidence& evidence);
/// The same of a shard, after a synchronous search of `levels` steps that reached so many vertices.
/// Collective.
[[nodiscard]] ModeChoice choose_mode(team::Team& team, const graph::Shard& shard,
                                     std::uint64_t reached, std::uint64_t levels, bool is_weighted);

}  // namespace warren::traverse
