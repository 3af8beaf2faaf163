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
#include "warren/api/run.hpp"
#include "warren/api/session.hpp"

namespace warren {

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
      false;             ///< Of several possible parents the smallest, looked for on the host.
  bool figures = false;  ///< BfsResult::figures is told, for which a run looks at all vertices.
  bool levels = false;   ///< BfsResult::levels is told.
  Mode mode = Mode::automatic;
  Edges edges = Edges::device;
  PlacementOptions placement{};
  RunOptions run{};
  std::optional<DeviceKind> device{};  ///< Left out: the session's.
  int devices = 0;                     ///< 0: the session's.
  std::optional<Session> session{};    ///< Left out: Session::standard().
};

/// What a search amounted to.
struct BfsFigures {
  std::uint64_t sum_depth = 0;  ///< Over reached vertices.
  /// Input edges with a reached source endpoint, once each: the numerator of TEPS.
  std::uint64_t traversed_edges = 0;
};

struct BfsResult {
  std::vector<Vertex> sources{};  ///< Where it started.
  Array<Vertex> depth;            ///< kNoVertex where not reached.
  Array<Vertex> parent;           ///< A source is its own; kNoVertex where not reached.
  std::uint64_t reached = 0;      ///< Vertices, sources included.
  std::uint32_t max_depth = 0;
  BfsFigures figures{};                 ///< Zeros unless asked for.
  std::vector<std::uint64_t> levels{};  ///< Vertices by depth; empty unless asked for.
  /// Ranks that ran the levels: all, or the first one where levels are short (traverse/bfs.hpp); 0
  /// of an asynchronous search.
  std::uint32_t level_ranks = 0;
  RunInfo info;
};

/// depth(v) = the least number of edges on a path from the source to v, along the edges' direction;
/// parent(v) is a neighbour on such a path. Depths repeat bit for bit; which of several possible
/// parents is told does not, unless it is to be `deterministic` (traverse/bfs.hpp). Depths that a
/// limit leaves are those of the search without it. Mode::automatic goes level by level where there
/// is a limit; Mode::asynchronous searches all, and tells what is within the limit.
[[nodiscard]] BfsResult bfs(const Graph& graph, const BfsOptions& options);

struct BfsTogetherOptions {
  std::vector<Vertex> sources = {};  ///< One or more.
  Edges edges = Edges::device;
  PlacementOptions placement{};
  RunOptions run{};  ///< Its arrays are none; verify: by one search at a time.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

/// What a search from one of the sources reaches.
struct BfsReach {
  Vertex source = 0;
  std::uint64_t reached = 0;  ///< Vertices, the source included.
  std::uint32_t max_depth = 0;
  std::uint64_t sum_depth = 0;
};

struct BfsTogetherResult {
  std::vector<BfsReach> reach;  ///< In the order of the sources.
  RunInfo info;
};

/// What bfs() from each source alone would reach, up to 64 searches in one pass over the graph
/// (traverse/many_source_bfs.hpp). Deterministic. Throws UsageError for no sources.
[[nodiscard]] BfsTogetherResult bfs_together(const Graph& graph, const BfsTogetherOptions& options);

/// The vertex of the most out-edges, the smallest of several: where the command line starts a
/// search if nobody says. Throws UsageError for a graph without vertices.
[[nodiscard]] Vertex busiest_vertex(const Graph& graph);

/// `count` different vertices with out-edges: a function of the graph and the seed alone, those of
/// the command line's --sources. Throws UsageError where there are fewer.
[[nodiscard]] std::vector<Vertex> random_sources(const Graph& graph, std::uint64_t count,
                                                 std::uint64_t seed = 1);

struct SsspOptions {
  Vertex source = 0;
  /// In place of `source`: one search from all of these, in which distance(v) is that from the
  /// nearest. Not asynchronous.
  std::vector<Vertex> sources = {};
  double delta = 0.0;  ///< Width of a bin of distances; 0: by the mean weight and degree.
  std::optional<double> cutoff{};  ///< Where the search ends.
  /// The search ends once the distances of all of these are final; what is farther than the
  /// farthest of them counts as not reached. Where one cannot be reached, all are that can.
  std::vector<Vertex> targets = {};
  bool figures = false;  ///< SsspResult::figures is told, for which a run looks at all vertices.
  Mode mode = Mode::automatic;
  Edges edges = Edges::device;
  PlacementOptions placement{};
  RunOptions run{};
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

/// What a search amounted to. Distances as in SsspResult::distance, sums of integers exact.
struct SsspFigures {
  std::uint64_t max_distance = 0;  ///< Of integers.
  /// Of integers: sum_distance_high 2^64 + sum_distance.
  std::uint64_t sum_distance = 0, sum_distance_high = 0;
  double max_real_distance = 0.0, sum_real_distance = 0.0;  ///< Of either, in double precision.
  std::uint64_t traversed_edges = 0;                        ///< As BfsFigures.
  std::uint64_t edges = 0;          ///< Directed ones with a reached source endpoint.
  std::uint64_t relaxed_edges = 0;  ///< Edges looked at, each as often as it was.
  std::uint64_t steps = 0;          ///< With a barrier after each; 0 of an asynchronous search.
  double delta = 0.0;               ///< The width of a bin.
};

struct SsspResult {
  std::vector<Vertex> sources{};  ///< Where it started.
  bool is_integer = true;         ///< Which of the two is filled: by the type of the weights.
  Array<std::int64_t> distance;   ///< -1 where not reached.
  Array<double> real_distance;    ///< Infinity where not reached.
  /// Of integers: so many are 1 in the weights' file (Graph::weights_read()); `cutoff` and `delta`
  /// are in the file's units.
  std::int32_t scale = 1;
  std::uint64_t reached = 0;
  SsspFigures figures{};  ///< Zeros unless asked for.
  RunInfo info;
};

/// distance(v) = the least sum of weights on a path from a source to v. Repeats bit for bit.
/// Integer weights are summed exactly, float32 weights in float64 (traverse/sssp.hpp). Limits are
/// as of bfs(). Throws
/// UsageError for a graph without weights, and where one is negative or not finite.
[[nodiscard]] SsspResult sssp(const Graph& graph, const SsspOptions& options);

/// Which program finds the components: the same ones. See traverse/components.hpp.
enum class ComponentsForm : std::uint8_t {
  automatic,  ///< search where it can run and is likely to be faster; else forest.
  forest,     ///< Afforest: sampled edges first. Runs everywhere.
  /// A breadth-first search from a hub, then what it has not reached: of a symmetric graph, with
  /// its edges in device memory, on ranks that reach each other's memory.
  search
};

struct ComponentsOptions {
  ComponentsForm form = ComponentsForm::automatic;
  Edges edges = Edges::device;
  PlacementOptions placement{};
  RunOptions run{};
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct ComponentsResult {
  Array<Vertex> label;
  std::uint64_t components = 0;
  std::uint64_t largest = 0;                     ///< Vertices of the largest one.
  ComponentsForm form = ComponentsForm::forest;  ///< That ran last: forest or search.
  std::uint32_t search_levels = 0;               ///< Of its search; 0 where none was made.
  RunInfo info;
};

/// label(v) = the smallest vertex that is connected with v by edges taken in either direction.
/// Repeats bit for bit, whatever the form (traverse/components.hpp). Throws UsageError for
/// ComponentsForm::search where that cannot run.
[[nodiscard]] ComponentsResult connected_components(const Graph& graph,
                                                    const ComponentsOptions& options = {});

struct PageRankOptions {
  double damping = 0.85;    ///< In [0, 1]; 1 where `weighted`, or with a vector below, alone.
  double tolerance = 1e-6;  ///< Stops at an L1 change of at most this.
  std::uint32_t max_iterations = 100;
  bool weighted = false;  ///< A vertex passes its rank on in proportion to its edges' weights.
  /// Where ranks start anew: a number of 0 or more for each vertex, with a sum above 0, by which
  /// they are divided. Empty: 1 / n each.
  std::vector<double> personalization = {};
  /// Likewise: where the rank of the vertices without out-edges goes. Empty: as `personalization`.
  std::vector<double> dangling = {};
  /// Likewise: the ranks before the first iteration. Empty: 1 / n each.
  std::vector<double> start = {};
  std::size_t top = 0;  ///< PageRankResult::top has so many.
  Mode mode = Mode::synchronous;
  Edges edges = Edges::device;
  PlacementOptions placement{};
  RunOptions run{};
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct RankedVertex {
  Vertex vertex = 0;
  double rank = 0.0;
};

struct PageRankResult {
  Array<double> rank;               ///< Sums to 1.
  std::vector<RankedVertex> top{};  ///< The largest ranks, ties by vertex.
  std::uint32_t iterations = 0;
  double residual = 0.0;  ///< L1 change of the last iteration.
  bool converged = false;
  RunInfo info;
};

/// r(v) = (1 - d) / n + d (sum over in-edges (u, v) of r(u) / outdegree(u) + D / n), D being the
/// rank of the vertices without out-edges; with `personalization` p, p(v) stands for 1 / n, and
/// with `dangling` q, D q(v) for D / n. Repeats bit for bit on one device and number of ranks, but
/// as tasks (traverse/pagerank.hpp). Throws UsageError for options out of range, and `weighted` for
/// a graph without weights.
[[nodiscard]] PageRankResult pagerank(const Graph& graph, const PageRankOptions& options = {});

struct BetweennessOptions {
  /// From which paths are counted. Empty: from `sample` vertices, drawn by `seed`.
  std::vector<Vertex> sources = {};
  std::uint64_t sample = 0;  ///< 0, and no sources: all vertices, which is exact.
  std::uint64_t seed = 1;
  bool normalized = true;       ///< By (n - 1) (n - 2), else of undirected graphs by 2.
  Edges edges = Edges::device;  ///< Not compressed.
  PlacementOptions placement{};
  RunOptions run{};
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct BetweennessResult {
  Array<double> score;
  std::vector<Vertex> sources;
  double scale = 1.0;       ///< By which the sums over sources were multiplied.
  std::uint64_t steps = 0;  ///< With a barrier after each.
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
  PlacementOptions placement{};
  RunOptions run{};
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct CoreNumbersResult {
  Array<std::uint32_t> core;
  std::uint32_t largest = 0;    ///< The graph's degeneracy.
  std::uint64_t innermost = 0;  ///< Vertices that have it.
  std::uint64_t steps = 0;      ///< With a barrier after each.
  RunInfo info;
};

/// core(v) = the largest k for which v lies in a subgraph whose vertices all have k neighbours or
/// more in it. Edges count whatever their direction, and once however many there are between two
/// vertices; self-loops do not count. Exact (traverse/core_numbers.hpp).
[[nodiscard]] CoreNumbersResult core_numbers(const Graph& graph,
                                             const CoreNumbersOptions& options = {});

struct TrianglesOptions {
  Edges edges = Edges::device;  ///< Not compressed.
  PlacementOptions placement{};
  RunOptions run{};
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
