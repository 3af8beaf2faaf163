// SPDX-License-Identifier: Apache-2.0
#include "learn/batch/link_loss.hpp"

#include <algorithm>

#include "warren/core/error.hpp"
#include "warren/learn/elementwise.hpp"

#include "learn/batch/batch_parts.hpp"
#include "learn/batch/link_kernels.hpp"

namespace warren::learn {
namespace {

constexpr std::uint64_t kGroup = LinkSplit::kJudges + 1;

std::uint64_t pair_chunks(std::uint64_t pairs) {
  return (pairs + detail::LinkSumsKernel::kChunk - 1) / detail::LinkSumsKernel::kChunk;
}

/// True logits, and those of false targets, of logits in groups.
void take_apart(const std::vector<float>& logits, std::vector<float>& positives,
                std::vector<float>& negatives) {
  for (std::size_t i = 0; i < logits.size(); ++i)
    (i % kGroup == 0 ? positives : negatives).push_back(logits[i]);
}

RankSums added(RankSums a, const RankSums& b) {
  a.reciprocal += b.reciprocal;
  a.above_twice += b.above_twice;
  a.true_loss += b.true_loss;
  a.false_loss += b.false_loss;
  return a;
}

/// rank_links() by several threads, added up in one order.
RankSums rank_all(exec::ThreadPool& pool, std::span<const float> positives,
                  std::span<const float> negatives, std::span<const float> sorted) {
  constexpr std::size_t kChunk = 256;
  std::vector<RankSums> sums((positives.size() + kChunk - 1) / kChunk);
  pool.parallel_for(0, sums.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t c = begin; c < end; ++c) {
      const std::size_t first = c * kChunk;
      const std::size_t count = std::min(kChunk, positives.size() - first);
      sums[c] = rank_links(
          positives.subspan(first, count),
          negatives.subspan(first * LinkSplit::kJudges, count * LinkSplit::kJudges), sorted);
    }
  });
  RankSums all;
  for (const RankSums& part : sums) all = added(all, part);
  return all;
}

}  // namespace

void LinkLoss::begin_batches(Context& context, std::uint64_t pairs, double before) {
  context.keep(losses_, pairs);
  context.keep(slopes_, pairs);
  context.keep(partial_, pair_chunks(pairs));
  exec::fill_bytes(context.stream(), partial_.data(), 0, partial_.bytes());
  before_ = before;
}

void LinkLoss::run(Context& context, const LinkPairs& links, const float* z, std::uint64_t width,
                   float factor, float* gradient, const float* scale) {
  require(links.pairs <= losses_.size(), "a batch has more pairs than were said at first");
  const exec::Stream& stream = context.stream();
  exec::with_backend(stream.device(), [&](auto backend) {
    using Backend = decltype(backend);
    detail::run_links<Backend>(
        stream, links.pairs,
        detail::LinkLossKernel{links, width, z, factor, scale, losses_.data(), slopes_.data()});
    detail::run_links<Backend>(
        stream, pair_chunks(links.pairs),
        detail::LinkSumsKernel{links.pairs, losses_.data(), partial_.data()});
    if (gradient == nullptr) return;
    detail::run_links<Backend>(
        stream, links.seeds, detail::LinkGradientKernel{links, width, z, slopes_.data(), gradient});
  });
}

void convert_rows(const exec::Stream& stream, std::uint64_t rows, std::uint64_t width,
                  ConstNumbers from, Numbers to) {
  if (rows != 0) scale_rows(stream, rows, width, width, nullptr, from, to);
}

void LinkLoss::run(Context& context, const LinkPairs& links, ConstNumbers z, std::uint64_t width,
                   float factor, Numbers gradient, const float* scale) {
  if (z.type() == NumberType::float32)
    return run(context, links, z.as<float>(), width, factor, gradient.as<float>(), scale);
  const auto wide = context.workspace().take<float>(links.seeds * width);
  const auto wide_gradient = context.workspace().take<float>(links.seeds * width);
  convert_rows(context.stream(), links.seeds, width, z, wide.data());
  run(context, links, wide.data(), width, factor, wide_gradient.data(), scale);
  convert_rows(context.stream(), links.seeds, width, wide_gradient.data(), gradient);
}

double LinkLoss::sum(Context& context) const {
  double mine = 0.0;
  for (const double part : partial_.to_host(context.stream())) mine += part;
  return before_ + context.team().all_reduce(mine, [](double a, double b) { return a + b; });
}

void LinkJudge::take(const team::Team& team, Part& part, const JudgedLinks& judged) {
  const BatchShares shares{static_cast<std::uint64_t>(team.size()), 1};
  const auto rank = static_cast<std::uint64_t>(team.rank());
  part.all = judged.links.size();
  part.begin = shares.share(part.all, rank);
  part.links = shares.share(part.all, rank + 1) - part.begin;
  part.sources = memory::Buffer<Vertex>(team.device(), part.links);
  part.targets = memory::Buffer<Vertex>(team.device(), part.links * kGroup);
}

LinkJudge::LinkJudge(team::Team& team, const LinkSplit& split, const memory::GlobalArray<float>& z)
    : z_(z) {
  std::uint64_t most = 0;
  for (std::size_t s = 0; s < kSplits; ++s) {
    take(team, splits_.at(s), split.judged.at(s));
    most = std::max<std::uint64_t>(most, splits_.at(s).targets.size());
  }
  logits_ = memory::Buffer<float>(team.device(), most);
}

LinkJudge::LinkJudge(team::Team& team, const exec::Stream& stream, const LinkDrawer& drawer,
                     const memory::GlobalArray<float>& z)
    : LinkJudge(team, drawer.split(), z) {
  for (std::size_t s = 0; s < kSplits; ++s) {
    const JudgedLinks& judged = drawer.split().judged.at(s);
    Part& part = splits_.at(s);
    std::vector<Vertex> sources, targets;
    for (std::uint64_t i = part.begin; i < part.begin + part.links; ++i) {
      sources.push_back(drawer.graph().place(judged.links[i].source));
      targets.push_back(drawer.graph().place(judged.links[i].target));
      for (std::uint64_t j = 0; j < LinkSplit::kJudges; ++j)
        targets.push_back(drawer.graph().place(judged.negatives[i * LinkSplit::kJudges + j]));
    }
    upload(stream, part.sources, sources);
    upload(stream, part.targets, targets);
    stream.synchronize();
  }
}

SplitScore LinkJudge::score(Context& context, const Part& part) {
  const exec::Stream& stream = context.stream();
  const std::uint64_t count = part.links * kGroup;
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_links<decltype(backend)>(
        stream, count,
        detail::LinkLogitsKernel{z_.view(), kGroup, part.sources.data(), part.targets.data(),
                                 logits_.data()});
  });
  std::vector<float> logits(count), positives, negatives, sorted;
  if (count != 0) exec::copy(stream, logits.data(), logits_.data(), count * sizeof(float));
  stream.synchronize();
  take_apart(logits, positives, negatives);
  for (const auto& of : context.team().all_gather_v(std::span<const float>(positives)))
    sorted.insert(sorted.end(), of.begin(), of.end());
  std::sort(sorted.begin(), sorted.end());
  const RankSums sums = context.team().all_reduce(
      rank_all(context.team().device().pool(), positives, negatives, sorted), added);
  const auto links = static_cast<double>(part.all);
  const auto judges = static_cast<double>(LinkSplit::kJudges);
  SplitScore score;
  score.loss = 0.5 * (sums.true_loss / links + sums.false_loss / (links * judges));
  score.accuracy = static_cast<double>(sums.above_twice) / (2.0 * links * links * judges);
  score.mrr = sums.reciprocal / links;
  return score;
}

Scores LinkJudge::scores(Context& context) {
  context.team().barrier();
  Scores scores;
  for (std::size_t s = 0; s < kSplits; ++s) scores.at(s) = score(context, splits_.at(s));
  return scores;
}

}  // namespace warren::learn
