// SPDX-License-Identifier: Apache-2.0
// BFS, components and PageRank of a graph whose lists stay in a file: each passes over the file in
// the order of its addresses, on one CPU or GPU, and holds in memory what it keeps for each vertex
// and a few windows of lists.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/exec/device.hpp"
#include "warren/graph/edge_file.hpp"
#include "warren/memory/host_array.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/verify.hpp"

namespace warren::traverse {

/// What passes over a file amounted to.
struct StreamFigures {
  std::uint64_t bytes_read = 0;  ///< From the file: offsets and lists, in whole units of the disk.
  double seconds = 0.0;
  double waited_seconds = 0.0;  ///< Of those, in which no window was there to work on.
};

/// Of host memory and of a GPU's own: what an algorithm takes, besides what EdgeFile holds.
struct StreamMemory {
  std::uint64_t host = 0;
  std::uint64_t device = 0;
};

/// Where an algorithm is told to end before its time: called before each window, and throws.
using StreamCheck = std::function<void()>;

struct StreamedBfsResult : StreamFigures {
  std::uint64_t reached = 0;  ///< Vertices, sources included.
  std::uint32_t max_depth = 0;
  std::uint64_t sum_depth = 0;          ///< Over reached vertices.
  std::vector<std::uint64_t> levels{};  ///< Vertices by depth.
  std::uint32_t pull_levels = 0;
};

class StreamedBfsMemory;

/// depth(v) = the least number of edges from the nearest source to v; parent(v) = the smallest
/// neighbour on such a path. Deterministic. A level reads the windows that have a list of its
/// frontier; of a symmetric graph, in place of them, those that have a list of a vertex that is not
/// reached, where these are fewer bytes: such vertices look for a parent in the frontier (Beamer,
/// Asanovic, Patterson: Direction-Optimizing BFS, SC 2012). Holds 8 bytes and 3 bits a vertex.
class StreamedBfs {
 public:
  /// `file` outlives this. Throws MemoryError, ThreadError.
  StreamedBfs(const exec::Device& device, const graph::EdgeFile& file, StreamCheck check = {});
  ~StreamedBfs();
  StreamedBfs(const StreamedBfs&) = delete;
  StreamedBfs& operator=(const StreamedBfs&) = delete;

  [[nodiscard]] static StreamMemory memory(const graph::EdgeFile& file, exec::DeviceKind kind);
  /// Synchronous. Limits as of Bfs. Throws UsageError for no source, and for a source or a target
  /// that is no vertex; InputError for what cannot be read.
  StreamedBfsResult run(std::span<const Vertex> sources, const BfsLimits& limits = {});
  /// What the last run found, in host memory; kNoVertex where not reached. On the CPU without a
  /// copy: a later run writes it anew.
  [[nodiscard]] memory::HostArray<Vertex> depth() const;
  [[nodiscard]] memory::HostArray<Vertex> parent() const;

 private:
  std::unique_ptr<StreamedBfsMemory> memory_;
};

/// Input edges with a reached source endpoint, as input_edges() counts them. Reads the offsets, and
/// where the file does not say that there are no self-loops of a symmetric graph, the lists.
[[nodiscard]] std::uint64_t streamed_input_edges(const graph::EdgeFile& file,
                                                 std::span<const Vertex> depth,
                                                 const StreamCheck& check = {});

struct StreamedComponentsResult : StreamFigures {
  std::uint64_t components = 0;
  std::uint64_t largest = 0;  ///< Vertices of the largest one.
};

class StreamedComponentsMemory;

/// label(v) = the smallest vertex that is connected with v by edges taken in either direction.
/// Deterministic. Every edge is linked once in a forest of all vertices, in one pass over the file;
/// of a symmetric graph those that lead to a smaller vertex. Holds 8 bytes a vertex.
class StreamedComponents {
 public:
  StreamedComponents(const exec::Device& device, const graph::EdgeFile& file,
                     StreamCheck check = {});
  ~StreamedComponents();
  StreamedComponents(const StreamedComponents&) = delete;
  StreamedComponents& operator=(const StreamedComponents&) = delete;

  [[nodiscard]] static StreamMemory memory(const graph::EdgeFile& file, exec::DeviceKind kind);
  StreamedComponentsResult run();
  /// As StreamedBfs::depth().
  [[nodiscard]] memory::HostArray<Vertex> labels() const;

 private:
  std::unique_ptr<StreamedComponentsMemory> memory_;
};

struct StreamedPageRankResult : StreamFigures {
  std::uint32_t iterations = 0;
  double residual = 0.0;  ///< L1 change of the last iteration.
  bool converged = false;
};

class StreamedPageRankMemory;

/// Ranks as PageRank has them, without weights and vectors of their own, by plain iterations, a
/// pass over the file each. Of a symmetric graph a vertex adds up what its neighbours have to give
/// (pull); else each vertex adds to those that it leads to (push), as there are no in-edges to
/// read. Sums are in 2^-60 fixed point, so that results repeat bit for bit on one kind of device.
/// Holds 16 bytes a vertex; 20 where ranks of a symmetric graph are in float64
/// (needs_double_precision()).
class StreamedPageRank {
 public:
  /// Throws UsageError for options out of range, `weighted` and vectors, and for a
  /// symmetric graph with a vertex of 2^32 edges or more.
  StreamedPageRank(const exec::Device& device, const graph::EdgeFile& file,
                   const PageRankOptions& options, StreamCheck check = {});
  ~StreamedPageRank();
  StreamedPageRank(const StreamedPageRank&) = delete;
  StreamedPageRank& operator=(const StreamedPageRank&) = delete;

  [[nodiscard]] static StreamMemory memory(const graph::EdgeFile& file, exec::DeviceKind kind,
                                           const PageRankOptions& options);
  /// From the uniform start. Synchronous.
  StreamedPageRankResult run();
  /// As StreamedBfs::depth().
  [[nodiscard]] memory::HostArray<double> ranks() const;

 private:
  std::unique_ptr<StreamedPageRankMemory> memory_;
};

/// The checks of verify.hpp, with the lists read from the file once. They hold n bits, 4 bytes a
/// vertex, and 8 bytes a vertex.
[[nodiscard]] Verdict verify_streamed_bfs(const graph::EdgeFile& file,
                                          std::span<const Vertex> sources,
                                          std::span<const Vertex> depth,
                                          std::span<const Vertex> parent, exec::ThreadPool& pool,
                                          const BfsLimits& limits = {},
                                          const StreamCheck& check = {});
[[nodiscard]] inline Verdict verify_streamed_bfs(const graph::EdgeFile& file, Vertex source,
                                                 std::span<const Vertex> depth,
                                                 std::span<const Vertex> parent,
                                                 exec::ThreadPool& pool,
                                                 const BfsLimits& limits = {},
                                                 const StreamCheck& check = {}) {
  return verify_streamed_bfs(file, std::span<const Vertex>(&source, 1), depth, parent, pool, limits,
                             check);
}
[[nodiscard]] Verdict verify_streamed_components(const graph::EdgeFile& file,
                                                 std::span<const Vertex> label,
                                                 exec::ThreadPool& pool,
                                                 const StreamCheck& check = {});
[[nodiscard]] Verdict verify_streamed_pagerank(const graph::EdgeFile& file, double damping,
                                               std::span<const double> ranks, double bound,
                                               exec::ThreadPool& pool,
                                               const StreamCheck& check = {});

}  // namespace warren::traverse
