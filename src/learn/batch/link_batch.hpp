// SPDX-License-Identifier: Apache-2.0
// Batches of links: pairs of vertices, true and false ones, and the different vertices among them,
// which are the seeds of one sampled batch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warren/learn/links.hpp"

#include "learn/batch/input_graph.hpp"
#include "learn/batch/permutation.hpp"

namespace warren::learn {

/// A batch's arrays, on the device; all places are rows of its embeddings. A link has 1 + negatives
/// pairs, its own first.
struct LinkPairs {
  std::uint64_t pairs = 0, seeds = 0, group = 1;  ///< group: pairs of a link.
  const std::uint32_t* first = nullptr;           ///< pairs: rows of sources.
  const std::uint32_t* second = nullptr;          ///< pairs: rows of targets.
  const std::uint32_t* offsets = nullptr;         ///< seeds + 1.
  /// Of each row, ascending: 2 x the pair, + 1 where the row is the pair's second.
  const std::uint32_t* entries = nullptr;
};

/// The same in host memory: one array, so that one copy brings it.
struct LinkBatch {
  std::uint64_t pairs = 0, seeds = 0, group = 1;
  /// Seeds (ids in the store, ordered by the input's ids), first, second, offsets, entries.
  std::vector<std::uint32_t> words;

  /// Of so many links.
  [[nodiscard]] static std::uint64_t most_words(std::uint64_t links, std::uint64_t group) {
    return 2 * links * (group + 1) + 1 + 4 * links * group;
  }
  [[nodiscard]] LinkPairs at(const std::uint32_t* device_words) const;
};

/// Makes the batches of an epoch. What a link's false targets are, and which end is its source, is
/// a function of the seed, the epoch and the link: the same for any team and batch size.
class LinkDrawer {
 public:
  LinkDrawer(const GraphPair& graphs, std::shared_ptr<const LinkSplit> split,
             std::uint64_t negatives, std::uint64_t seed);

  void begin_epoch(std::uint64_t epoch);
  /// Of the links at places [begin, begin + count) of the epoch's order.
  void make(std::uint64_t begin, std::uint64_t count, LinkBatch& batch);

  [[nodiscard]] std::uint64_t links() const { return split_->training.size(); }
  [[nodiscard]] const InputGraph& graph() const { return graph_; }
  [[nodiscard]] const LinkSplit& split() const { return *split_; }
  /// Pairs of a link.
  [[nodiscard]] std::uint64_t group() const { return negatives_ + 1; }

 private:
  void draw(std::uint64_t begin, std::uint64_t count);

  InputGraph graph_;
  std::shared_ptr<const LinkSplit> split_;
  std::uint64_t negatives_, seed_;
  Permutation order_;
  std::uint64_t key_ = 0;
  std::vector<Link> drawn_;  // Pairs of the batch.
  std::vector<Vertex> ends_;
};

}  // namespace warren::learn
