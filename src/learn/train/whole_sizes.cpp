// SPDX-License-Identifier: Apache-2.0
#include "learn/train/whole_sizes.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>

namespace warren::learn {
namespace {

constexpr std::uint64_t kSizesGrain = std::uint64_t{1} << 12;

/// A rank's rows of one direction's graph, with a loop each where layers read such.
class RankRows {
 public:
  RankRows(exec::ThreadPool& pool, const graph::Graph& graph,
           const std::vector<std::uint64_t>& cuts, std::size_t rank, bool has_loops)
      : graph_(graph),
        first_(cuts[rank]),
        rows_(cuts[rank + 1] - cuts[rank]),
        is_shared_(cuts.size() > 2),
        has_loops_(has_loops) {
    if (has_loops) looped_.assign(rows_ + 1, 0);
    if (is_shared_) {
      own_.assign(rows_, 0);
      is_needed_.assign(cuts.back(), 0);
    }
    std::atomic<std::uint64_t> long_rows{0};
    pool.parallel_for(0, rows_, kSizesGrain, [&](std::uint64_t begin, std::uint64_t end) {
      std::uint64_t longer = 0;
      for (std::uint64_t r = begin; r < end; ++r)
        longer += count(r) > sparse::RowPlan::kLong ? 1 : 0;
      long_rows.fetch_add(longer, std::memory_order_relaxed);
    });
    long_rows_ = long_rows.load();
    for (std::uint64_t r = 0; r < rows_ && has_loops; ++r) looped_[r + 1] += looped_[r];
    halo_ = static_cast<std::uint64_t>(std::count(is_needed_.begin(), is_needed_.end(), 1));
  }

  /// `is_split`: of several ranks the matrix is asked for in two (DistributedMatrix::split()).
  [[nodiscard]] NeighbourSizes sizes(const exec::Device& device, int ranks, bool is_split) const {
    const std::span<const EdgeOffset> offsets =
        has_loops_ ? std::span<const EdgeOffset>(looped_)
                   : std::span<const EdgeOffset>(graph_.offsets.data() + first_, rows_ + 1);
    NeighbourSizes sizes;
    std::optional<std::span<const std::uint32_t>> own;
    if (is_split && is_shared_) own = own_;
    sizes.matrix = sparse::matrix_sizes(device, offsets, own, halo_, ranks);
    sizes.long_rows = long_rows_;
    return sizes;
  }

 private:
  /// Notes a row, and tells how many entries it has.
  EdgeOffset count(std::uint64_t row) {
    const auto v = static_cast<Vertex>(first_ + row);
    const auto list = graph_.neighbours(v);
    std::uint64_t own = 0;
    if (is_shared_) {
      for (const Vertex target : list) {
        if (target >= first_ && target < first_ + rows_) {
          ++own;
          continue;
        }
        const std::atomic_ref<std::uint8_t> mark(is_needed_[target]);
        if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
      }
    }
    EdgeOffset entries = list.size();
    if (has_loops_) {
      const auto [begin, end] = std::equal_range(list.begin(), list.end(), v);
      const auto loops = static_cast<std::uint64_t>(end - begin);
      entries += 1 - loops;
      own += 1 - loops;
      looped_[row + 1] = entries;
    }
    if (is_shared_) own_[row] = static_cast<std::uint32_t>(own);
    return entries;
  }

  const graph::Graph& graph_;
  std::uint64_t first_, rows_;
  bool is_shared_, has_loops_;
  std::vector<EdgeOffset> looped_;
  std::vector<std::uint32_t> own_;
  std::vector<std::uint8_t> is_needed_;
  std::uint64_t long_rows_ = 0, halo_ = 0;
};

SparseOperandSizes sparse_sizes(const exec::Device& device, const GraphPair& graphs,
                                const Dataset& dataset, std::size_t rank) {
  const SparseRows& all = dataset.sparse;
  std::vector<EdgeOffset> offsets{0};
  std::vector<EdgeOffset> transposed(dataset.width + 1, 0);
  for (std::uint64_t r = graphs.cuts[rank]; r < graphs.cuts[rank + 1]; ++r) {
    const std::uint64_t v = graphs.input_ids.empty() ? r : graphs.input_ids[r];
    for (EdgeOffset e = all.offsets[v]; e < all.offsets[v + 1]; ++e)
      ++transposed[all.column_ids[e] + 1ull];
    offsets.push_back(offsets.back() + all.offsets[v + 1] - all.offsets[v]);
  }
  for (std::uint64_t c = 0; c < dataset.width; ++c) transposed[c + 1] += transposed[c];
  return {.rows = offsets.size() - 1,
          .columns = dataset.width,
          .entries = offsets.back(),
          .plan = sparse::plan_sizes(device, offsets),
          .transposed_plan = sparse::plan_sizes(device, transposed)};
}

}  // namespace

std::vector<WholeSizes> whole_sizes(const exec::Device& device, const GraphPair& graphs,
                                    const Dataset& dataset, const ModelOptions& model) {
  const std::size_t ranks = graphs.cuts.size() - 1;
  // No more than the ranks will have, which may be all that the process may start.
  const int of_ranks = static_cast<int>(ranks) * device.pool().size();
  const int most = exec::hardware_threads();
  exec::ThreadPool pool(device.is_cuda() ? most : std::min(most, of_ranks));
  std::vector<WholeSizes> all(ranks);
  const auto neighbours = [&](const graph::Graph& graph, std::size_t q) {
    NeighbourSizes sizes =
        RankRows(pool, graph, graphs.cuts, q, is_attention(model.kind))
            .sizes(device, static_cast<int>(ranks), model.kind == ModelKind::gat);
    sizes.matrix.is_weighted = model.edge_weights;
    sizes.has_input_ids = !graphs.input_ids.empty();
    return sizes;
  };
  for (std::size_t q = 0; q < ranks; ++q) {
    WholeSizes& sizes = all[q];
    sizes.is_symmetric = graphs.is_symmetric();
    sizes.out = neighbours(*graphs.out, q);
    if (!sizes.is_symmetric) sizes.in = neighbours(*graphs.in, q);
    sizes.rows = graphs.cuts[q + 1] - graphs.cuts[q];
    sizes.width = dataset.width;
    sizes.classes = dataset.classes;
    sizes.is_sparse = dataset.is_sparse();
    if (sizes.is_sparse) sizes.sparse = sparse_sizes(device, graphs, dataset, q);
    sizes.has_labels = !dataset.labels.empty();
    sizes.has_targets = !dataset.targets.empty();
    sizes.loss = dataset.loss;
  }
  return all;
}

}  // namespace warren::learn
