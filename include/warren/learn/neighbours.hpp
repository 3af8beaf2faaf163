// SPDX-License-Identifier: Apache-2.0
// A rank's rows of a graph on its device, with others' rows that they name; and aggregation over
// them: y = A x and y = A^T x.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "warren/graph/graph.hpp"
#include "warren/learn/context.hpp"
#include "warren/sparse/edge_ops.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::learn {

/// A graph in host memory and its reverse (the same one where it is symmetric), in the order of the
/// ranks, which share them.
struct GraphPair {
  std::shared_ptr<const graph::Graph> out;
  std::shared_ptr<const graph::Graph> in;
  std::vector<std::uint64_t> cuts;  ///< Of the team.
  std::vector<Vertex> input_ids;    ///< The input's id of every vertex; empty: the same.

  [[nodiscard]] bool is_symmetric() const { return out == in; }
};
/// Vertex v's own edge where it has none; lists stay sorted.
[[nodiscard]] GraphPair with_self_loops(const GraphPair& graphs, exec::ThreadPool& pool);

/// The matrix of a rank's rows. Columns below rows() are the rank's own vertices; from there on
/// those of other ranks that its rows name (the halo), ordered by owner.
class Neighbours {
 public:
  /// Collective. Throws MemoryError.
  Neighbours(team::Team& team, const exec::Stream& stream, const graph::Graph& graph,
             const GraphPair& graphs);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t halo() const { return halo_ids_.size(); }
  [[nodiscard]] std::uint64_t entries() const { return columns_.size(); }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] const sparse::MatrixView& view() const { return view_; }
  [[nodiscard]] const sparse::SpmmPlan& plan() const { return plan_; }
  [[nodiscard]] const sparse::RowPlan& row_plan() const { return row_plan_; }
  /// Of every column, on the device: its vertex, and the input's id of that.
  [[nodiscard]] const Vertex* vertices() const { return vertices_.data(); }
  [[nodiscard]] const Vertex* input_ids() const { return input_ids_.data(); }
  /// The halo's vertices.
  [[nodiscard]] const std::vector<Vertex>& halo_ids() const { return halo_ids_; }

  /// The halo's rows of x (rows() x k on every rank), brought here: halo() x k, until the next call
  /// with this slot. T has 4 bytes. Collective.
  template <class T>
  const T* pull(Context& context, const T* x, std::uint64_t k, std::size_t slot = 0) const {
    static_assert(sizeof(T) == sizeof(float));
    return reinterpret_cast<const T*>(
        pull_rows(context, reinterpret_cast<const float*>(x), k, slot));
  }
  /// Own rows and pulled ones as the columns of a product.
  [[nodiscard]] sparse::RowTable<float> table(const float* own, const float* pulled,
                                              std::uint64_t stride) const;

 private:
  const float* pull_rows(Context& context, const float* x, std::uint64_t k, std::size_t slot) const;

  std::uint64_t rows_ = 0, first_ = 0;
  int rank_ = 0, ranks_ = 1;
  sparse::MatrixView view_;
  memory::Buffer<EdgeOffset> offsets_;
  memory::Buffer<Vertex> columns_, vertices_, input_ids_;
  sparse::SpmmPlan plan_;
  sparse::RowPlan row_plan_;
  std::vector<Vertex> halo_ids_;
  std::vector<std::uint64_t> send_begin_, receive_begin_;  // Rows for and of each rank.
  memory::Buffer<Vertex> send_rows_;                       // This rank's rows that others need.
  mutable memory::Buffer<float> send_;
  mutable std::array<memory::Buffer<float>, 2> received_;
};

/// Neighbours along edges and against them; one where the graph is symmetric.
struct Neighbourhood {
  std::shared_ptr<const Neighbours> out, in;
  /// Collective.
  Neighbourhood(team::Team& team, const exec::Stream& stream, const GraphPair& graphs);
};

enum class Weighting {
  sum,       ///< A: the adjacency matrix, each edge 1.
  mean,      ///< D^-1 A; rows without entries stay 0 (GraphSAGE's mean).
  symmetric  ///< D^-1/2 (A + I) D^-1/2, D the row sums of A + I (Kipf and Welling, ICLR 2017).
};

/// y = A x for a weighted adjacency matrix, x and y this rank's rows.
class Aggregation {
 public:
  /// Collective. Throws MemoryError.
  Aggregation(Context& context, const Neighbourhood& neighbourhood, const GraphPair& graphs,
              Weighting weighting);
  /// y = A x + beta y, k wide. Collective; repeats bit for bit.
  void forward(Context& context, const float* x, float* y, std::uint64_t k,
               float beta = 0.0f) const {
    product(context, *out_, out_view_, scales_out_, x, y, k, beta);
  }
  /// y = A^T x + beta y.
  void backward(Context& context, const float* x, float* y, std::uint64_t k,
                float beta = 0.0f) const {
    product(context, *in_, in_view_, scales_in_, x, y, k, beta);
  }

 private:
  void product(Context& context, const Neighbours& neighbours, const sparse::MatrixView& view,
               bool scales, const float* x, float* y, std::uint64_t k, float beta) const;

  std::shared_ptr<const Neighbours> out_, in_;
  sparse::MatrixView out_view_, in_view_;
  /// Columns are scaled before they are multiplied, once each instead of for every entry.
  bool scales_out_ = false, scales_in_ = false;
  memory::Buffer<float> scale_, ones_;  // Of own vertices.
};

}  // namespace warren::learn
