// SPDX-License-Identifier: Apache-2.0
// One hop of a sampled batch as the matrix of a layer (WholeGraph, section III-D): rows are the
// hop's targets, columns its sources, of which the targets are the first. With the weights that
// make its sums estimates of those over all neighbours, and with its transpose for gradients.
#pragma once

#include <cstddef>
#include <cstdint>

#include "warren/learn/neighbours.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/sample/sampler.hpp"

namespace warren::learn {

struct BlockOptions {
  Weighting weighting = Weighting::sum;
  bool has_weights = true;     ///< Else weights() are nothing: layers that look at edges.
  bool self_loops = false;     ///< Every target is a neighbour of its own, first in its row.
  bool is_transposed = false;  ///< in() is made, too.
  /// Of Weighting::symmetric: weights().self is for rows times weights().column, by which who reads
  /// the block's sources has them already.
  bool are_sources_scaled = false;
  /// Entries count the weights that the sampler wrote beside them (SamplerOptions::edge_weights);
  /// self-loops the mean of their row's sampled ones, 0 where there are none.
  bool edge_weights = false;
  /// Of Weighting::symmetric with edge_weights: 1 + the sum of the weights of all edges of each of
  /// the store's vertices.
  memory::GlobalView<float> weighted_degrees = {};
};

/// How much of a hop there is, or how much of one a block has room for.
struct BlockSize {
  std::uint64_t targets = 0, sources = 0, edges = 0;
};

class Block {
 public:
  /// The hop of a batch that stands on the stream's device. `vertices` (ids in the store) and
  /// `input_ids` are the batch's. With d_i the degree of vertex i in the whole graph and s_i its
  /// sampled edges, a target's row is
  ///
  ///   sum:       (d_i / s_i) times the sum over its sampled neighbours j of x_j
  ///   mean:      (1 / s_i) times it
  ///   symmetric: (d_i / s_i) (d_i + 1)^-1/2 times the sum of (d_j + 1)^-1/2 x_j, and
  ///              x_i / (d_i + 1)
  ///
  /// whose expectation is the whole neighbourhood's where draws are uniform, and which is that
  /// where all are sampled. With BlockOptions::edge_weights w_ij x_j stands for x_j in sums over
  /// neighbours, and D_i = 1 + the sum of w_ij over all edges of vertex i in the whole graph for
  /// d_i + 1, while d_i and s_i stay numbers of edges; where D_i is not above 0, (D_i)^-1/2 and
  /// 1 / D_i are 0. Of BlockOptions::self_loops a row's first entry, its own vertex, has the mean
  /// of the row's sampled weights as its own: of the block, not of the whole graph.
  ///
  /// Of `least` the matrices have that many rows and columns at least, and say so many entries,
  /// whatever was sampled: rows behind the hop's targets have weights of 0 and no entries but their
  /// self-loop, columns behind its sources weights of 0 and no others. Blocks with the same
  /// size() then have the same addresses, too, as long as no memory is taken.
  ///
  /// Asynchronous; what it points at must stand until the block is not used any more. Repeats bit
  /// for bit. Throws MemoryError, UsageError for a padded block of nothing, and for edge_weights of
  /// a hop that has none.
  void make(const exec::Stream& stream, const sample::StoreView& store, const Vertex* vertices,
            const Vertex* input_ids, const sample::SampledHop& hop, const BlockSize& size,
            const BlockOptions& options, const BlockSize& least = {});

  /// With padding.
  [[nodiscard]] const BlockSize& size() const { return size_; }
  [[nodiscard]] const BlockMatrix& out() const { return out_; }
  /// Its transpose: rows are sources, entries ascend. Empty where it was not asked for.
  [[nodiscard]] const BlockMatrix& in() const { return in_; }
  [[nodiscard]] const BlockWeights& weights() const { return weights_; }

 private:
  void add_loops(const exec::Stream& stream, const sample::SampledHop& hop, bool is_weighted);
  void transpose(const exec::Stream& stream, const std::uint32_t* duplicates, bool has_loops);
  void sort_by_source(const exec::Stream& stream, std::uint64_t entries);
  void sort_with_weights(const exec::Stream& stream, std::uint64_t entries, int bits);

  BlockSize sampled_, size_;
  BlockMatrix out_, in_;
  BlockWeights weights_;
  sparse::SpmmPlan out_plan_, in_plan_;
  memory::Buffer<float> row_, column_, self_, values_, in_values_;
  memory::Buffer<EdgeOffset> offsets_, in_offsets_;
  memory::Buffer<Vertex> columns_, in_rows_, entry_rows_, sorted_sources_;
  memory::Buffer<std::uint32_t> entries_, sorted_entries_;
  memory::Buffer<std::uint32_t> chunk_sums_;
  memory::Buffer<std::byte> scratch_;
};

}  // namespace warren::learn
