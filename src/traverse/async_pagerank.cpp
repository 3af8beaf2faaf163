// SPDX-License-Identifier: Apache-2.0
// The host side of the asynchronous PageRank.
#include "traverse/async_pagerank.hpp"

#include <functional>

#include "traverse/async_memory.hpp"

namespace warren::traverse {

namespace {

/// Of the threshold from phase to phase.
constexpr double kStep = 4.0;
/// From so many times the last threshold on the residuals are added up.
constexpr double kLook = 20.0;

void add_vector(auto& total, const auto& part) {
  total.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
}

void add_report(schedule::QueueReport& total, const schedule::QueueReport& phase) {
  total.tasks += phase.tasks;
  total.spilled += phase.spilled;
  total.messages_sent += phase.messages_sent;
  total.bytes_sent += phase.bytes_sent;
  total.rounds += phase.rounds;
  total.is_persistent = phase.is_persistent;
  add_vector(total.rank_tasks, phase.rank_tasks);
  add_vector(total.rank_idle_seconds, phase.rank_idle_seconds);
  add_vector(total.messages, phase.messages);
  add_vector(total.bytes, phase.bytes);
}

}  // namespace

class AsyncPageRankMemory {
 public:
  AsyncPageRankMemory(team::Team& team, const graph::Shard& shard, const AsyncOptions& options,
                      const exec::Stream& stream)
      : form(options.form),
        residual(team.device(), shard.vertices),
        value(team.device(), shard.out.count),
        weight(team.device(), shard.vertices),
        tally(team.device(), 1),
        queue(team, queue_options(whole(options), shard,
                                  graph::edge_range(stream, shard.out).count(), 1.0)) {}

  schedule::Form form;
  memory::Buffer<double> residual, value;
  memory::Buffer<float> weight;
  memory::Buffer<WorkTally> tally;
  schedule::TaskQueue<ResidualTask> queue;
  double scale = 1.0;  ///< Of the values as they stand.

  /// Of the values, over the team.
  [[nodiscard]] double sum(team::Team& team, const exec::Stream& stream) const {
    return total(team, value.to_host(stream));
  }
  /// The most that one iteration of the whole would change the ranks by, in L1, where the values
  /// add up to `sum`.
  [[nodiscard]] double bound(team::Team& team, const exec::Stream& stream, double sum) const {
    const double left = total(team, residual.to_host(stream));
    return sum > 0.0 ? 2.0 * left / sum : 2.0;
  }

 private:
  static double total(team::Team& team, const std::vector<double>& parts) {
    double mine = 0.0;
    for (const double part : parts) mine += part;
    return team.all_reduce(mine, std::plus<double>());
  }
  static AsyncOptions whole(AsyncOptions options) {
    options.levels = 1;
    return options;
  }
};

AsyncPageRank::AsyncPageRank(team::Team& team, const graph::Shard& shard,
                             const PageRankOptions& options, const AsyncOptions& async)
    : team_(team), shard_(shard), options_(options), stream_(team.device()) {
  graph::require_plain_lists(shard, "asynchronous PageRank");
  require(options.damping >= 0.0 && options.damping < 1.0,
          fmt::format("damping {}: give a value from 0 to below 1", options.damping));
  require(
      options.tolerance > 0.0,
      fmt::format("tolerance {}: asynchronous PageRank needs a value above 0", options.tolerance));
  memory_ = std::make_unique<AsyncPageRankMemory>(team, shard, async, stream_);
}
AsyncPageRank::~AsyncPageRank() = default;

/// Whether any rank has done all that --max-iterations allows.
bool AsyncPageRank::gives_up(std::uint64_t most_expanded) {
  WorkTally tally;
  exec::copy(stream_, &tally, memory_->tally.data(), sizeof tally);
  stream_.synchronize();
  return team_.all_reduce(tally.expanded >= most_expanded ? 1 : 0, exec::Maximum{}) != 0;
}

PageRankResult AsyncPageRank::run() {
  PageRankResult result;
  if (shard_.vertices == 0) {
    result.converged = true;
    return result;
  }
  AsyncPageRankMemory& memory = *memory_;
  const auto n = static_cast<double>(shard_.vertices);
  const auto ranks = static_cast<double>(team_.size());
  ResidualFunction function;
  function.out = shard_.out;
  function.residual = memory.residual.data();
  function.value = memory.value.data();
  function.weight = memory.weight.data();
  function.tally = memory.tally.data();
  function.rank = team_.rank();
  function.ranks = team_.size();
  for (std::size_t q = 0; q < shard_.cuts.size(); ++q) function.cuts[q] = shard_.cuts[q];
  function.damping = options_.damping;
  function.start = (1.0 - options_.damping) / n;
  // The ranks x solve x = b + d P' x + (what residuals r are left), and are divided by their sum s,
  // which is 1 - d or more. One more iteration of the whole then changes them by (r - |r| / n) / s:
  // at most 2 |r| / s in L1. A residual is kept of every vertex by every rank, and all are below
  // their thresholds at the end.
  function.mean_degree = std::max(1.0, static_cast<double>(shard_.edges) / n);
  const double weights =
      static_cast<double>(shard_.edges) + n + n * (ranks - 1.0) * function.mean_degree;
  const double last_threshold = options_.tolerance * (1.0 - options_.damping) / (2.0 * weights);
  const std::uint64_t share = (shard_.vertices + static_cast<std::uint64_t>(team_.size()) - 1) /
                              static_cast<std::uint64_t>(team_.size());
  function.most_expanded =
      std::uint64_t{options_.max_iterations} * std::max<std::uint64_t>(share, shard_.out.count);
  exec::fill_bytes(stream_, memory.value.data(), 0, memory.value.bytes());
  exec::fill_bytes(stream_, memory.tally.data(), 0, memory.tally.bytes());
  stream_.synchronize();
  team_.barrier();
  const double begin = now_seconds();
  report_ = {};
  function.is_first = true;
  function.threshold = function.start / (2.0 * function.mean_degree);
  for (;;) {
    function.threshold = std::max(function.threshold, last_threshold);
    exec::with_backend(team_.device(), [&](auto backend) {
      add_report(report_.queue, ResidualRun<decltype(backend)>::run(team_, stream_, memory.queue,
                                                                    function, memory.form));
    });
    if (function.threshold == last_threshold || gives_up(function.most_expanded)) break;
    // Most residuals are far below their thresholds: the last phase is seldom needed.
    if (function.threshold <= kLook * last_threshold &&
        memory.bound(team_, stream_, memory.sum(team_, stream_)) <= options_.tolerance)
      break;
    function.is_first = false;
    function.threshold /= kStep;
  }
  result.seconds = now_seconds() - begin;
  add_tally(team_, stream_, memory.tally.data(), report_);
  const double sum = memory.sum(team_, stream_);
  memory.scale = sum > 0.0 ? 1.0 / sum : 0.0;
  result.residual = memory.bound(team_, stream_, sum);
  result.converged = result.residual <= options_.tolerance;
  result.iterations =
      static_cast<std::uint32_t>((report_.expanded + shard_.vertices - 1) / shard_.vertices);
  if (shard_.edges_placement == graph::EdgesPlacement::host)
    result.far_bytes = report_.edges * sizeof(Vertex);
  trace_report("pagerank (asynchronous)", team_.rank(), begin, begin + result.seconds, report_);
  return result;
}

std::vector<double> AsyncPageRank::ranks() const {
  std::vector<double> values = memory_->value.to_host(stream_);
  for (double& value : values) value *= memory_->scale;
  return values;
}

std::vector<double> AsyncPageRank::all_ranks() const { return gather_on_all(team_, ranks()); }

}  // namespace warren::traverse
