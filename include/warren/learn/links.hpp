// SPDX-License-Identifier: Apache-2.0
// Link prediction: which edges are learnt from and which are held out, vertices that corrupt an
// edge, and what a model's guesses are worth.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "warren/dataset/dataset.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/learn/neighbours.hpp"
#include "warren/learn/random.hpp"

namespace warren::learn {

/// An edge, by the input's ids.
struct Link {
  Vertex source = 0;
  Vertex target = 0;
  bool operator==(const Link&) const = default;
};

/// Edges of a split with which models are judged.
struct JudgedLinks {
  std::vector<Link> links;
  /// links x kJudges vertices: the false targets that a link's true one is ranked among.
  std::vector<Vertex> negatives;
};

/// The edges of a graph as examples. Self-loops are none; of parallel edges, and of both directions
/// of an undirected edge, there is one.
struct LinkSplit {
  /// False targets of each judged link.
  static constexpr std::uint64_t kJudges = 50;
  /// Most judged links of a split; where there are more, those of the least hash.
  static constexpr std::uint64_t kMostJudged = 65536;
  /// The shares of edges that are held out.
  static constexpr double kValidationShare = 0.05, kTestShare = 0.1;

  bool is_undirected = false;
  std::vector<Link>
      training;  ///< Ordered by source and target; of undirected ones source < target.
  std::array<std::uint64_t, kSplits> counts{};
  std::array<JudgedLinks, kSplits> judged;  ///< By split, training first.
};

/// Splits the edges of `graphs` and takes those that are held out from it. An edge's split is a
/// function of the seed and the unordered pair of its input ids: the same for any partition, and
/// both directions fall together. A judged link's false targets are drawn with
/// draw_negative(), here avoiding every edge, those held out, too. Throws InputError, naming
/// `where`, for a split without edges.
[[nodiscard]] LinkSplit hold_out_links(GraphPair& graphs, std::uint64_t seed,
                                       const std::string& where, exec::ThreadPool& pool);

/// A vertex that `source` has no edge to, and not itself: drawn uniformly from all (input ids),
/// again where it is a neighbour, eight times at most; after those the next one by id that is none
/// (round the end), so that a neighbour comes out only where all vertices are. A function of `key`
/// alone. `is_edge(v)` tells neighbours.
template <class IsEdge>
[[nodiscard]] Vertex draw_negative(std::uint64_t key, std::uint64_t vertices, Vertex source,
                                   IsEdge&& is_edge) {
  constexpr std::uint64_t kDraws = 8;
  Vertex drawn = 0;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    // The upper half of a product of 64 bits: no vertex is likelier than another by 2^-32.
    drawn = static_cast<Vertex>((__uint128_t{mix(key + draw)} * vertices) >> 64);
    if (drawn != source && !is_edge(drawn)) return drawn;
  }
  for (std::uint64_t step = 1; step < vertices; ++step) {
    const auto next = static_cast<Vertex>((drawn + step) % vertices);
    if (next != source && !is_edge(next)) return next;
  }
  return drawn;
}

/// A dataset's features alone, for embeddings of `width` numbers: neither labels nor splits.
void drop_labels(Dataset& dataset, std::uint64_t width);

/// Where false targets stand against their links: what a split is judged by.
struct RankSums {
  /// The sum of 1 / rank over links; a link's rank is 1 + the false targets above it + half of
  /// those that are equal.
  double reciprocal = 0.0;
  /// Pairs of a true and any link's false logit in which the true one is larger, twice, plus those
  /// in which both are equal.
  std::uint64_t above_twice = 0;
  double true_loss = 0.0, false_loss = 0.0;  ///< Sums of binary cross-entropy.
};
/// Of the links [first, first + count) whose false logits are `negatives` (count x kJudges);
/// `positives` are the true logits of those links, `sorted` those of all links of the split,
/// ascending.
[[nodiscard]] RankSums rank_links(std::span<const float> positives,
                                  std::span<const float> negatives, std::span<const float> sorted);

}  // namespace warren::learn
