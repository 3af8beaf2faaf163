// SPDX-License-Identifier: Apache-2.0
// Searches, components and ranks of a graph, a call each. Every call checks its arguments, runs on
// the ranks that its options choose, and returns when they have. An Array has a value for each
// vertex: in host memory, or after a call on GPUs on one of them, until it is read. A vertex out of
// range throws VertexError; another argument UsageError; memory that is short MemoryError, and what
// the session kept for other graphs is freed first.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/array.hpp"
#include "warren/api/graph.hpp"
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
  host,            ///< In host memory, which GPUs read in place.
  compressed_host  ///< The same, compressed.
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
  std::uint64_t bytes_read = 0;  ///< From host memory, of lists that are placed there.
  double seconds = 0.0;          ///< The algorithm alone, on the slowest rank.
};

struct BfsOptions {
  Vertex source = 0;
  /// In place of `source`: one search from all of these, in which depth(v) is that from the
  /// nearest. Not asynchronous.
  std::vector<Vertex> sources = {};
  std::optional<std::uint32_t> depth_limit{};  ///< Where the search ends.
  /// The search ends with the level after which all of these are reached. Where one cannot be, it
  /// reaches all that it can.
  std::vector<Vertex> targets = {};
  bool deterministic =
      false;  ///< Of several possible parents the smallest, looked for on the host.
  Mode mode = Mode::automatic;
  Edges edges = Edges::device;
  std::optional<DeviceKind> device{};  ///< Left out: the session's.
  int devices = 0;                     ///< 0: the session's.
  std::optional<Session> session{};    ///< Left out: Session::standard().
};

struct BfsResult {
  Array<Vertex> depth;        ///< kNoVertex where not reached.
  Array<Vertex> parent;       ///< A source is its own; kNoVertex where not reached.
  std::uint64_t reached = 0;  ///< Vertices, sources included.
  std::uint32_t max_depth = 0;
  RunInfo info;
};

/// depth(v) = the least number of edges on a path from the source to v, along the edges' direction;
/// parent(v) is a neighbour on such a path. Depths repeat bit for bit; which of several possible
/// parents is told does not, unless it is to be `deterministic` (traverse/bfs.hpp). Depths that a
/// limit leaves are those of the search without it. Mode::automatic goes level by level where there
/// is a limit; Mode::asynchronous searches all, and tells what is within the limit.
[[nodiscard]] BfsResult bfs(const Graph& graph, const BfsOptions& options);

/// The vertex of the most out-edges, the smallest of several: where the command line starts a
/// search if nobody says. Throws UsageError for a graph without vertices.
[[nodiscard]] Vertex busiest_vertex(const Graph& graph);

/// `count` different vertices with out-edges: a function of the graph and the seed alone, those of
/// the command line's --sources. Throws UsageError where there are fewer.
[[nodiscard]] std::vector<Vertex> random_sources(const Graph& graph, std::uint64_t count,
                                                 std::uint64_t seed = 1);

struct SsspOptions {
  Vertex source = 0;
  double delta = 0.0;  ///< Width of a bin of distances; 0: by the mean weight and degree.
  std::optional<double> cutoff{};  ///< Where the search ends.
  /// The search ends once the distances of all of these are final; what is farther than the
  /// farthest of them counts as not reached. Where one cannot be reached, all are that can.
  std::vector<Vertex> targets = {};
  Mode mode = Mode::automatic;
  Edges edges = Edges::device;
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct SsspResult {
  bool is_integer = true;        ///< Which of the two is filled: by the type of the weights.
  Array<std::int64_t> distance;  ///< -1 where not reached.
  Array<double> real_distance;   ///< Infinity where not reached.
  std::uint64_t reached = 0;
  RunInfo info;
};

/// distance(v) = the least sum of weights on a path from the source to v. Repeats bit for bit.
/// Integer weights are summed exactly, float32 weights in float64 (traverse/sssp.hpp). Limits are
/// as of bfs(). Throws
/// UsageError for a graph without weights, and where one is negative or not finite.
[[nodiscard]] SsspResult sssp(const Graph& graph, const SsspOptions& options);

struct ComponentsOptions {
  Edges edges = Edges::device;
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct ComponentsResult {
  Array<Vertex> label;
  std::uint64_t components = 0;
  std::uint64_t largest = 0;  ///< Vertices of the largest one.
  RunInfo info;
};

/// label(v) = the smallest vertex that is connected with v by edges taken in either direction.
/// Repeats bit for bit (traverse/components.hpp).
[[nodiscard]] ComponentsResult connected_components(const Graph& graph,
                                                    const ComponentsOptions& options = {});

struct PageRankOptions {
  double damping = 0.85;    ///< In [0, 1).
  double tolerance = 1e-6;  ///< Stops at an L1 change of at most this.
  std::uint32_t max_iterations = 100;
  bool weighted = false;  ///< A vertex passes its rank on in proportion to its edges' weights.
  /// Where ranks start anew: a number of 0 or more for each vertex, with a sum above 0, by which
  /// they are divided. Empty: 1 / n each.
  std::vector<double> personalization = {};
  Mode mode = Mode::synchronous;
  Edges edges = Edges::device;
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct PageRankResult {
  Array<double> rank;  ///< Sums to 1.
  std::uint32_t iterations = 0;
  double residual = 0.0;  ///< L1 change of the last iteration.
  bool converged = false;
  RunInfo info;
};

/// r(v) = (1 - d) / n + d (sum over in-edges (u, v) of r(u) / outdegree(u) + D / n), D being the
/// rank of the vertices without out-edges; with `personalization` p, p(v) stands for 1 / n. Repeats
/// bit for bit on one device and number of ranks, but as tasks (traverse/pagerank.hpp). Throws
/// UsageError for options out of range, and `weighted` for a graph without weights.
[[nodiscard]] PageRankResult pagerank(const Graph& graph, const PageRankOptions& options = {});

struct BetweennessOptions {
  /// From which paths are counted. Empty: from `sample` vertices, drawn by `seed`.
  std::vector<Vertex> sources = {};
  std::uint64_t sample = 0;  ///< 0, and no sources: all vertices, which is exact.
  std::uint64_t seed = 1;
  bool normalized = true;       ///< By (n - 1) (n - 2), else of undirected graphs by 2.
  Edges edges = Edges::device;  ///< Not compressed.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct BetweennessResult {
  Array<double> score;
  std::vector<Vertex> sources;
  double scale = 1.0;  ///< By which the sums over sources were multiplied.
  RunInfo info;
};

/// score(v) = scale times the sum, over sources s and all t, of the part of the shortest paths (by
/// edges) from s to t that lead through v; scale is n / sources, by which a sample stands for all,
/// and as `normalized` says. Repeats bit for bit on one device and number of ranks while no count
/// of paths passes 2^53 (traverse/betweenness.hpp).
[[nodiscard]] BetweennessResult betweenness(const Graph& graph,
                                            const BetweennessOptions& options = {});

struct CoreNumbersOptions {
  Edges edges = Edges::device;  ///< Not compressed.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct CoreNumbersResult {
  Array<std::uint32_t> core;
  std::uint32_t largest = 0;    ///< The graph's degeneracy.
  std::uint64_t innermost = 0;  ///< Vertices that have it.
  RunInfo info;
};

/// core(v) = the largest k for which v lies in a subgraph whose vertices all have k neighbours or
/// more in it. Edges count whatever their direction, and once however many there are between two
/// vertices; self-loops do not count. Exact (traverse/core_numbers.hpp).
[[nodiscard]] CoreNumbersResult core_numbers(const Graph& graph,
                                             const CoreNumbersOptions& options = {});

struct TrianglesOptions {
  Edges edges = Edges::device;  ///< Not compressed.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct TrianglesResult {
  Array<std::uint64_t> count;
  std::uint64_t triangles = 0;
  RunInfo info;
};

/// count(v) = the pairs of neighbours of v that are neighbours of each other, in an undirected
/// graph; `triangles` is a third of their sum. Parallel edges count once, self-loops not at all.
/// Exact (traverse/triangles.hpp). Throws UsageError for a graph that is not symmetric.
[[nodiscard]] TrianglesResult triangles(const Graph& graph, const TrianglesOptions& options = {});

}  // namespace warren
