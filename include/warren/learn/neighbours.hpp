// SPDX-License-Identifier: Apache-2.0
// A rank's rows of a graph on its device, with others' rows that they name; and aggregation over
// them: y = A x and y = A^T x.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warren/graph/graph.hpp"
#include "warren/learn/context.hpp"
#include "warren/learn/padding.hpp"
#include "warren/sparse/distributed_matrix.hpp"
#include "warren/sparse/edge_ops.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::learn {

/// A graph in host memory and its reverse (the same one where it is known to be symmetric), in the
/// order of the ranks, which share them.
struct GraphPair {
  std::shared_ptr<const graph::Graph> out;
  std::shared_ptr<const graph::Graph> in;
  std::vector<std::uint64_t> cuts;  ///< Of the team.
  std::vector<Vertex> input_ids;    ///< The input's id of every vertex; empty: the same.

  /// True if the graph is known to be symmetric. Throws UsageError for one that stands for its own
  /// reverse and is not known to be: graph::is_symmetric() finds out.
  [[nodiscard]] bool is_symmetric() const;
};

/// What the edges of a graph count in sums over neighbours.
enum class EdgeWeights : std::uint8_t {
  ones,     ///< 1 each, whatever weights the graph has.
  of_graph  ///< Their weights.
};
/// Vertex v's own edge, once: as batches have it. Lists stay sorted. Without weights; or with those
/// of the graph, as float32, which must have some that check_edge_weights() lets pass: v's own edge
/// then has the mean of those of v's edges to others, 0 where there are none, in both directions'
/// graphs (fill_value "mean" of PyTorch Geometric's GATConv).
[[nodiscard]] GraphPair with_self_loops(const GraphPair& graphs, exec::ThreadPool& pool,
                                        EdgeWeights weights = EdgeWeights::ones);

/// The sum of the weights of v's edges, of a graph that has some.
[[nodiscard]] double weighted_degree(const graph::Graph& graph, Vertex v);
/// Throws UsageError for a graph without weights, and, naming the edge, for the first weight of the
/// edges of vertices [begin, end) that is not finite or an integer that float32 does not hold
/// (above 2^24 in size). `graph` is one of the pair's two.
void check_edge_weights(const graph::Graph& graph, const GraphPair& graphs, std::uint64_t begin,
                        std::uint64_t end);

/// A matrix that stands on the device, all of whose columns are this rank's: a layer's part of a
/// sampled batch. The caller keeps what is pointed at.
struct BlockMatrix {
  sparse::MatrixView view;  ///< Rows, offsets from 0 and columns.
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;
  const Vertex* input_ids = nullptr;  ///< Of every row and column.
  const sparse::SpmmPlan* plan = nullptr;
};

/// How large a rank's part of a graph is: all that its memory depends on.
struct NeighbourSizes {
  sparse::MatrixSizes matrix;
  std::uint64_t long_rows = 0;  ///< RowPlan's.
  bool has_input_ids = false;   ///< The input has other numbers (GraphPair::input_ids).
};

/// The matrix of a rank's rows of a graph, with what training adds to it: the whole graph's
/// (sparse::DistributedMatrix), or a sampled batch's, which is set for each.
class Neighbours {
 public:
  /// All rows of the rank's vertices. Collective. Throws MemoryError; with EdgeWeights::of_graph
  /// as check_edge_weights().
  Neighbours(team::Team& team, const exec::Stream& stream, const graph::Graph& graph,
             const GraphPair& graphs, sparse::HaloBy by = sparse::HaloBy::automatic,
             EdgeWeights weights = EdgeWeights::ones);
  /// The memory of one alone: for dry runs (exec::DryRun).
  Neighbours(team::Team& team, const exec::Stream& stream, const NeighbourSizes& sizes);
  /// No rows, until set() is called.
  Neighbours() = default;
  /// Takes the place of the matrix so far. Not of a whole graph's.
  void set(const BlockMatrix& block);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// The rows of this rank's that are multiplied: of the whole graph as many as rows().
  [[nodiscard]] std::uint64_t own_columns() const { return own_columns_; }
  [[nodiscard]] std::uint64_t halo() const { return whole_ == nullptr ? 0 : whole_->halo(); }
  /// Whether several ranks have a part of the matrix each, so that pulls are collective. Never of
  /// blocks.
  [[nodiscard]] bool is_shared() const { return whole_ != nullptr && whole_->is_shared(); }
  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  /// Whether edges of the whole graph count their weights.
  [[nodiscard]] bool is_weighted() const { return whole_ != nullptr && whole_->is_weighted(); }
  [[nodiscard]] std::uint64_t first() const { return whole_ == nullptr ? 0 : whole_->first(); }
  [[nodiscard]] const sparse::MatrixView& view() const { return view_; }
  [[nodiscard]] const sparse::SpmmPlan& plan() const { return *plan_; }
  [[nodiscard]] const sparse::RowPlan& row_plan() const { return row_plan_; }
  /// Of every column, on the device: its vertex, and the input's id of that. A block's vertices
  /// have no other numbers than its columns': nullptr.
  [[nodiscard]] const Vertex* vertices() const {
    return whole_ == nullptr ? nullptr : whole_->vertices();
  }
  [[nodiscard]] const Vertex* input_ids() const { return input_ids_; }
  /// Of the whole graph.
  [[nodiscard]] const sparse::DistributedMatrix& whole() const { return *whole_; }
  /// What the whole graph's matrix holds, without rows of others.
  [[nodiscard]] std::uint64_t bytes() const {
    return whole_->bytes() + ids_.bytes() + row_plan_.long_rows() * sizeof(Vertex);
  }
  /// How sums over rows of a type are made (DistributedMatrix::set_strategy()): no part of the
  /// matrix, which stays as it is. Collective.
  void set_strategy(NumberType type, const sparse::DistributedOptions& options) const;

  /// The halo's rows of x (own_columns() x k on every rank), brought here: halo() x k, until the
  /// next call with this slot. Collective.
  template <class T>
  const T* pull(Context& context, const T* x, std::uint64_t k, std::size_t slot = 0) const {
    return static_cast<const T*>(pull_rows(context, x, k * sizeof(T), slot));
  }
  ConstNumbers pull(Context& context, ConstNumbers x, std::uint64_t k, std::size_t slot = 0) const {
    return {pull_rows(context, x.raw(), k * size_of(x.type()), slot), x.type()};
  }
  /// The same beside what the context's stream does from here on, which waits for it in end_pull();
  /// x stays as it is until then. Of several ranks.
  ConstNumbers begin_pull(Context& context, ConstNumbers x, std::uint64_t k) const {
    return {whole_->begin_pull(context.stream(), x.raw(), k * size_of(x.type())), x.type()};
  }
  void end_pull(Context& context) const { whole_->end_pull(context.stream()); }
  /// See DistributedMatrix::split().
  [[nodiscard]] const sparse::HaloSplit* split(const exec::Stream& stream) const {
    return whole_ == nullptr ? nullptr : whole_->split(stream);
  }

 private:
  const void* pull_rows(Context& context, const void* x, std::uint64_t row_bytes,
                        std::size_t slot) const;

  std::unique_ptr<sparse::DistributedMatrix> whole_;  // Not of blocks.
  std::uint64_t rows_ = 0, own_columns_ = 0, entries_ = 0;
  sparse::MatrixView view_;
  memory::Buffer<Vertex> ids_;
  const Vertex* input_ids_ = nullptr;
  const sparse::SpmmPlan* plan_ = nullptr;
  sparse::RowPlan row_plan_;
};

/// Neighbours along edges and against them; one where the graph is symmetric.
struct Neighbourhood {
  std::shared_ptr<const Neighbours> out, in;
  Neighbourhood(std::shared_ptr<const Neighbours> out_, std::shared_ptr<const Neighbours> in_)
      : out(std::move(out_)), in(std::move(in_)) {}
  /// Collective. Throws as Neighbours.
  Neighbourhood(team::Team& team, const exec::Stream& stream, const GraphPair& graphs,
                sparse::HaloBy by = sparse::HaloBy::automatic,
                EdgeWeights weights = EdgeWeights::ones);
};

/// How A, the adjacency matrix, is normalised: each of its edges counts 1, or its weight
/// (EdgeWeights). Parallel edges add up.
enum class Weighting {
  sum,  ///< A.
  /// N^-1 A, N the number of each row's edges, whatever their weights; rows without edges stay 0
  /// (GraphSAGE's mean). Of weights w it is the mean of w x over the neighbours, as the Deep Graph
  /// Library's SAGEConv has it, and no weighted mean.
  mean,
  /// D^-1/2 (A + I) D^-1/2, D the row sums of A + I (Kipf and Welling, ICLR 2017). A row sum that
  /// is not above 0, which negative weights can make, has no root: its row and column are 0.
  symmetric
};

/// The weights of a block's matrix: A[i][j] = row[i] column[j] of each entry, and self[i] beside it
/// where i = j, on the device. What is nullptr is all ones (self: zeros).
struct BlockWeights {
  const float* row = nullptr;
  const float* column = nullptr;
  const float* self = nullptr;
};

/// How the rows of an aggregation lie: k or padded(k) apart, 0 for k; what lies between is 0 in x
/// and becomes 0 in y. `room`, where it is not nullptr, is memory for own_columns() x padded(k), x
/// itself where nobody needs that afterwards and its rows are padded: scaled or padded rows then
/// take none of their own.
struct AggregateRows {
  std::uint64_t x_stride = 0, y_stride = 0;
  Numbers room = {};
  /// x is by what scales its rows already: of backward() by backward_scale(), of forward() by
  /// BlockWeights::column, of blocks whose BlockOptions::are_sources_scaled alone.
  bool is_scaled = false;
};

/// y = A x for a normalised adjacency matrix, x and y this rank's rows of one type, weights and
/// sums float32. Rows of other ranks are brought while own rows are multiplied.
class Aggregation {
 public:
  /// Collective. Throws MemoryError.
  Aggregation(Context& context, const Neighbourhood& neighbourhood, const GraphPair& graphs,
              Weighting weighting);
  /// The memory of one alone: for dry runs (exec::DryRun).
  Aggregation(Context& context, const Neighbourhood& neighbourhood, Weighting weighting);
  /// Of blocks: nothing, until set() is called.
  explicit Aggregation(const Neighbourhood& neighbourhood)
      : out_(neighbourhood.out), in_(neighbourhood.in) {}
  /// Follows the neighbourhood's matrix, which has been set, with these weights.
  void set(const BlockWeights& weights);

  /// Rows of forward()'s y and of its x.
  [[nodiscard]] std::uint64_t rows() const { return out_->rows(); }
  [[nodiscard]] std::uint64_t own_columns() const { return out_->own_columns(); }
  /// y = A x + beta y, k wide. Collective; repeats bit for bit.
  void forward(Context& context, ConstNumbers x, Numbers y, std::uint64_t k, float beta = 0.0f,
               const AggregateRows& lie = {}) const {
    product(context, *out_, out_view_, lie.is_scaled ? nullptr : before_out_, x, y, k, beta, lie);
  }
  /// What backward() scales the rows of x by before all else, if it does, and then reads them
  /// scaled alone.
  [[nodiscard]] const float* backward_scale() const {
    return self_ == nullptr ? before_in_ : nullptr;
  }
  /// y = A^T x + beta y.
  void backward(Context& context, ConstNumbers x, Numbers y, std::uint64_t k, float beta = 0.0f,
                const AggregateRows& lie = {}) const {
    product(context, *in_, in_view_, lie.is_scaled ? nullptr : before_in_, x, y, k, beta, lie);
  }

 private:
  /// Takes room for the scales and views them.
  void take(Context& context, Weighting weighting);
  void product(Context& context, const Neighbours& neighbours, const sparse::MatrixView& view,
               const float* before, ConstNumbers x, Numbers y, std::uint64_t k, float beta,
               const AggregateRows& lie) const;

  std::shared_ptr<const Neighbours> out_, in_;
  sparse::MatrixView out_view_, in_view_;
  /// What columns are scaled by before they are multiplied, once each instead of for every entry.
  const float* before_out_ = nullptr;
  const float* before_in_ = nullptr;
  /// Of blocks: what x's first rows are added with.
  const float* self_ = nullptr;
  memory::Buffer<float> scale_, ones_;  // Of own vertices.
};

}  // namespace warren::learn
