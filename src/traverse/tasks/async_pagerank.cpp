// SPDX-License-Identifier: Apache-2.0
// The host side of the asynchronous PageRank.
#include "traverse/tasks/async_pagerank.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/tasks/async_memory.hpp"

namespace warren::traverse {

namespace {

/// Of the tolerance: what is left is for runs that are under way when the end is decided.
constexpr double kStopBelow = 0.9;

void add_vector(auto& total, const auto& part) {
  total.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
}

void add_report(schedule::QueueReport& total, const schedule::QueueReport& part) {
  total.seconds += part.seconds;
  total.tasks += part.tasks;
  total.spilled += part.spilled;
  total.messages_sent += part.messages_sent;
  total.bytes_sent += part.bytes_sent;
  total.rounds += part.rounds;
  total.is_persistent = part.is_persistent;
  add_vector(total.rank_tasks, part.rank_tasks);
  add_vector(total.rank_idle_seconds, part.rank_idle_seconds);
  add_vector(total.messages, part.messages);
  add_vector(total.bytes, part.bytes);
}

/// A chunk is in the queue once at most, and always with its own rank.
schedule::QueueOptions queue_of_chunks(const AsyncOptions& options, std::uint64_t chunks) {
  constexpr std::uint64_t kLeast = 1 << 10;
  schedule::QueueOptions queue;
  queue.local_capacity = options.capacity != 0 ? options.capacity : std::max(kLeast, chunks);
  queue.receive_capacity = 1;
  queue.batch = 1;
  queue.most_pushes = 1;
  queue.fetch = 1;
  // Of either precision: blocks of doubles have fewer threads.
  queue.threads_per_processor = std::max(schedule::threads_per_processor<RankingFunction<double>>(),
                                         schedule::threads_per_processor<RankingFunction<float>>());
  queue.gather = schedule::Gather::never;
  queue.injected_delay_nanoseconds = options.injected_delay_nanoseconds;
  return queue;
}

/// Contributions are stored at every other rank, each by itself: messages that are in no queue.
void add_stores(schedule::QueueReport& report, const std::vector<SharedRanking>& all,
                std::uint64_t bytes) {
  const std::size_t ranks = all.size();
  for (std::size_t p = 0; p < ranks; ++p) {
    for (std::size_t q = 0; q < ranks; ++q) {
      if (p == q) continue;
      report.messages[p * ranks + q] += all[p].stored;
      report.bytes[p * ranks + q] += all[p].stored * bytes;
      report.messages_sent += all[p].stored;
      report.bytes_sent += all[p].stored * bytes;
    }
  }
}

/// 0 where none has any.
int first_with_chunks(team::Team& team, std::uint32_t chunks) {
  const int rank = team.all_reduce(chunks > 0 ? team.rank() : team.size(), exec::Minimum{});
  return rank % team.size();
}

std::vector<std::uint64_t> one_for_each(int ranks) {
  std::vector<std::uint64_t> cuts;
  for (int q = 0; q <= ranks; ++q) cuts.push_back(static_cast<std::uint64_t>(q));
  return cuts;
}

}  // namespace

class AsyncPageRankMemory {
 public:
  AsyncPageRankMemory(team::Team& team, const graph::Shard& shard, const PageRankOptions& options,
                      const AsyncOptions& async, const exec::Stream& stream)
      : work(stream, shard.in),
        value(team.device(), shard.in.count),
        earlier(team.device(), shard.is_symmetric ? shard.in.count : 0),
        left(team.device(), work.chunk_count),
        piece(team.device(), work.pieces),
        tally(team.device(), 1),
        shared(team, one_for_each(team.size()), 1, memory::Placement::device),
        queue(team, queue_of_chunks(async, work.chunk_count)),
        chooser(first_with_chunks(team, work.chunk_count)) {
    if (!needs_double_precision(options.damping, options.tolerance)) {
      single_.emplace(team, shard.cuts, 1, memory::Placement::replicated);
    } else {
      wide_.emplace(team, shard.cuts, 1, memory::Placement::replicated);
    }
  }

  /// f(function) for the precision chosen; the numbers are the caller's to set.
  template <class F>
  void with_function(const graph::Shard& shard, F&& f) const {
    if (single_) f(function(shard, *single_));
    if (wide_) f(function(shard, *wide_));
  }
  /// Of a contribution.
  [[nodiscard]] double rounding() const { return single_ ? 0x1p-24 : 0x1p-50; }

  /// Of a contribution, as it is stored.
  [[nodiscard]] std::uint64_t contribution_bytes() const {
    return single_ ? sizeof(float) : sizeof(double);
  }

  /// All ranks' shared state, as a run has left them. Collective.
  [[nodiscard]] std::vector<SharedRanking> read_shared(team::Team& team,
                                                       const exec::Stream& stream) const {
    return team.all_gather(shared.buffer().to_host(stream).at(0));
  }
  void write_shared(const exec::Stream& stream, const SharedRanking& own) {
    shared.buffer().upload(stream, {&own, 1});
    stream.synchronize();
  }

  RankingWork work;
  memory::Buffer<double> value, earlier;
  memory::Buffer<std::uint64_t> left;
  memory::Buffer<double> piece;
  memory::Buffer<WorkTally> tally;
  memory::GlobalArray<SharedRanking> shared;
  schedule::TaskQueue<RankingTask> queue;
  int chooser;         ///< Of weights.
  double scale = 1.0;  ///< Of the values as they stand.

  [[nodiscard]] OwnValues<Multiplied> values() const {
    return {value.data(), value.size(), {scale}};
  }

 private:
  template <class Real>
  [[nodiscard]] RankingFunction<Real> function(
      const graph::Shard& shard, const memory::GlobalArray<Real>& contribution) const {
    RankingFunction<Real> made;
    made.in = shard.in;
    made.out = shard.out;
    made.batches = work.batches.data();
    made.chunks = work.chunks.data();
    made.chunk_count = work.chunk_count;
    made.is_symmetric = shard.is_symmetric;
    made.contribution = contribution.view();
    made.shared = shared.view();
    made.value = value.data();
    made.earlier = earlier.data();
    made.left = left.data();
    made.chooser = chooser;
    made.piece = piece.data();
    made.tally = tally.data();
    made.vertices = static_cast<double>(shard.vertices);
    made.rank = contribution.view().rank;
    return made;
  }

  std::optional<memory::GlobalArray<float>> single_;
  std::optional<memory::GlobalArray<double>> wide_;
};

AsyncPageRank::AsyncPageRank(team::Team& team, const graph::Shard& shard,
                             const PageRankOptions& options, const AsyncOptions& async)
    : team_(team), shard_(shard), options_(options), form_(async.form), stream_(team.device()) {
  graph::require_plain_lists(shard, "asynchronous PageRank");
  require(!options.weighted, "asynchronous PageRank knows no weights: use the synchronous one");
  require(!options.has_vectors(),
          "asynchronous PageRank knows no vectors of its own: use the synchronous one");
  require(shard.has_in() || shard.vertices == 0, "PageRank needs a shard with in-edges");
  require(options.damping >= 0.0 && options.damping < 1.0,
          fmt::format("damping {}: give a value from 0 to below 1", options.damping));
  require(
      options.tolerance > 0.0,
      fmt::format("tolerance {}: asynchronous PageRank needs a value above 0", options.tolerance));
  memory_ = std::make_unique<AsyncPageRankMemory>(team, shard, options, async, stream_);
}
AsyncPageRank::~AsyncPageRank() = default;

PageRankResult AsyncPageRank::run() {
  PageRankResult result;
  if (shard_.vertices == 0) {
    result.converged = true;
    return result;
  }
  AsyncPageRankMemory& memory = *memory_;
  const RankingUnits units = RankingUnits::of(options_.damping, memory.rounding());
  const bool has_chunks = memory.work.chunk_count > 0;
  // Where kernels of different ranks take turns, each may do one sweep in its turn.
  const bool takes_turns = form_ == schedule::Form::discrete || !team_.kernels_may_wait();
  exec::fill_bytes(stream_, memory.tally.data(), 0, memory.tally.bytes());
  SharedRanking own{};
  exec::fill_bytes(stream_, memory.piece.data(), 0, memory.piece.bytes());
  exec::fill_bytes(stream_, memory.left.data(), 0, memory.left.bytes());
  own.begin_sweeps(has_chunks);
  memory.write_shared(stream_, own);
  team_.barrier();
  const double begin = now_seconds();
  report_ = {};
  std::vector<SharedRanking> all;
  for (std::uint32_t done = 0; done < options_.max_iterations;) {
    const std::uint32_t left = options_.max_iterations - done;
    const double before = now_seconds() - begin - report_.queue.seconds;
    memory.with_function(shard_, [&](auto function) {
      function.is_first = done == 0;
      function.last_sweep = takes_turns ? 1 : left;
      function.units = units;
      function.damping = options_.damping;
      function.stop_below = kStopBelow * options_.tolerance;
      exec::with_backend(team_.device(), [&](auto backend) {
        add_report(report_.queue, RankingRun<decltype(backend)>::run(team_, stream_, memory.queue,
                                                                     function, form_));
      });
    });
    result.seconds = before + report_.queue.seconds;
    all = memory.read_shared(team_, stream_);
    result.residual = units.bound(team_.size(), [&](int q) -> const SharedRanking& {
      return all[static_cast<std::size_t>(q)];
    });
    std::uint64_t sweeps = 1;
    for (const SharedRanking& each : all) {
      if (each.completed != SharedRanking::kAll) sweeps = std::max(sweeps, each.completed);
    }
    done += static_cast<std::uint32_t>(sweeps);
    if (result.residual <= options_.tolerance) break;
    own = all[static_cast<std::size_t>(team_.rank())];
    own.begin_sweeps(has_chunks);
    memory.write_shared(stream_, own);
  }
  add_tally(team_, stream_, memory.tally.data(), report_);
  add_stores(report_.queue, all, memory.contribution_bytes());
  double sum = 0.0;
  for (const double value : memory.value.to_host(stream_)) sum += value;
  memory.scale = 1.0 / team_.all_reduce(sum, std::plus<double>());
  result.converged = result.residual <= options_.tolerance;
  // The work in passes over all edges; over all vertices of a graph without edges.
  const bool has_edges = shard_.edges > 0;
  const std::uint64_t work = has_edges ? report_.edges : report_.expanded;
  const std::uint64_t pass = std::max<std::uint64_t>(1, has_edges ? shard_.edges : shard_.vertices);
  result.iterations = static_cast<std::uint32_t>((work + pass - 1) / pass);
  if (shard_.edges_placement == graph::EdgesPlacement::host)
    result.far_bytes = report_.edges * sizeof(Vertex);
  trace_report("pagerank (asynchronous)", team_.rank(), begin, begin + result.seconds, report_);
  return result;
}

std::vector<double> AsyncPageRank::ranks() const { return memory_->values().to_host(stream_); }
void AsyncPageRank::write_ranks(double* to) const { memory_->values().write(stream_, to); }

std::vector<double> AsyncPageRank::all_ranks() const { return on_all(team_, ranks()); }

}  // namespace warren::traverse
