// SPDX-License-Identifier: Apache-2.0
#include "traverse/tasks/ranking_work.hpp"

#include <algorithm>

#include "warren/exec/memory.hpp"

namespace warren::traverse {
namespace {

/// Tasks of each worker, so that the last ones to end have little left.
constexpr std::uint64_t kChunksPerWorker = 4;
/// A chunk's cost, in edges. A row costs as much as a few edges, a sum of pieces some microseconds.
constexpr std::uint64_t kLeastChunk = 1024;
constexpr std::uint64_t kMostChunk = 16384;
constexpr std::uint64_t kRowCost = 8;
constexpr std::uint64_t kSumCost = 1024;

std::uint64_t workers_of(const exec::Device& device) {
  constexpr std::uint64_t kWarpsPerProcessor = 16;
  return device.is_cuda() ? static_cast<std::uint64_t>(device.processors()) * kWarpsPerProcessor
                          : static_cast<std::uint64_t>(device.pool().size());
}

class Planner {
 public:
  Planner(const std::vector<EdgeOffset>& offsets, EdgeOffset cached_end)
      : offsets_(offsets), cached_end_(cached_end) {}

  std::vector<RankingBatch> batches(std::uint64_t& pieces) {
    for (std::size_t row = 0; row + 1 < offsets_.size(); ++row) add(static_cast<Vertex>(row));
    close();
    pieces = pieces_;
    batches_.insert(batches_.end(), sums_.begin(), sums_.end());
    return std::move(batches_);
  }

 private:
  void add(Vertex row) {
    const EdgeOffset begin = offsets_[row];
    const EdgeOffset degree = offsets_[std::size_t{row} + 1] - begin;
    if (degree >= RankingBatch::kLongRow) {
      close();
      add_long(row, begin, degree);
      return;
    }
    // Lists of a batch are read as one: in one memory.
    const bool parts = open_.row_count > 0 && begin >= cached_end_ && open_.begin < cached_end_;
    if (parts || row - open_.first >= RankingBatch::kMostRows ||
        open_.count + degree > RankingBatch::kMostEdges)
      close();
    if (open_.row_count == 0) {
      open_.first = row;
      open_.begin = begin;
    }
    open_.row_count = row - open_.first + 1;
    open_.count += static_cast<std::uint32_t>(degree);
  }

  void add_long(Vertex row, EdgeOffset begin, EdgeOffset degree) {
    if (degree <= RankingBatch::kLongestRow) {
      batches_.push_back({begin, static_cast<std::uint32_t>(degree), row, 1, RankingBatch::row});
      return;
    }
    const std::uint64_t first = pieces_;
    for (EdgeOffset at = 0; at < degree; at += RankingBatch::kLongestRow) {
      const EdgeOffset count = std::min(RankingBatch::kLongestRow, degree - at);
      batches_.push_back({begin + at, static_cast<std::uint32_t>(count),
                          static_cast<Vertex>(pieces_++), 0, RankingBatch::piece});
    }
    sums_.push_back(
        {first, static_cast<std::uint32_t>(pieces_ - first), row, 1, RankingBatch::sum});
  }

  void close() {
    if (open_.row_count > 0) batches_.push_back(open_);
    open_ = {0, 0, 0, 0, RankingBatch::rows};
  }

  const std::vector<EdgeOffset>& offsets_;
  EdgeOffset cached_end_;
  RankingBatch open_{0, 0, 0, 0, RankingBatch::rows};
  std::vector<RankingBatch> batches_, sums_;
  std::uint64_t pieces_ = 0;
};

std::uint64_t cost_of(const RankingBatch& batch) {
  if (batch.kind == RankingBatch::sum) return kSumCost;
  return batch.count + kRowCost * batch.row_count;
}

}  // namespace

RankingPlan plan_ranking(const std::vector<EdgeOffset>& offsets, EdgeOffset cached_end,
                         std::uint64_t workers) {
  RankingPlan plan;
  plan.batches = Planner(offsets, cached_end).batches(plan.pieces);
  std::uint64_t total = 0;
  for (const RankingBatch& batch : plan.batches) total += cost_of(batch);
  const std::uint64_t wanted =
      std::clamp(total / (kChunksPerWorker * workers), kLeastChunk, kMostChunk);
  plan.chunks.push_back(0);
  std::uint64_t cost = 0;
  for (std::size_t i = 0; i < plan.batches.size(); ++i) {
    cost += cost_of(plan.batches[i]);
    if (cost < wanted && i + 1 < plan.batches.size()) continue;
    plan.chunks.push_back(static_cast<std::uint32_t>(i + 1));
    cost = 0;
  }
  return plan;
}

RankingWork::RankingWork(const exec::Stream& stream, const graph::CsrView& in) {
  std::vector<EdgeOffset> offsets(std::uint64_t{in.count} + 1);
  if (in.count > 0) {
    exec::copy(stream, offsets.data(), in.offsets, offsets.size() * sizeof(EdgeOffset));
    stream.synchronize();
  }
  const RankingPlan plan = plan_ranking(offsets, in.cached_end, workers_of(stream.device()));
  batches = memory::Buffer<RankingBatch>(stream.device(), plan.batches.size());
  batches.upload(stream, plan.batches);
  chunks = memory::Buffer<std::uint32_t>(stream.device(), plan.chunks.size());
  chunks.upload(stream, plan.chunks);
  stream.synchronize();
  chunk_count = static_cast<std::uint32_t>(plan.chunks.size() - 1);
  pieces = plan.pieces;
}

}  // namespace warren::traverse
