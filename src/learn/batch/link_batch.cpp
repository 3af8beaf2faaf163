// SPDX-License-Identifier: Apache-2.0
#include "learn/batch/link_batch.hpp"

namespace warren::learn {
namespace {

// Apart from the purposes of layers.
constexpr std::uint64_t kOrder = 0x6f726465, kNegatives = 0x6e656761;

}  // namespace

LinkPairs LinkBatch::at(const std::uint32_t* device_words) const {
  const std::uint32_t* first = device_words + seeds;
  const std::uint32_t* offsets = first + 2 * pairs;
  return {pairs, seeds, group, first, first + pairs, offsets, offsets + seeds + 1};
}

LinkDrawer::LinkDrawer(const GraphPair& graphs, std::shared_ptr<const LinkSplit> split,
                       std::uint64_t negatives, std::uint64_t seed)
    : graph_(graphs),
      split_(std::move(split)),
      negatives_(negatives),
      seed_(seed),
      order_(split_->training.size(), 0) {}

void LinkDrawer::begin_epoch(std::uint64_t epoch) {
  order_ = Permutation(links(), random_key(seed_, epoch, kOrder));
  key_ = random_key(seed_, epoch, kNegatives);
}

void LinkDrawer::draw(std::uint64_t begin, std::uint64_t count) {
  drawn_.clear();
  for (std::uint64_t i = begin; i < begin + count; ++i) {
    const std::uint64_t number = order_(i);
    const std::uint64_t key = mix(key_ ^ number);
    Link link = split_->training[number];
    if (split_->is_undirected && (key & 1) != 0) std::swap(link.source, link.target);
    drawn_.push_back(link);
    for (std::uint64_t j = 1; j <= negatives_; ++j) {
      drawn_.push_back(
          {link.source, draw_negative(mix(key + j), graph_.vertices(), link.source,
                                      [&](Vertex v) { return graph_.has_edge(link.source, v); })});
    }
  }
}

void LinkDrawer::make(std::uint64_t begin, std::uint64_t count, LinkBatch& batch) {
  draw(begin, count);
  ends_.clear();
  for (const Link& pair : drawn_) {
    ends_.push_back(pair.source);
    ends_.push_back(pair.target);
  }
  std::sort(ends_.begin(), ends_.end());
  ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  batch.pairs = drawn_.size();
  batch.seeds = ends_.size();
  batch.group = group();
  batch.words.assign(2 * batch.seeds + 1 + 4 * batch.pairs, 0);
  std::uint32_t* seeds = batch.words.data();
  std::uint32_t* first = seeds + batch.seeds;
  std::uint32_t* second = first + batch.pairs;
  std::uint32_t* offsets = second + batch.pairs;
  std::uint32_t* entries = offsets + batch.seeds + 1;
  for (std::uint64_t s = 0; s < batch.seeds; ++s) seeds[s] = graph_.place(ends_[s]);
  const auto row_of = [&](Vertex v) {
    return static_cast<std::uint32_t>(std::lower_bound(ends_.begin(), ends_.end(), v) -
                                      ends_.begin());
  };
  for (std::uint64_t p = 0; p < batch.pairs; ++p) {
    first[p] = row_of(drawn_[p].source);
    second[p] = row_of(drawn_[p].target);
    ++offsets[first[p] + 1];
    ++offsets[second[p] + 1];
  }
  for (std::uint64_t s = 0; s < batch.seeds; ++s) offsets[s + 1] += offsets[s];
  for (std::uint64_t p = 0; p < batch.pairs; ++p) {
    entries[offsets[first[p]]++] = static_cast<std::uint32_t>(2 * p);
    entries[offsets[second[p]]++] = static_cast<std::uint32_t>(2 * p + 1);
  }
  // Each row's beginning has moved to its end.
  for (std::uint64_t s = batch.seeds; s > 0; --s) offsets[s] = offsets[s - 1];
  offsets[0] = 0;
}

}  // namespace warren::learn
