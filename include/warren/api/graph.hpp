// SPDX-License-Identifier: Apache-2.0
// Graphs as programs hold them: read, generated or made of arrays; immutable, and shared by their
// copies.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "warren/api/session.hpp"
#include "warren/core/error.hpp"
#include "warren/core/types.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/io.hpp"

namespace warren {

namespace api {
class GraphState;
}
namespace graph {
class EdgeFile;
}

/// A vertex that the graph does not have.
class VertexError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// How Graph::save() writes.
struct SaveOptions {
  bool compress = false;             ///< Neighbour lists are compressed; the file is a .wgr one.
  int repeat = 1;                    ///< The file is written so often, each time whole.
  std::optional<Session> session{};  ///< Whose threads write. Left out: Session::standard().
};
struct SaveResult {
  std::uint64_t bytes = 0;
  std::optional<double> bits_per_edge{};  ///< Of compressed lists, the index included.
  std::vector<double> run_seconds{};      ///< Of each time.
};

/// A directed graph in host memory, with or without weights, and what sessions keep of it on their
/// devices: made when it is first needed, kept for later calls, and freed with the last copy, by
/// release(), or where memory is short. All functions may be called by several threads.
class Graph {
 public:
  /// Takes a graph of the floor below.
  explicit Graph(graph::Graph csr, std::vector<std::string> names = {});
  /// For the parts of the library.
  explicit Graph(std::shared_ptr<api::GraphState> state) : state_(std::move(state)) {}

  [[nodiscard]] std::uint64_t vertices() const;
  [[nodiscard]] std::uint64_t edges() const;  ///< Directed ones: an undirected one is two.
  [[nodiscard]] bool is_weighted() const;
  /// True if every edge (u, v) has its (v, u), of equal weight. Found out once.
  [[nodiscard]] bool is_symmetric() const;
  /// Throws UsageError, naming the edge, for a weight that is negative or not finite. Looked for
  /// once.
  void check_weights() const;
  /// The arrays, not to be written. Of a graph that is drawn late (ReadOptions), drawn by the first
  /// call of this.
  [[nodiscard]] const graph::Graph& csr() const;
  /// The file that the lists stay in; nullptr where they are in memory.
  [[nodiscard]] std::shared_ptr<const graph::EdgeFile> file() const;
  /// Why the lists are where they are, of ReadOptions::lists.
  [[nodiscard]] const std::string& lists_reason() const;
  /// True if each rank reads its own ranges of the file, or draws its own ranges of a generated
  /// graph (Lists::ranges); else lists_reason() says why not, where that was asked for.
  [[nodiscard]] bool is_read_by_ranges() const;

  /// A name for each vertex, where the source has them: words that are ids, or a dataset's names.
  [[nodiscard]] std::span<const std::string> names() const;
  /// True if the names are the ids that the source knows vertices by: words.
  [[nodiscard]] bool are_names_ids() const;
  /// What the file's reader told of the weights: of integers `scale`, by which they were
  /// multiplied.
  [[nodiscard]] const graph::WeightReport& weights_read() const;
  /// The vertex with this name. Throws VertexError.
  [[nodiscard]] Vertex find(const std::string& name) const;
  /// The id that the source knows the vertex by.
  [[nodiscard]] std::uint64_t original_id(Vertex v) const;

  /// Writes the graph in the format that `path` names (graph::write_graph()); returns the bytes.
  /// Throws InputError.
  std::uint64_t save(const std::string& path) const;
  /// The same as the options say. Throws UsageError for `compress` of another format than .wgr.
  [[nodiscard]] SaveResult save(const std::string& path, const SaveOptions& options) const;
  /// Every edge turned round: this graph where it is symmetric. Made once, and kept.
  [[nodiscard]] Graph reversed() const;
  /// The same edges without weights, which share their memory with this graph's. Made once, and
  /// kept. Where weights alone differ in the two directions, it is symmetric.
  [[nodiscard]] Graph without_weights() const;
  /// Frees what sessions keep of it on their devices, and its transpose.
  void release() const;

  /// For the parts of the library.
  [[nodiscard]] const std::shared_ptr<api::GraphState>& state() const { return state_; }

 private:
  std::shared_ptr<api::GraphState> state_;
};

/// Where read() leaves the neighbour lists.
enum class Lists : std::uint8_t {
  memory,  ///< In the host's memory.
  /// In the file: a .wgr file with plain lists of which nothing else is wanted, as symmetrizing
  /// would be. Others are refused. Weights are not read.
  file,
  /// In the file where that can be, and the graph does not fit the host's memory.
  fitting,
  /// In the host's memory; but where this process is a rank of several (team::Processes), each rank
  /// reads its own ranges of a .wgr file of which nothing else is wanted, when a call first needs
  /// them. What is wrong in them throws InputError in that call. Of a generated graph the ranks
  /// draw an equal part each, and send each other the edges. bfs(), sssp(), connected_components()
  /// and pagerank() then hold nothing else of the graph, while vertices are in "ranges" and lists
  /// are not compressed; whatever needs the whole graph (`csr()`, `deterministic`, and on rank 0
  /// `verify`) reads, or draws, it.
  ranges
};

/// As the options of the command line (`warren convert --help`).
struct ReadOptions {
  bool symmetrize = false;
  bool drop_self_loops = false;
  bool keep_duplicates = false;
  bool sum_duplicates = false;
  bool one_based = false;              ///< Edge lists number from 1.
  bool compact = false;                ///< Edge lists: only ids that occur are vertices.
  std::string format{};                ///< As files' names end: "el"; empty: the name says it.
  bool are_words = false;              ///< Edge lists: ids are words, numbers too.
  std::optional<bool> has_headings{};  ///< Edge lists: of the first line; else the first two tell.
  /// "file": the file must have weights. "uniform:LO:HI": drawn by `seed`. "none": left out. Empty:
  /// those of the file where it has any.
  std::string weights{};
  std::uint64_t seed = 1;  ///< Of generators and drawn weights.
  /// Negative weights throw InputError, by file, line and ids.
  bool no_negative_weights = false;
  /// A file's weights of a few decimals are kept exactly, as integers in units of 1 / scale
  /// (Graph::weights_read()), where they can be.
  bool exact_decimals = false;
  /// A generator draws when the graph is used, drawn weights with it: calls on GPUs whose vertices
  /// are in "ranges" or by "degree" draw each rank's part on its GPU, and there is no graph in host
  /// memory until somebody asks for its arrays. Weights of at most 255 of lists in host memory are
  /// bytes there.
  bool draws_late = false;
  Lists lists = Lists::memory;
  /// Bytes that the host is believed to have while the graph is read, what the process has already
  /// taken being counted; 0: what it has, which a control group may limit.
  std::uint64_t host_memory = 0;
  std::optional<Session> session{};  ///< Whose threads read. Left out: Session::standard().
};

/// The graph that `name` is: a generator ("kron:20", "urand:20", "grid:100x100",
/// "community:10000,20"), a file of any format (graph::read_graph()), a folder with graph.*, or the
/// name of a dataset in $WARREN_DATA or ./data. Throws InputError, whose message names the file and
/// the line; UsageError; MemoryError.
[[nodiscard]] Graph read(const std::string& name, const ReadOptions& options = {});

/// Of a graph given as arrays. Parallel edges are merged, by the smallest weight, unless
/// `keep_duplicates` or `sum_duplicates`; giving both throws UsageError.
using ArrayOptions = graph::BuildOptions;

template <class R, class T>
concept ArrayOf =
    std::ranges::contiguous_range<R> && std::same_as<std::ranges::range_value_t<R>, T>;
template <class R>
concept WeightArray = ArrayOf<R, float> || ArrayOf<R, std::int32_t>;

/// One number an edge, int32 or float32, in memory that is not changed while it is read; or none.
class Weights {
 public:
  Weights() = default;
  /// Not explicit: an array goes where weights do.
  template <WeightArray R>
  Weights(const R& values) {
    if constexpr (ArrayOf<R, float>)
      floats_ = {std::ranges::data(values), std::ranges::size(values)};
    else
      ints_ = {std::ranges::data(values), std::ranges::size(values)};
  }
  [[nodiscard]] std::span<const float> floats() const { return floats_; }
  [[nodiscard]] std::span<const std::int32_t> ints() const { return ints_; }

 private:
  std::span<const float> floats_;
  std::span<const std::int32_t> ints_;
};

/// Rows of neighbours: those of vertex v are targets[offsets[v] .. offsets[v + 1]). Copies the
/// arrays. Throws InputError, naming the entry; UsageError; MemoryError.
[[nodiscard]] Graph from_csr(std::span<const EdgeOffset> offsets, std::span<const Vertex> targets,
                             const Weights& weights = {}, const ArrayOptions& options = {});
/// The same of arrays that the graph keeps (memory::HostArray): without a copy, where rows are
/// sorted and nothing is to be merged.
[[nodiscard]] Graph from_csr(graph::Graph arrays, const ArrayOptions& options = {});

/// Edges (sources[i], targets[i]). `vertices` of 0: the largest id plus one. Throws UsageError,
/// naming the entry; MemoryError.
[[nodiscard]] Graph from_edges(std::span<const Vertex> sources, std::span<const Vertex> targets,
                               const Weights& weights = {}, std::uint64_t vertices = 0,
                               const ArrayOptions& options = {});

}  // namespace warren
