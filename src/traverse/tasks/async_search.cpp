// SPDX-License-Identifier: Apache-2.0
// The host side of the asynchronous BFS and SSSP.
#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "warren/graph/byte_weights.hpp"
#include "warren/memory/global_array.hpp"

#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/sssp/sssp_totals.hpp"
#include "traverse/sssp/sssp_weights.hpp"
#include "traverse/tasks/async_memory.hpp"
#include "traverse/tasks/search_run.hpp"

namespace warren::traverse {
namespace {

/// Whether degrees differ little.
bool are_even(std::uint64_t most, double mean) {
  constexpr double kEvenDegrees = 16.0;
  return static_cast<double>(most) <= kEvenDegrees * std::max(1.0, mean);
}

/// The memory of a search in one metric.
template <class Metric>
class SearchWords {
 public:
  using Word = typename Metric::Word;

  SearchWords(team::Team& team, const graph::Shard& shard, const AsyncOptions& options,
              double delta, const exec::Stream& stream)
      : best_(team, shard.cuts, 1, memory::Placement::replicated, memory::Reach::own),
        tally_(team.device(), 1) {
    schedule::QueueOptions queue =
        queue_options(options, shard, graph::edge_range(stream, shard.out).count(), delta);
    const bool on_gpu = team.device().is_cuda();
    const bool may_be_blocks = options.workers == SearchWorkers::blocks ||
                               (options.workers == SearchWorkers::automatic && blocks_fit(team));
    choose_leap(shard, options, delta, on_gpu, may_be_blocks);
    has_blocks_ = options.workers == SearchWorkers::automatic
                      ? on_gpu && may_be_blocks && problem_.leap > 0.0
                      : options.workers == SearchWorkers::blocks;
    if (has_blocks_) {
      set_up<BlockLists>(team, shard, options, on_gpu, queue);
    } else if (problem_.leap > 0.0) {
      set_up<WarpLists>(team, shard, options, on_gpu, queue);
    } else {
      set_up<NoLists>(team, shard, options, on_gpu, queue);
    }
    queue_.emplace(team, queue);
    problem_.out = shard.out;
    if constexpr (!std::is_same_v<Metric, DepthMetric>)
      problem_.out = graph::with_int_weights(stream, shard.out, int_weights_);
    problem_.best = best_.buffer().data();
    problem_.updates_are_tasks = queue_->table().is_slow;
    problem_.tally = tally_.data();
    problem_.rank = team.rank();
    problem_.ranks = team.size();
    for (std::size_t q = 0; q < shard.cuts.size(); ++q) problem_.cuts[q] = shard.cuts[q];
    std::copy_n(best_.view().base, kMaxRanks, problem_.best_of);
  }

  double search(team::Team& team, const exec::Stream& stream, Vertex source, schedule::Form form,
                AsyncReport& report) {
    exec::fill_bytes(stream, best_.buffer().data(), 0xff, best_.buffer().bytes());
    exec::fill_bytes(stream, tally_.data(), 0, tally_.bytes());
    problem_.source = source;
    team.barrier();
    exec::with_backend(team.device(), [&](auto backend) {
      using Backend = decltype(backend);
      report.queue = has_blocks_         ? run<Backend, BlockLists>(team, stream, form)
                     : problem_.keep > 0 ? run<Backend, WarpLists>(team, stream, form)
                                         : run<Backend, NoLists>(team, stream, form);
    });
    add_tally(team, stream, tally_.data(), report);
    return report.queue.seconds;
  }

  template <class Map>
  [[nodiscard]] OwnValues<Map> values() const {
    return {best_.buffer().data() + problem_.out.first, problem_.out.count};
  }
  [[nodiscard]] std::vector<Word> own(const exec::Stream& stream) const {
    return values<AsItIs<Word>>().to_host(stream);
  }

 private:
  template <class Backend, class Lists>
  schedule::QueueReport run(team::Team& team, const exec::Stream& stream, schedule::Form form) {
    return SearchRun<Backend, Metric, Lists>::run(team, stream, *queue_, {problem_}, form);
  }

  [[nodiscard]] static bool has_even_degrees(team::Team& team, const graph::Shard& shard) {
    return are_even(graph::max_out_degree(team, shard), mean_degree(shard));
  }
  [[nodiscard]] static double mean_degree(const graph::Shard& shard) {
    return std::max(1.0, static_cast<double>(shard.edges) / static_cast<double>(shard.vertices));
  }

  /// Whether the lists of a block fit every rank's GPU. True on the CPU. Collective.
  [[nodiscard]] static bool blocks_fit(team::Team& team) {
    constexpr std::uint64_t kBeside = 4096;  // Of the program, beside the lists.
    const exec::Device& device = team.device();
    const bool mine = !device.is_cuda() || device.limits().shared_block_bytes >=
                                               sizeof(SearchLists<Word, BlockLists>) + kBeside;
    return team.all_reduce(mine ? 1 : 0, exec::Minimum{}) == 1;
  }

  void choose_leap(const graph::Shard& shard, const AsyncOptions& options, double delta,
                   bool on_gpu, bool has_blocks) {
    constexpr double kShortLists = 8.0;
    double widths = options.leap;
    if (widths < 0.0)
      widths = on_gpu && mean_degree(shard) <= kShortLists ? chosen_leap(shard, has_blocks) : 0.0;
    problem_.leap = widths * delta;
  }

  /// As measured on grids and road networks. Where most vertices have two neighbours, ways of a few
  /// levels part for long, and a worker that goes far goes where others come sooner: the more so,
  /// the smaller its part of the wave front.
  static double chosen_leap(const graph::Shard& shard, bool has_blocks) {
    constexpr double kRoadDegree = 3.0;
    const bool is_road = mean_degree(shard) < kRoadDegree;
    if (!std::is_same_v<Metric, DepthMetric>) return has_blocks && is_road ? 18.0 : 6.0;
    if (!has_blocks) return is_road ? 12.0 : 48.0;
    return is_road ? 48.0 : 192.0;
  }

  template <class Lists>
  void set_up(team::Team& team, const graph::Shard& shard, const AsyncOptions& options, bool on_gpu,
              schedule::QueueOptions& queue) {
    using Function = SearchFunction<Metric, Lists>;
    if (problem_.leap > 0.0) {
      problem_.keep = options.keep != 0 ? options.keep : chosen_keep<Lists>(shard);
      problem_.keep = std::min(problem_.keep, Function::kMostKept);
    }
    // A worker with much of the wave front keeps its order by itself, and so does a queue where all
    // edges are as long.
    const bool is_in_order = has_blocks_ && problem_.keep > 0;
    const bool is_one_queue = std::is_same_v<Metric, DepthMetric> && problem_.leap == 0.0;
    if (options.levels == 0) queue.levels = is_in_order || is_one_queue ? 1 : kLevels;
    queue.most_pushes = Function::most_pushes(problem_.keep, on_gpu);
    if (Lists::kLanes > queue.fetch) queue.fetch = Lists::kLanes;
    // What is taken together is worked off together.
    if (problem_.keep > 0) queue.fetch = std::min(queue.fetch, problem_.keep);
    // A front that grows from few tasks: to all workers at once, where no list is so long that
    // those who are early would find ways around it.
    constexpr std::uint32_t kSharingDivisor = 16;
    queue.sharing_divisor =
        problem_.keep > 0 || has_even_degrees(team, shard) ? 0 : kSharingDivisor;
    queue.shares_first = problem_.keep == 0;
    queue.threads_per_processor = schedule::threads_per_processor<Function>();
    queue.push_batch =
        on_gpu ? (Function::kMostFar + Lists::kLanes - 1) / Lists::kLanes : Function::kMostFar;
  }

  template <class Lists>
  static std::uint32_t chosen_keep(const graph::Shard& shard) {
    if (!std::is_same_v<Lists, WarpLists>) return Lists::kVertices;
    // Of a round; about two for each lane of a warp. Vertices that find no place go through a
    // queue, late, and those beyond them are reached first by ways around: most redundant work is
    // theirs.
    constexpr double kRoundEdges = 64.0;
    return std::max(1u, static_cast<std::uint32_t>(kRoundEdges / mean_degree(shard)));
  }

  static constexpr std::uint32_t kLevels = 4;  ///< Of priority.
  memory::GlobalArray<Word> best_;
  memory::Buffer<WorkTally> tally_;
  memory::Buffer<std::int32_t> int_weights_;  ///< Of a shard whose weights are bytes.
  std::optional<schedule::TaskQueue<SearchTask<Word>>> queue_;
  SearchProblem<Metric> problem_;
  bool has_blocks_ = false;
};

/// Vertices reached, and their out-edges, over the team.
struct Reach {
  std::uint64_t reached = 0;
  std::uint64_t edges = 0;
};

template <class Word>
Reach count_reach(team::Team& team, const graph::Shard& shard, const exec::Stream& stream,
                  const std::vector<Word>& own) {
  std::vector<EdgeOffset> offsets(own.size() + 1);
  if (!own.empty()) {
    exec::copy(stream, offsets.data(), shard.out.offsets, offsets.size() * sizeof(EdgeOffset));
    stream.synchronize();
  }
  Reach mine;
  for (std::size_t row = 0; row < own.size(); ++row) {
    if (own[row] == static_cast<Word>(~Word{0})) continue;
    ++mine.reached;
    mine.edges += offsets[row + 1] - offsets[row];
  }
  Reach all;
  for (const Reach& part : team.all_gather(mine)) {
    all.reached += part.reached;
    all.edges += part.edges;
  }
  return all;
}

void check_source(const graph::Shard& shard, Vertex source) {
  require(source < shard.vertices,
          fmt::format("source {} is no vertex: the graph has {} vertices, numbered from 0", source,
                      shard.vertices));
}

}  // namespace

class AsyncSearchMemory {
 public:
  template <class Metric>
  AsyncSearchMemory(team::Team& team, const graph::Shard& shard, const AsyncOptions& options,
                    double delta, const exec::Stream& stream, Metric)
      : words_(std::in_place_type<SearchWords<Metric>>, team, shard, options, delta, stream) {}

  template <class Metric>
  [[nodiscard]] SearchWords<Metric>& of() {
    return std::get<SearchWords<Metric>>(words_);
  }

 private:
  std::variant<SearchWords<DepthMetric>, SearchWords<WholeDistance>, SearchWords<RealDistance>>
      words_;
};

// BFS.

AsyncBfs::AsyncBfs(team::Team& team, const graph::Shard& shard, const AsyncOptions& options)
    : team_(team), shard_(shard), options_(options), stream_(team.device()) {
  graph::require_plain_lists(shard, "asynchronous BFS");
  memory_ = std::make_unique<AsyncSearchMemory>(
      team, shard, options, options.delta > 0.0 ? options.delta : 1.0, stream_, DepthMetric{});
}
AsyncBfs::~AsyncBfs() = default;

BfsResult AsyncBfs::run(Vertex source) {
  check_source(shard_, source);
  BfsResult result;
  const double begin = now_seconds();
  auto& words = memory_->of<DepthMetric>();
  result.seconds = words.search(team_, stream_, source, options_.form, report_);
  const auto own = words.own(stream_);
  const Reach reach = count_reach(team_, shard_, stream_, own);
  result.reached = reach.reached;
  result.edges = reach.edges;
  struct Depths {
    std::uint32_t max = 0;
    std::uint64_t sum = 0;
  } mine;
  for (const std::uint64_t word : own) {
    if (word == DepthMetric::kUnreached) continue;
    mine.max = std::max(mine.max, static_cast<std::uint32_t>(word >> 32));
    mine.sum += word >> 32;
  }
  for (const Depths& part : team_.all_gather(mine)) {
    result.max_depth = std::max(result.max_depth, part.max);
    result.sum_depth += part.sum;
  }
  if (shard_.edges_placement == graph::EdgesPlacement::host)
    result.far_bytes = report_.edges * sizeof(Vertex);
  report_.redundancy = static_cast<double>(report_.expanded) /
                       static_cast<double>(std::max<std::uint64_t>(1, reach.reached));
  trace_report("bfs (asynchronous)", team_.rank(), begin, begin + result.seconds, report_);
  return result;
}

std::vector<Vertex> AsyncBfs::depth() const {
  return memory_->of<DepthMetric>().values<HighHalf>().to_host(stream_);
}
std::vector<Vertex> AsyncBfs::parent() const {
  return memory_->of<DepthMetric>().values<LowHalf>().to_host(stream_);
}
void AsyncBfs::write(Vertex* depth, Vertex* parent) const {
  memory_->of<DepthMetric>().values<HighHalf>().write(stream_, depth);
  memory_->of<DepthMetric>().values<LowHalf>().write(stream_, parent);
}

std::vector<Vertex> AsyncBfs::all_depths() const { return on_all(team_, depth()); }
std::vector<Vertex> AsyncBfs::all_parents() const { return on_all(team_, parent()); }

// SSSP.

namespace {

using WholeWords = IntegerMetric<std::uint64_t>;  // Of WholeDistance.

template <class Metric>
double distance_of(typename Metric::Word word) {
  using Words = std::conditional_t<std::is_same_v<Metric, RealDistance>, RealMetric, WholeWords>;
  return RealDistanceOf<Words>{}(word);
}

template <class Metric>
SsspResult add_up(const std::vector<typename Metric::Word>& own) {
  SsspResult part;
  for (const auto word : own) {
    if (word == Metric::kUnreached) continue;
    if constexpr (!std::is_same_v<Metric, RealDistance>) {
      part.max_distance = std::max(part.max_distance, word);
      add_to_sum(part, word);
    }
    part.max_real_distance = std::max(part.max_real_distance, distance_of<Metric>(word));
    part.sum_real_distance += distance_of<Metric>(word);
  }
  return part;
}

template <class Metric>
SsspResult search(team::Team& team, const graph::Shard& shard, const exec::Stream& stream,
                  SearchWords<Metric>& words, Vertex source, schedule::Form form,
                  AsyncReport& report) {
  SsspResult result;
  const double begin = now_seconds();
  result.seconds = words.search(team, stream, source, form, report);
  const auto own = words.own(stream);
  const Reach reach = count_reach(team, shard, stream, own);
  result.reached = reach.reached;
  result.edges = reach.edges;
  add_distances_of_ranks(team, add_up<Metric>(own), result);
  result.relaxed_edges = report.edges;
  result.steps = report.queue.rounds;
  if (shard.edges_placement == graph::EdgesPlacement::host)
    result.far_bytes = report.edges * (sizeof(Vertex) + sizeof(float));
  report.redundancy = static_cast<double>(report.expanded) /
                      static_cast<double>(std::max<std::uint64_t>(1, reach.reached));
  trace_report("sssp (asynchronous)", team.rank(), begin, begin + result.seconds, report);
  return result;
}

}  // namespace

AsyncSssp::AsyncSssp(team::Team& team, const graph::Shard& shard, const AsyncOptions& options)
    : team_(team), shard_(shard), options_(options), stream_(team.device()) {
  require(options.delta >= 0.0 && std::isfinite(options.delta),
          fmt::format("delta {}: give a number above 0, or 0 to have it chosen", options.delta));
  graph::require_plain_lists(shard, "shortest paths");
  const SsspWeights weights = survey_weights(team, shard, stream_, "shortest paths");
  is_integer_ = weights.is_integer;
  if (options_.delta == 0.0) options_.delta = weights.mean > 0.0 ? 2.0 * weights.mean : 1.0;
  if (is_integer_) {
    memory_ = std::make_unique<AsyncSearchMemory>(team, shard, options_, options_.delta, stream_,
                                                  WholeDistance{});
  } else {
    memory_ = std::make_unique<AsyncSearchMemory>(team, shard, options_, options_.delta, stream_,
                                                  RealDistance{});
  }
}
AsyncSssp::~AsyncSssp() = default;

SsspResult AsyncSssp::run(Vertex source) {
  check_source(shard_, source);
  SsspResult result = is_integer_ ? search(team_, shard_, stream_, memory_->of<WholeDistance>(),
                                           source, options_.form, report_)
                                  : search(team_, shard_, stream_, memory_->of<RealDistance>(),
                                           source, options_.form, report_);
  result.delta = options_.delta;
  return result;
}

std::vector<std::uint64_t> AsyncSssp::distance() const {
  require(is_integer_, "the weights are real numbers: ask for the real distances");
  return memory_->of<WholeDistance>().own(stream_);
}
std::vector<double> AsyncSssp::real_distance() const {
  return is_integer_
             ? memory_->of<WholeDistance>().values<RealDistanceOf<WholeWords>>().to_host(stream_)
             : memory_->of<RealDistance>().values<RealDistanceOf<RealMetric>>().to_host(stream_);
}
void AsyncSssp::write_distance(std::uint64_t* to) const {
  require(is_integer_, "the weights are real numbers: ask for the real distances");
  memory_->of<WholeDistance>().values<WholeDistanceOf<WholeWords>>().write(stream_, to);
}
void AsyncSssp::write_real_distance(double* to) const {
  if (is_integer_) {
    memory_->of<WholeDistance>().values<RealDistanceOf<WholeWords>>().write(stream_, to);
  } else {
    memory_->of<RealDistance>().values<RealDistanceOf<RealMetric>>().write(stream_, to);
  }
}

std::vector<std::uint64_t> AsyncSssp::all_distances() const { return on_all(team_, distance()); }
std::vector<double> AsyncSssp::all_real_distances() const { return on_all(team_, real_distance()); }

// The choice.

ModeChoice choose_mode(const ModeEvidence& evidence) {
  constexpr std::uint64_t kManyLevels = 256;
  constexpr double kSmallLevel = 16384.0;
  const double level = static_cast<double>(evidence.reached) /
                       static_cast<double>(std::max<std::uint64_t>(1, evidence.levels));
  const bool is_even = are_even(evidence.max_degree, evidence.mean_degree);
  const std::string levels =
      fmt::format("{} levels of {:.0f} vertices on average", evidence.levels, level);
  if (!evidence.on_gpu) return {false, "on the CPU a level costs little"};
  if (evidence.levels < kManyLevels)
    return {false, levels + ": too few to be worth redundant work"};
  if (level > kSmallLevel) return {false, levels + ": enough to fill the device"};
  if (!is_even)
    return {false, fmt::format("{}, but degrees up to {}: much would be worked on twice", levels,
                               evidence.max_degree)};
  return {true, levels + ", and degrees differ little"};
}

ModeChoice choose_mode(team::Team& team, const graph::Shard& shard, std::uint64_t reached,
                       std::uint64_t levels, bool is_weighted) {
  if (shard.edges_placement == graph::EdgesPlacement::compressed_host)
    return {false, "the asynchronous form reads plain lists"};
  ModeEvidence evidence;
  evidence.on_gpu = team.device().is_cuda();
  evidence.reached = reached;
  evidence.levels = levels;
  evidence.is_weighted = is_weighted;
  evidence.mean_degree = static_cast<double>(shard.edges) /
                         static_cast<double>(std::max<std::uint64_t>(1, shard.vertices));
  if (evidence.on_gpu) evidence.max_degree = graph::max_out_degree(team, shard);
  return choose_mode(evidence);
}

}  // namespace warren::traverse
