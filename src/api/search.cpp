// SPDX-License-Identifier: Apache-2.0
// Breadth-first search and shortest paths.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "warren/traverse/search_figures.hpp"
#include "warren/traverse/sources.hpp"

#include "api/call.hpp"
#include "api/streamed.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

/// Steps of a search, which tell what form fits the graph.
std::uint64_t levels_of(const traverse::BfsResult& found) {
  return std::uint64_t{found.max_depth} + 1;
}
std::uint64_t levels_of(const traverse::SsspResult& found) { return found.steps; }

/// Runs the form that fits: in automatic mode what the first search found decides about those after
/// it. Gives the last run's result, and sets whether it was asynchronous, on every rank.
template <class Sync, class Async>
auto search(team::Team& team, const RankGraph& rank, Mode mode, const RunOptions& run,
            std::optional<traverse::ModeChoice>& known, bool is_weighted, RunInfo& info,
            bool& is_async, Sync&& sync, Async&& async) {
  is_async = api::is_async(mode, known);
  const auto once = [&] { return is_async ? async() : sync(); };
  const auto choose = [&](const auto& found) {
    if (mode != Mode::automatic || known || team.spans_hosts()) return;  // There by steps alone.
    known = traverse::choose_mode(team, rank.shard, found.reached, levels_of(found), is_weighted);
  };
  if (run.repeat > 0 && run.warm_up) {
    choose(once());
    if (is_async != api::is_async(mode, known)) {
      is_async = !is_async;
      (void)once();
    }
  }
  const bool was_known = known.has_value();
  auto result = api::timed_runs(team, run, info, once);
  if (team.reports()) {
    info.mode = is_async ? Mode::asynchronous : Mode::synchronous;
    if (mode == Mode::automatic && was_known) info.mode_reason = known->reason;
    info.bytes_read = result.far_bytes;
  }
  choose(result);
  return result;
}

constexpr const char* kLimitReason = "a search with a limit goes step by step";
constexpr const char* kSourcesReason = "a search from several vertices goes step by step";

/// The numbers of the shards' vertices in place of the graph's.
traverse::BfsLimits in_shard(const RankGraph& rank, traverse::BfsLimits limits) {
  limits.targets = rank.to_shard(std::move(limits.targets));
  return limits;
}
traverse::SsspLimits in_shard(const RankGraph& rank, traverse::SsspLimits limits) {
  limits.targets = rank.to_shard(std::move(limits.targets));
  return limits;
}

/// The numerator of TEPS: of a graph that may have self-loops these are looked for.
template <class IsReached>
std::uint64_t traversed_edges(Call& call, const Graph& graph, std::uint64_t edges,
                              bool is_symmetric, bool counts_self_loops, IsReached&& is_reached) {
  if (!counts_self_loops || !call.has_ranges())
    return traverse::input_edges(edges, is_symmetric, counts_self_loops ? &graph.csr() : nullptr,
                                 is_reached);
  std::uint64_t self_loops = 0;  // Each rank looks at its own vertices.
  call.run([&](team::Team& team, RankGraph& rank) {
    graph::CsrView lists = rank.shard.out;
    if (const auto& rows = graph.state()->rows(); rows != nullptr) {  // Those may be on a GPU.
      lists.offsets = rows->graph()->offsets.data() + lists.first;
      lists.targets = rows->graph()->targets.data();
    }
    const std::uint64_t own = traverse::count_self_loops(lists, is_reached);
    self_loops = team.all_reduce(own, std::plus<std::uint64_t>());
  });
  return (edges + self_loops) / 2;
}

/// Self-loops of a graph that GPUs drew are not looked for: it is not in host memory.
bool may_count_self_loops(const Graph& graph, const Call& call, bool wants_figures) {
  return wants_figures && graph.state()->facts().may_have_self_loops &&
         (!call.draws() || call.has_ranges());
}

/// Of a search's options.
template <class Options>
std::vector<Vertex> sources_of(const Graph& graph, const Options& options) {
  if (options.sources.empty()) {
    api::check_vertex(graph, options.source, "source");
    return {options.source};
  }
  require(options.source == 0, fmt::format("source: got {} and {} sources; give one or the other",
                                           options.source, options.sources.size()));
  require(options.sources.size() == 1 || options.mode != Mode::asynchronous,
          "sources: an asynchronous search starts at one vertex; leave the mode automatic");
  for (const Vertex source : options.sources) api::check_vertex(graph, source, "sources");
  return options.sources;
}

void check_targets(const Graph& graph, const std::vector<Vertex>& targets) {
  for (const Vertex target : targets) api::check_vertex(graph, target, "targets");
}

/// What has limits is searched step by step: tasks know of none.
template <class Options>
Mode mode_of(const Options& options, bool is_limited) {
  const bool goes_by_steps = is_limited || !options.targets.empty();
  return options.mode == Mode::automatic && goes_by_steps ? Mode::synchronous : options.mode;
}

/// Where a search with limits would have ended, by what it found without them.
template <class T>
T limit_of(std::span<const T> values, const std::vector<Vertex>& targets, T limit, T unreached) {
  if (targets.empty()) return limit;
  T farthest{};
  for (const Vertex target : targets) {
    if (values[target] == unreached) return limit;
    farthest = std::max(farthest, values[target]);
  }
  return std::min(limit, farthest);
}

}  // namespace

namespace {

/// What is beyond the limits of a search that had none is not reached.
void cut_off(BfsResult& all, std::span<Vertex> depths, std::span<Vertex> parents,
             const std::vector<Vertex>& targets, std::uint32_t depth_limit) {
  const Vertex limit = limit_of<Vertex>(depths, targets, depth_limit, kNoVertex);
  all.max_depth = std::min(all.max_depth, limit);
  for (std::size_t v = 0; v < depths.size(); ++v) {
    if (depths[v] == kNoVertex || depths[v] <= limit) continue;
    depths[v] = kNoVertex;
    parents[v] = kNoVertex;
    --all.reached;
  }
}

/// The rank's search, one level after the other.
traverse::Bfs& sync_bfs(team::Team& team, RankGraph& rank, bool adds_up) {
  if (rank.bfs && rank.bfs_adds_up == adds_up) return *rank.bfs;
  rank.bfs.reset();
  traverse::BfsOptions options;
  options.adds_up = adds_up;
  rank.bfs = std::make_unique<traverse::Bfs>(team, rank.shard, options);
  rank.bfs_adds_up = adds_up;
  return *rank.bfs;
}

}  // namespace

BfsResult bfs(const Graph& graph, const BfsOptions& options) {
  const std::vector<Vertex> sources = sources_of(graph, options);
  check_targets(graph, options.targets);
  const Mode mode = mode_of(options, sources.size() > 1 || options.depth_limit.has_value());
  const traverse::BfsLimits limits{options.depth_limit.value_or(traverse::BfsLimits::kNoDepth),
                                   options.targets};
  const bool is_limited = options.depth_limit.has_value() || !options.targets.empty();
  const bool looks_at_depths = options.run.verify || options.deterministic ||
                               (is_limited && options.mode == Mode::asynchronous);
  if (options.edges == Edges::file) return api::streamed_bfs(graph, sources, options);
  Call call(graph, api::call_options(traverse::Traversal::bfs, options));
  const bool may_count_loops = may_count_self_loops(graph, call, options.figures);
  BfsResult all;
  traverse::BfsResult last;
  bool is_symmetric = false;
  api::Output<Vertex> depth(graph.vertices()), parent(graph.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    const std::vector<Vertex> from = rank.to_shard(sources);
    const traverse::BfsLimits own_limits = in_shard(rank, limits);
    const auto sync = [&] { return sync_bfs(team, rank, options.figures).run(from, own_limits); };
    const auto async = [&] {
      if (!rank.async_bfs) rank.async_bfs = std::make_unique<traverse::AsyncBfs>(team, rank.shard);
      return rank.async_bfs->run(from.front());
    };
    bool is_async = false;
    const traverse::BfsResult found = search(team, rank, mode, options.run, rank.bfs_mode, false,
                                             call.info, is_async, sync, async);
    ResultArrays arrays = options.run.arrays;
    if (arrays == ResultArrays::none &&
        (looks_at_depths || (may_count_loops && rank.shard.is_symmetric)))
      arrays = ResultArrays::host;
    const auto tell = [&](const auto& form) {
      if (options.levels) {
        auto levels = traverse::level_sizes(team, form.depth());
        if (team.reports()) all.levels = std::move(levels);
      }
      api::put(
          team, rank, arrays, [&](Vertex* to, Vertex* via) { form.write(to, via); },
          [&] { return std::tuple(form.all_depths(), form.all_parents()); }, depth, parent);
    };
    if (is_async)
      tell(*rank.async_bfs);
    else
      tell(*rank.bfs);
    if (!team.reports()) return;
    if (is_async) call.info.report = api::told(rank.async_bfs->report());
    last = found;
    is_symmetric = rank.shard.is_symmetric;
  });
  all.sources = sources;
  all.reached = last.reached;
  all.max_depth = last.max_depth;
  all.level_ranks = last.ranks;
  call.put_in_order(depth);
  call.put_in_order(parent, true);
  if (mode != options.mode) call.info.mode_reason = is_limited ? kLimitReason : kSourcesReason;
  if (call.info.mode == Mode::asynchronous && is_limited)
    cut_off(all, depth.on_host(), parent.on_host(), options.targets, limits.depth);
  all.depth = depth.take();
  all.parent = parent.take();
  if (options.figures) {
    all.figures.sum_depth = last.sum_depth;
    const bool counts_loops = may_count_loops && is_symmetric;
    const std::span<const Vertex> depths =
        counts_loops ? all.depth.host() : std::span<const Vertex>();
    all.figures.traversed_edges =
        traversed_edges(call, graph, last.edges, is_symmetric, counts_loops,
                        [&](Vertex v) { return depths[v] != kNoVertex; });
  }
  if (options.run.verify) {
    call.verify([&](const graph::Graph& csr, exec::ThreadPool& pool) {
      return traverse::verify_bfs(csr, sources, all.depth.host(), all.parent.host(), pool, limits);
    });
  }
  if (options.deterministic) {
    const graph::Graph& csr = call.csr();
    call.teams().on_host([&](exec::ThreadPool& pool) {
      parent.adopt(traverse::smallest_parents(csr, sources, all.depth.host(), pool));
    });
    all.parent = parent.take();
  }
  if (options.run.arrays == ResultArrays::none) all.depth = all.parent = {};
  all.info = std::move(call.info);
  return all;
}

namespace {

/// One run: all sources, as many at a time as a pass takes.
struct Passes {
  std::vector<traverse::SourceReach> reach;
  double seconds = 0.0;
};

Passes run_passes(traverse::ManySourceBfs& bfs, const std::vector<Vertex>& sources) {
  Passes passes;
  constexpr std::size_t kMost = traverse::ManySourceBfs::kMaxSources;
  for (std::size_t first = 0; first < sources.size(); first += kMost) {
    const std::size_t count = std::min(sources.size() - first, kMost);
    const auto found = bfs.run(std::span(sources).subspan(first, count));
    passes.seconds += found.seconds;
    passes.reach.insert(passes.reach.end(), found.sources.begin(), found.sources.end());
  }
  return passes;
}

/// Whether searches one at a time find the same.
bool is_as_alone(traverse::Bfs& bfs, const std::vector<traverse::SourceReach>& reach) {
  bool is_same = true;
  for (const traverse::SourceReach& told : reach) {
    const traverse::BfsResult alone = bfs.run(told.source);
    is_same = is_same && alone.reached == told.reached && alone.max_depth == told.max_depth &&
              alone.sum_depth == told.sum_depth;
  }
  return is_same;
}

}  // namespace

BfsTogetherResult bfs_together(const Graph& graph, const BfsTogetherOptions& options) {
  require(!options.sources.empty(), "sources: got none, expected one vertex or more");
  for (const Vertex source : options.sources) api::check_vertex(graph, source, "sources");
  Call call(graph, api::call_options(traverse::Traversal::bfs, options));
  BfsTogetherResult all;
  call.run([&](team::Team& team, RankGraph& rank) {
    if (!rank.many_source_bfs)
      rank.many_source_bfs = std::make_unique<traverse::ManySourceBfs>(team, rank.shard);
    const std::vector<Vertex> from = rank.to_shard(options.sources);
    const Passes passes = api::runs_of(team, options.run, call.info,
                                       [&] { return run_passes(*rank.many_source_bfs, from); });
    const bool is_correct =
        !options.run.verify || is_as_alone(sync_bfs(team, rank, true), passes.reach);
    if (!team.reports()) return;
    if (options.run.verify)
      call.info.verdict =
          Verdict{is_correct, is_correct ? ""
                                         : "the searches together differ from those one at a "
                                           "time"};
    all.reach.clear();
    for (std::size_t s = 0; s < from.size(); ++s) {
      const traverse::SourceReach& told = passes.reach[s];
      all.reach.push_back({options.sources[s], told.reached, told.max_depth, told.sum_depth});
    }
  });
  all.info = std::move(call.info);
  return all;
}

Vertex busiest_vertex(const Graph& graph) {
  if (const auto& file = graph.state()->file(); file != nullptr) return file->busiest();
  return traverse::busiest_vertex(graph.csr());
}

std::vector<Vertex> random_sources(const Graph& graph, std::uint64_t count, std::uint64_t seed) {
  if (const auto& file = graph.state()->file(); file != nullptr)
    return traverse::random_sources(*file, count, seed, "count");
  return traverse::random_sources(graph.csr(), count, seed, "count");
}

namespace {

void check_weights(const Graph& graph, const SsspOptions& options) {
  require(std::isfinite(options.delta) && options.delta >= 0.0,
          fmt::format("delta: got {}, expected a width above 0, or 0 to choose", options.delta));
  require(!options.cutoff || *options.cutoff >= 0.0,
          fmt::format("cutoff: got {}, expected a distance of 0 or more",
                      options.cutoff.value_or(0.0)));
  require(graph.is_weighted() || graph.edges() == 0,
          "sssp: the graph has no weights, and shortest paths need some; bfs counts edges");
  // Ranks with rows of their own look at these, when the search is made.
  if (graph.state()->has_good_weights() || graph.is_read_by_ranges()) return;
  (void)graph.csr();
  const Session session = api::session_of(options.session);
  session.teams()->on_host([&](exec::ThreadPool& pool) { graph.state()->check_weights(pool); });
}

/// Forgets what is beyond the limits of a search that had none; how many that were.
template <class T>
std::uint64_t cut_off(api::Output<T>& distances, T unreached, const traverse::SsspLimits& limits) {
  std::uint64_t forgotten = 0;
  const std::span<T> values = distances.on_host();
  const T all = std::numeric_limits<T>::max();
  const T farthest = limit_of<T>(values, limits.targets, all, unreached);
  for (T& value : values) {
    if (value == unreached || (value <= farthest && static_cast<double>(value) <= limits.cutoff))
      continue;
    value = unreached;
    ++forgotten;
  }
  return forgotten;
}

/// In the units in which the graph holds its weights.
double cutoff_of(const Graph& graph, const SsspOptions& options) {
  if (!options.cutoff) return traverse::SsspLimits::kNoCutoff;
  const graph::WeightReport& weights = graph.weights_read();
  const std::int32_t scale = weights.scale;
  // A path of weights that were rounded may be longer than that of the file's by `rounding`, which
  // is a rounded number, too.
  if (scale == 1) return *options.cutoff * (1.0 + 2.0 * weights.rounding);
  // 0.29 in hundredths is 28.999999999999996, by the product's rounding.
  return *options.cutoff * scale * (1.0 + 2.0 * std::numeric_limits<double>::epsilon());
}

traverse::Sssp& sync_sssp(team::Team& team, RankGraph& rank, double delta, bool adds_up) {
  if (rank.sssp && rank.sssp_delta == delta && rank.sssp_adds_up == adds_up) return *rank.sssp;
  rank.sssp.reset();
  traverse::SsspOptions options;
  options.delta = delta;
  options.adds_up = adds_up;
  rank.sssp = std::make_unique<traverse::Sssp>(team, rank.shard, options);
  rank.sssp_delta = delta;
  rank.sssp_adds_up = adds_up;
  return *rank.sssp;
}

traverse::AsyncSssp& async_sssp(team::Team& team, RankGraph& rank, double delta) {
  if (rank.async_sssp && rank.async_delta == delta) return *rank.async_sssp;
  rank.async_sssp.reset();
  traverse::AsyncOptions options;
  options.delta = delta;
  rank.async_sssp = std::make_unique<traverse::AsyncSssp>(team, rank.shard, options);
  rank.async_delta = delta;
  return *rank.async_sssp;
}

SsspFigures figures_of(const traverse::SsspResult& found) {
  SsspFigures figures;
  figures.max_distance = found.max_distance;
  figures.sum_distance = found.sum_distance;
  figures.sum_distance_high = found.sum_distance_high;
  figures.max_real_distance = found.max_real_distance;
  figures.sum_real_distance = found.sum_real_distance;
  figures.edges = found.edges;
  figures.relaxed_edges = found.relaxed_edges;
  figures.steps = found.steps;
  figures.delta = found.delta;
  return figures;
}

/// The edge conditions, and whether weights are known well enough for them to say something.
/// `drawn`: by what weights are computed that the ranks drew and `csr` does not have.
traverse::Verdict check_distances(const graph::Graph& csr,
                                  const std::optional<graph::UniformWeights>& drawn,
                                  const SsspResult& all, const traverse::SsspLimits& limits,
                                  double rounding, exec::ThreadPool& pool) {
  traverse::Verdict verdict;
  if (all.is_integer) {
    // -1 is kUnreachedDistance.
    const std::span<const std::int64_t> signed_distance = all.distance.host();
    const std::span distance(reinterpret_cast<const std::uint64_t*>(signed_distance.data()),
                             signed_distance.size());
    verdict = drawn ? traverse::verify_sssp(csr, *drawn, all.sources, distance, pool, limits)
                    : traverse::verify_sssp(csr, all.sources, distance, pool, limits);
  } else {
    verdict = traverse::verify_sssp(csr, all.sources, all.real_distance.host(), pool, limits);
  }
  // A weight that float32 rounds to 0, say: no statement about rounded weights says anything.
  constexpr double kRounding = 0x1p-23;
  if (!verdict.correct || rounding <= kRounding) return verdict;
  return {false, fmt::format("float32 holds a weight of the file with an error of {:.2g} of its "
                             "size: what the file's own weights make of the distances cannot be "
                             "said",
                             rounding)};
}

}  // namespace

SsspResult sssp(const Graph& graph, const SsspOptions& options) {
  const std::vector<Vertex> sources = sources_of(graph, options);
  check_targets(graph, options.targets);
  check_weights(graph, options);
  const Mode mode = mode_of(options, sources.size() > 1 || options.cutoff.has_value());
  SsspResult all;
  all.sources = sources;
  all.scale = graph.weights_read().scale;
  // A graph without edges has no type of weights: integers, as there is only a distance of 0.
  all.is_integer = graph.state()->weight_type() != graph::WeightType::float32;
  const double delta = options.delta * all.scale;
  const traverse::SsspLimits limits{cutoff_of(graph, options), options.targets};
  const bool is_limited = options.cutoff.has_value() || !options.targets.empty();
  const bool looks_at_distances =
      options.run.verify || (is_limited && options.mode == Mode::asynchronous);
  Call call(graph, api::call_options(traverse::Traversal::sssp, options));
  const bool may_count_loops = may_count_self_loops(graph, call, options.figures);
  api::Output<std::int64_t> distance(graph.vertices());
  api::Output<double> real_distance(graph.vertices());
  traverse::SsspResult last;
  bool is_symmetric = false;
  call.run([&](team::Team& team, RankGraph& rank) {
    const std::vector<Vertex> from = rank.to_shard(sources);
    const traverse::SsspLimits own_limits = in_shard(rank, limits);
    const auto sync = [&] {
      return sync_sssp(team, rank, delta, options.figures).run(from, own_limits);
    };
    const auto async = [&] { return async_sssp(team, rank, delta).run(from.front()); };
    bool is_async = false;
    const traverse::SsspResult found = search(team, rank, mode, options.run, rank.sssp_mode, true,
                                              call.info, is_async, sync, async);
    ResultArrays arrays = options.run.arrays;
    if (arrays == ResultArrays::none &&
        (looks_at_distances || (may_count_loops && rank.shard.is_symmetric)))
      arrays = ResultArrays::host;
    const auto tell = [&](const auto& form) {
      if (all.is_integer) {
        // kUnreachedDistance becomes -1.
        const auto write = [&](std::int64_t* to) {
          form.write_distance(reinterpret_cast<std::uint64_t*>(to));
        };
        const auto every = [&] {
          const std::vector<std::uint64_t> found_distance = form.all_distances();
          return std::tuple(
              std::vector<std::int64_t>(found_distance.begin(), found_distance.end()));
        };
        api::put(team, rank, arrays, write, every, distance);
      } else {
        api::put(
            team, rank, arrays, [&](double* to) { form.write_real_distance(to); },
            [&] { return std::tuple(form.all_real_distances()); }, real_distance);
      }
    };
    if (is_async)
      tell(*rank.async_sssp);
    else
      tell(*rank.sssp);
    if (!team.reports()) return;
    if (is_async) call.info.report = api::told(rank.async_sssp->report());
    last = found;
    is_symmetric = rank.shard.is_symmetric;
  });
  all.reached = last.reached;
  call.put_in_order(distance);
  call.put_in_order(real_distance);
  if (mode != options.mode) call.info.mode_reason = is_limited ? kLimitReason : kSourcesReason;
  const bool is_whole = call.info.mode == Mode::asynchronous && is_limited;
  if (is_whole && all.is_integer)
    all.reached -= cut_off(distance, std::int64_t{-1}, limits);
  else if (is_whole)
    all.reached -= cut_off(real_distance, std::numeric_limits<double>::infinity(), limits);
  all.distance = distance.take();
  all.real_distance = real_distance.take();
  if (options.figures) {
    all.figures = figures_of(last);
    const bool counts_loops = may_count_loops && is_symmetric;
    const auto distances = counts_loops ? all.distance.host() : std::span<const std::int64_t>();
    const auto reals = counts_loops ? all.real_distance.host() : std::span<const double>();
    all.figures.traversed_edges = traversed_edges(
        call, graph, last.edges, is_symmetric, counts_loops,
        [&](Vertex v) { return all.is_integer ? distances[v] >= 0 : std::isfinite(reals[v]); });
  }
  if (options.run.verify) {
    const api::Drawing* drawing = graph.state()->drawing();
    const auto drawn = drawing != nullptr ? drawing->weights : std::nullopt;
    call.verify(
        [&](const graph::Graph& csr, exec::ThreadPool& pool) {
          return check_distances(csr, drawn, all, limits, graph.weights_read().rounding, pool);
        },
        Call::Checked::lists);
  }
  if (options.run.arrays == ResultArrays::none) {
    all.distance = {};
    all.real_distance = {};
  }
  all.info = std::move(call.info);
  return all;
}

}  // namespace warren
