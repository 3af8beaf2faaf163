// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/links.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/transform.hpp"

#include "learn/batch/batch_parts.hpp"
#include "learn/batch/input_graph.hpp"

namespace warren::learn {
namespace {

// Apart from the purposes of layers.
constexpr std::uint64_t kSplitOf = 0x73706c69, kJudgesOf = 0x6a756467;

/// Of the unordered pair.
std::uint64_t hash_of(std::uint64_t key, Vertex a, Vertex b) {
  return mix(key ^ mix(std::uint64_t{std::min(a, b)} << 32 | std::max(a, b)));
}

Split split_of(std::uint64_t hash) {
  const double place = static_cast<double>(hash >> 11) * 0x1p-53;
  if (place < LinkSplit::kValidationShare) return kValidation;
  return place < LinkSplit::kValidationShare + LinkSplit::kTestShare ? kTest : kTrain;
}

/// The links of the least hash, in their order, with false targets.
JudgedLinks judge(const InputGraph& graph, std::vector<Link> links, std::uint64_t split_key,
                  std::uint64_t key, exec::ThreadPool& pool) {
  const auto hash = [&](const Link& link) {
    // Not the split's own number, of which the least are validation.
    return mix(hash_of(split_key, link.source, link.target) + 1);
  };
  if (links.size() > LinkSplit::kMostJudged) {
    std::vector<std::uint64_t> hashes(links.size());
    std::transform(links.begin(), links.end(), hashes.begin(), hash);
    const auto bound = hashes.begin() + static_cast<std::ptrdiff_t>(LinkSplit::kMostJudged);
    std::nth_element(hashes.begin(), bound, hashes.end());
    std::erase_if(links, [&](const Link& link) { return hash(link) >= *bound; });
  }
  constexpr std::uint64_t kGrain = 64;
  JudgedLinks judged;
  judged.negatives.resize(links.size() * LinkSplit::kJudges);
  pool.parallel_for(0, links.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const Link& link = links[i];
      const std::uint64_t drawn = mix(key ^ (std::uint64_t{link.source} << 32 | link.target));
      for (std::uint64_t j = 0; j < LinkSplit::kJudges; ++j)
        judged.negatives[i * LinkSplit::kJudges + j] =
            draw_negative(mix(drawn + j), graph.vertices(), link.source,
                          [&](Vertex v) { return graph.has_edge(link.source, v); });
    }
  });
  judged.links = std::move(links);
  return judged;
}

/// log(1 + exp(-x)) of a true link, log(1 + exp(x)) of a false one.
double cross_entropy(double logit, bool is_true) {
  const double x = is_true ? -logit : logit;
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace

LinkSplit hold_out_links(GraphPair& graphs, std::uint64_t seed, const std::string& where,
                         exec::ThreadPool& pool) {
  static constexpr const char* kNames[] = {"training", "validation", "test"};
  const std::uint64_t key = random_key(seed, 0, kSplitOf);
  LinkSplit split;
  split.is_undirected = graphs.is_symmetric();
  std::array<std::vector<Link>, kSplits> links;
  {
    const InputGraph graph(graphs);
    std::vector<Vertex> list;
    for (Vertex v = 0; v < graph.vertices(); ++v) {
      graph.neighbours(v, list);
      for (const Vertex w : list) {
        if (w == v || (split.is_undirected && w < v)) continue;
        links.at(split_of(hash_of(key, v, w)) - 1u).push_back({v, w});
      }
    }
    const std::uint64_t all = links[0].size() + links[1].size() + links[2].size();
    for (std::size_t s = 0; s < kSplits; ++s) {
      if (links.at(s).empty())
        throw InputError(fmt::format(
            "{}: none of its {} edges (self-loops and second directions aside) fell to {}; link "
            "prediction holds out 5% of the edges for validation and 10% for the test: it needs "
            "more edges, or another --seed",
            where, all, kNames[s]));
      split.counts.at(s) = links.at(s).size();
      split.judged.at(s) = judge(graph, links.at(s), key, random_key(seed, s, kJudgesOf), pool);
    }
  }
  split.training = std::move(links[0]);
  const auto input_id = [&](Vertex v) {
    return graphs.input_ids.empty() ? v : graphs.input_ids[v];
  };
  graphs.out = std::make_shared<const graph::Graph>(filtered(*graphs.out, [&](Vertex v, Vertex w) {
    return v == w || split_of(hash_of(key, input_id(v), input_id(w))) == kTrain;
  }));
  graphs.in = split.is_undirected
                  ? graphs.out
                  : std::make_shared<const graph::Graph>(graph::transpose(*graphs.out, pool));
  return split;
}

void drop_labels(Dataset& dataset, std::uint64_t width) {
  dataset.loss = LossKind::cross_entropy;
  dataset.classes = width;
  dataset.labels.clear();
  dataset.targets.clear();
  dataset.splits.assign(dataset.vertices, kNoSplit);
  dataset.counts = {};
  dataset.warnings.clear();
}

RankSums rank_links(std::span<const float> positives, std::span<const float> negatives,
                    std::span<const float> sorted) {
  RankSums sums;
  for (std::size_t i = 0; i < positives.size(); ++i) {
    const float truth = positives[i];
    sums.true_loss += cross_entropy(static_cast<double>(truth), true);
    std::uint64_t above = 0, equal = 0;
    for (std::size_t j = 0; j < LinkSplit::kJudges; ++j) {
      const float x = negatives[i * LinkSplit::kJudges + j];
      above += x > truth ? 1 : 0;
      equal += x == truth ? 1 : 0;
      sums.false_loss += cross_entropy(static_cast<double>(x), false);
      const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), x);
      sums.above_twice += 2 * static_cast<std::uint64_t>(sorted.end() - high) +
                          static_cast<std::uint64_t>(high - low);
    }
    sums.reciprocal += 1.0 / (1.0 + static_cast<double>(above) + 0.5 * static_cast<double>(equal));
  }
  return sums;
}

}  // namespace warren::learn
