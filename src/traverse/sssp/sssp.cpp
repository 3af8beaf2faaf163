// SPDX-License-Identifier: Apache-2.0
// The host side of SSSP: memory, the width of a bin, and the choice of words and backend.
#include "warren/traverse/sssp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <variant>

#include <fmt/format.h>

#include "warren/core/trace.hpp"
#include "warren/graph/byte_weights.hpp"
#include "warren/graph/edge_chunks.hpp"

#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/program_memory.hpp"
#include "traverse/common/without_repeats.hpp"
#include "traverse/sssp/sssp_narrow.hpp"
#include "traverse/sssp/sssp_run.hpp"
#include "traverse/sssp/sssp_totals.hpp"
#include "traverse/sssp/sssp_weights.hpp"

namespace warren::traverse {
namespace {

using memory::Buffer;
using NarrowMetric = IntegerMetric<std::uint32_t>;
using WideMetric = IntegerMetric<std::uint64_t>;

/// The memory of a search with words of one kind.
template <class Metric>
class SsspWords {
 public:
  using Word = typename Metric::Word;

  SsspWords(team::Team& team, const graph::Shard& shard, const exec::Stream& stream, bool scans)
      : device_(team.device()) {
    const std::uint64_t own = shard.out.count;
    const auto ranks = static_cast<std::size_t>(team.size());
    program_.out = shard.out;
    if constexpr (std::is_same_v<Metric, ByteMetric>) {
      if (!shard.has_byte_weights) {
        narrow_ = narrow_weights(stream, shard.out);
        program_.out.weights_byte =
            graph::rebased(narrow_.data(), graph::edge_range(stream, shard.out).first);
      }
    } else if (shard.has_byte_weights) {
      // Sums of bytes that 32 bits do not hold are those of paths of 2^24 edges and more.
      program_.out = graph::with_int_weights(stream, shard.out, int_weights_);
    }
    program_.packed = shard.packed_out;
    program_.rank = team.rank();
    program_.ranks = team.size();
    program_.vertices = shard.vertices;
    program_.words = bitmap_words(shard.vertices);
    for (std::size_t q = 0; q <= ranks; ++q) program_.cuts[q] = shard.cuts[q];
    program_.capacity = queue_capacity(own, graph::edge_range(stream, shard.out).count());

    program_.distance = take(device_, distance_, shard.vertices);
    program_.base = take(device_, base_, 1);
    program_.nearest = take(device_, nearest_, 3);
    // Scans find a bin's vertices among the distances: 80 bytes a vertex less.
    if (!scans) program_.bins = take(device_, bins_, exec::bytes_of(program_.capacity, kSsspBins));
    program_.bin_counts = take(device_, bin_counts_, kSsspBins);
    program_.far_count = take(device_, far_count_, 2);
    program_.again_count = take(device_, again_count_, 3);
    for (std::size_t i = 0; i < 2; ++i) {
      if (!scans) program_.far[i] = take(device_, far_[i], own);
      program_.again[i] = take(device_, again_[i], program_.capacity);
      program_.queued[i] = take(device_, queued_[i], program_.words);
    }
    if (shard.edges_placement != graph::EdgesPlacement::device) {
      program_.chunks = graph::make_edge_chunks(stream, shard.out, chunk_rows_);
      for (std::size_t i = 0; i < 2; ++i)
        program_.in_bin[i] = take(device_, in_bin_[i], program_.words);
    }
    program_.update_counts = take(device_, update_counts_, 2 * kMaxRanks);
    program_.farthest = take(device_, farthest_, 1);
    if (ranks > 1) {
      program_.sent = take(device_, sent_, program_.words);
      program_.send_buffer = take(device_, send_buffer_, shard.vertices);
      if (scans || team.needs_windows())
        program_.sent_distances = take(device_, sent_distances_, shard.vertices);
    }
    const auto rank = static_cast<std::size_t>(team.rank());
    const std::uint64_t first = shard.cuts[rank], end = shard.cuts[rank + 1];
    windows_.share(team, nearest_, program_.nearest_of);
    windows_.share(team, send_buffer_, program_.send_buffer_of, first, end);
    windows_.share(team, update_counts_, program_.update_counts_of);
    if (scans || team.needs_windows())
      windows_.share(team, sent_distances_, program_.sent_distances_of, first, end);
    program_.distances_by_windows = team.needs_windows();
    if (!team.needs_windows()) {
      share(team, program_.distance, program_.distance_of);
    }
  }

  template <bool kPacked>
  [[nodiscard]] SsspProgram<Metric, kPacked> program() const {
    // The same members: what differs is how the lists are walked.
    return std::bit_cast<SsspProgram<Metric, kPacked>>(program_);
  }
  /// Before a search. No repeats among the targets.
  void set_limits(const exec::Stream& stream, double cutoff, std::span<const Vertex> targets) {
    program_.bound = Metric::beyond(cutoff);
    bound_ = program_.bound;
    program_.wanted_count = targets.size();
    if (targets.empty()) return;
    if (targets_.size() < targets.size()) targets_ = Buffer<Vertex>(device_, targets.size());
    targets_.upload(stream, targets);
    exec::fill_bytes(stream, farthest_.data(), 0, farthest_.bytes());
    stream.synchronize();
    program_.wanted = targets_.data();
  }
  /// Before a search. No repeats.
  void set_sources(const exec::Stream& stream, std::span<const Vertex> sources) {
    program_.source = sources.front();
    program_.source_count = sources.size() > 1 ? sources.size() : 0;
    if (program_.source_count == 0) return;
    if (sources_.size() < sources.size()) sources_ = Buffer<Vertex>(device_, sources.size());
    sources_.upload(stream, sources);
    stream.synchronize();
    program_.sources = sources_.data();
  }
  /// After a search that has settled all targets. Collective.
  void cut_at_targets(team::Team& team, const exec::Stream& stream) {
    bound_ = team.all_reduce(farthest_.to_host(stream).front(), exec::Maximum{}) + 1;
  }
  /// What is as far counts as not reached.
  [[nodiscard]] Word bound() const { return bound_; }
  [[nodiscard]] const Word* own() const { return program_.distance + program_.out.first; }
  [[nodiscard]] std::uint64_t own_count() const { return program_.out.count; }

 private:
  exec::Device device_;
  SsspProgram<Metric, false> program_;
  Word bound_ = Metric::kUnreached;
  Buffer<Vertex> sources_, targets_;
  Buffer<Word> distance_, base_, nearest_, farthest_, sent_distances_;
  Buffer<QueueEntry> bins_, far_[2], again_[2];
  Buffer<std::uint64_t> bin_counts_, far_count_, again_count_, update_counts_;
  Buffer<BitmapWord> queued_[2], in_bin_[2], sent_;
  Buffer<Vertex> send_buffer_, chunk_rows_;
  Buffer<std::uint8_t> narrow_;
  Buffer<std::int32_t> int_weights_;
  ProgramWindows windows_;
};

/// Whose words are the same.
template <class Metric>
using SummaryMetric = std::conditional_t<std::is_same_v<Metric, ByteMetric>, NarrowMetric, Metric>;

/// The width of a bin. Within a bin vertices are worked off in no order, and again when they are
/// improved. Where neighbourhoods grow with every hop that is dear: a bin should hold about the
/// nearest edge of each vertex. In road networks and grids it is cheap, and each bin costs steps.
constexpr double kSparseDegree = 8.0;

double choose_delta(double mean_weight, double mean_degree, double dense, double sparse) {
  return mean_degree <= kSparseDegree ? sparse * mean_weight : dense * mean_weight / mean_degree;
}

double delta_of(const team::Team& team, const graph::Shard& shard, const SsspWeights& weights,
                const SsspOptions& options, bool scans) {
  if (options.delta > 0.0) return options.delta;
  if (weights.mean == 0.0) return 1.0;
  const bool on_gpu = team.device().is_cuda();
  // Far edges are dearer to look at twice than a step is.
  const bool is_far = shard.edges_placement != graph::EdgesPlacement::device;
  const double dense = !on_gpu || is_far ? 1.5 : scans ? 7.0 : 4.0;
  const double chosen = choose_delta(weights.mean, weights.mean_degree, dense, on_gpu ? 40.0 : 8.0);
  return weights.is_integer ? std::max(1.0, chosen) : chosen;
}

bool chooses_scan(const team::Team& team, const SsspWeights& weights, SsspFrontier frontier) {
  constexpr double kScanDegree = 5.0;  // Above grids and road networks.
  if (frontier != SsspFrontier::automatic) return frontier == SsspFrontier::scan;
  return team.device().is_cuda() && weights.mean_degree > kScanDegree;
}

}  // namespace

class SsspMemory {
 public:
  SsspMemory(team::Team& team, const graph::Shard& shard, const exec::Stream& stream,
             const SsspWeights& weights, bool scans)
      : scans_(scans) {
    if (should_narrow(shard, weights)) {
      words_.emplace<SsspWords<ByteMetric>>(team, shard, stream, scans);
    } else if (weights.is_integer) {
      words_.emplace<SsspWords<NarrowMetric>>(team, shard, stream, scans);
    } else {
      words_.emplace<SsspWords<RealMetric>>(team, shard, stream, scans);
    }
  }
  /// From 32 to 64 bits.
  void widen(team::Team& team, const graph::Shard& shard, const exec::Stream& stream) {
    team.barrier();
    words_.emplace<std::monostate>();
    words_.emplace<SsspWords<WideMetric>>(team, shard, stream, scans_);
  }
  /// f(words, metric) with the words there are.
  template <class F>
  void with_words(F&& f) {
    visit(words_, f);
  }
  template <class F>
  void with_words(F&& f) const {
    visit(words_, f);
  }
  /// f(values) with what is told of the vertices: integers, where distances are.
  template <class F>
  void with_distances(F&& f) const {
    with_words([&](const auto& words, auto metric) {
      using Metric = SummaryMetric<decltype(metric)>;
      if constexpr (!std::is_same_v<Metric, RealMetric>)
        f(OwnValues<WholeDistanceOf<Metric>>{words.own(), words.own_count(), {words.bound()}});
    });
  }
  template <class F>
  void with_real_distances(F&& f) const {
    with_words([&](const auto& words, auto metric) {
      using Metric = SummaryMetric<decltype(metric)>;
      f(OwnValues<RealDistanceOf<Metric>>{words.own(), words.own_count(), {words.bound()}});
    });
  }

 private:
  template <class Words, class F>
  static void visit(Words& all, F& f) {
    if (auto* words = std::get_if<SsspWords<NarrowMetric>>(&all)) f(*words, NarrowMetric{});
    if (auto* words = std::get_if<SsspWords<ByteMetric>>(&all)) f(*words, ByteMetric{});
    if (auto* words = std::get_if<SsspWords<WideMetric>>(&all)) f(*words, WideMetric{});
    if (auto* words = std::get_if<SsspWords<RealMetric>>(&all)) f(*words, RealMetric{});
  }

  bool scans_;
  std::variant<std::monostate, SsspWords<NarrowMetric>, SsspWords<ByteMetric>,
               SsspWords<WideMetric>, SsspWords<RealMetric>>
      words_;
};

namespace {

/// Adds up this rank's distances, then those of all ranks in their order.
template <class Metric>
void add_up(team::Team& team, const std::vector<typename Metric::Word>& own,
            typename Metric::Word bound, SsspResult& result) {
  SsspResult part;
  for (const auto word : own) {
    if (word >= bound) continue;
    if constexpr (!std::is_same_v<Metric, RealMetric>) {
      part.max_distance = std::max<std::uint64_t>(part.max_distance, word);
      add_to_sum(part, word);
    }
    const double distance = RealDistanceOf<Metric>{}(word);
    part.max_real_distance = std::max(part.max_real_distance, distance);
    part.sum_real_distance += distance;
  }
  add_distances_of_ranks(team, part, result);
}

/// What the control of either form of a search says in the end.
struct SearchOutcome {
  bool has_overflowed, is_settled;
  std::uint64_t steps, bins, edges, far_bytes;
};

template <class State, class Program>
void set_common(State& state, const team::Team& team, const Program& program) {
  state.ranks = static_cast<std::uint32_t>(team.size());
  state.targets = static_cast<std::uint32_t>(program.wanted_count);
  state.is_bounded = program.bound != Program::Metric::kUnreached;
}

template <class Backend, bool kPacked, class Metric>
SearchOutcome search_queues(team::Team& team, const exec::Stream& stream, const graph::Shard& shard,
                            const SsspProgram<Metric, kPacked>& program) {
  SsspState initial;
  set_common(initial, team, program);
  initial.may_go_by_address = shard.edges_placement != graph::EdgesPlacement::device;
  const SsspState last = SsspSearch<Backend, Metric, kPacked>::run(team, stream, program, initial);
  return {last.has_overflowed, last.is_settled,
          last.steps,          kSsspBins * (last.window + std::uint64_t{1}),
          last.edges,          last.far_bytes};
}

template <class Backend, bool kPacked, class Metric>
SearchOutcome search_scans(team::Team& team, const exec::Stream& stream, const graph::Shard& shard,
                           const SsspProgram<Metric, kPacked>& program, double delta) {
  SsspScanState initial;
  set_common(initial, team, program);
  initial.may_go_by_address = shard.edges_placement != graph::EdgesPlacement::device;
  initial.width = delta;
  initial.narrowest = delta;
  initial.vertices = shard.vertices;
  initial.all_edges = shard.edges;
  initial.may_publish = !team.needs_windows();
  const SsspScanState last = SsspSearch<Backend, Metric, kPacked>::scan(
      team, stream, {program, shard.is_symmetric && program.source_count == 0}, initial);
  return {last.has_overflowed,         last.is_settled, last.steps,
          last.bin + std::uint64_t{1}, last.edges,      last.far_bytes};
}

/// One search; true if the words were too narrow for it.
template <class Backend, bool kPacked, class Metric>
bool search(team::Team& team, const exec::Stream& stream, const graph::Shard& shard,
            SsspWords<Metric>& words, bool scans, bool adds_up, SsspResult& result) {
  SsspProgram<Metric, kPacked> program = words.template program<kPacked>();
  // A width too small for the arithmetic stays one that the nearest vertex falls in.
  program.inverse_delta = static_cast<typename Metric::Real>(std::min(1.0 / result.delta, 1e30));
  team.barrier();
  const double begin = now_seconds();
  const SearchOutcome last = scans
                                 ? search_scans<Backend>(team, stream, shard, program, result.delta)
                                 : search_queues<Backend>(team, stream, shard, program);
  const double end = now_seconds();
  trace_span("sssp", team.rank(), begin, end,
             fmt::format("{{\"source\":{},\"steps\":{},\"bins\":{}}}", program.source, last.steps,
                         last.bins));
  if (last.has_overflowed) return true;
  if (last.is_settled) words.cut_at_targets(team, stream);
  result.seconds = end - begin;
  result.relaxed_edges = last.edges;
  if (shard.edges_placement != graph::EdgesPlacement::device)
    result.far_bytes = last.far_bytes + last.edges * ((kPacked ? 0 : sizeof(Vertex)) +
                                                      sizeof(typename Metric::Weight));
  result.steps = last.steps;
  const auto summary = SsspRun<Backend, SummaryMetric<Metric>>::summarize(
      team, stream, {shard.out, words.own(), words.bound()});
  result.reached = summary.reached;
  result.edges = summary.edges;
  if (!adds_up) return false;
  using Own = OwnValues<AsItIs<typename Metric::Word>>;
  add_up<Metric>(team, Own{words.own(), words.own_count()}.to_host(stream), words.bound(), result);
  return false;
}

}  // namespace

namespace {
constexpr const char* kNotIntegers = "the weights are real numbers: ask for the real distances";
}

Sssp::Sssp(team::Team& team, const graph::Shard& shard, const SsspOptions& options)
    : team_(team), shard_(shard), stream_(team.device()), adds_up_(options.adds_up) {
  require(options.delta >= 0.0 && std::isfinite(options.delta),
          fmt::format("delta {}: give a number above 0, or 0 to have it chosen", options.delta));
  const SsspWeights weights = survey_weights(team, shard, stream_, "shortest paths");
  scans_ = chooses_scan(team, weights, options.frontier);
  delta_ = delta_of(team, shard, weights, options, scans_);
  memory_ = std::make_unique<SsspMemory>(team, shard, stream_, weights, scans_);
}

Sssp::~Sssp() = default;

SsspResult Sssp::run(Vertex source, const SsspLimits& limits) {
  return run(std::span(&source, 1), limits);
}

SsspResult Sssp::run(std::span<const Vertex> sources, const SsspLimits& limits) {
  const auto check_vertex = [&](Vertex v, const char* what) {
    require(v < shard_.vertices,
            fmt::format("{} {} is no vertex: the graph has {} vertices, numbered from 0", what, v,
                        shard_.vertices));
  };
  require(!sources.empty(), "shortest paths: no sources; give one or more");
  for (const Vertex source : sources) check_vertex(source, "source");
  for (const Vertex target : limits.targets) check_vertex(target, "target");
  require(limits.cutoff >= 0.0,
          fmt::format("cutoff {}: give a distance of 0 or more", limits.cutoff));
  const std::vector<Vertex> from = without_repeats(sources);
  const std::vector<Vertex> targets = without_repeats(limits.targets);
  SsspResult result;
  result.delta = delta_;
  const auto try_search = [&] {
    bool is_too_narrow = false;
    memory_->with_words([&](auto& words, auto metric) {
      words.set_sources(stream_, from);
      words.set_limits(stream_, limits.cutoff, targets);
      exec::with_backend(team_.device(), [&](auto backend) {
        using Backend = decltype(backend);
        using Metric = decltype(metric);
        if constexpr (!std::is_same_v<Metric, ByteMetric>) {
          if (shard_.edges_placement == graph::EdgesPlacement::compressed_host) {
            is_too_narrow = search<Backend, true, Metric>(team_, stream_, shard_, words, scans_,
                                                          adds_up_, result);
            return;
          }
        }
        is_too_narrow =
            search<Backend, false, Metric>(team_, stream_, shard_, words, scans_, adds_up_, result);
      });
    });
    return is_too_narrow;
  };
  if (try_search()) {
    memory_->widen(team_, shard_, stream_);
    (void)try_search();  // 2^32 edges of weight 2^31 still fit.
  }
  return result;
}

bool Sssp::has_integer_distances() const {
  bool is_integer = true;
  memory_->with_words([&](const auto&, auto metric) {
    is_integer = !std::is_same_v<decltype(metric), RealMetric>;
  });
  return is_integer;
}

std::vector<std::uint64_t> Sssp::distance() const {
  require(has_integer_distances(), kNotIntegers);
  std::vector<std::uint64_t> result;
  memory_->with_distances([&](const auto& distances) { result = distances.to_host(stream_); });
  return result;
}
void Sssp::write_distance(std::uint64_t* to) const {
  require(has_integer_distances(), kNotIntegers);
  memory_->with_distances([&](const auto& distances) { distances.write(stream_, to); });
}

std::vector<double> Sssp::real_distance() const {
  std::vector<double> result;
  memory_->with_real_distances([&](const auto& distances) { result = distances.to_host(stream_); });
  return result;
}
void Sssp::write_real_distance(double* to) const {
  memory_->with_real_distances([&](const auto& distances) { distances.write(stream_, to); });
}

std::vector<std::uint64_t> Sssp::all_distances() const { return on_all(team_, distance()); }
std::vector<double> Sssp::all_real_distances() const { return on_all(team_, real_distance()); }

}  // namespace warren::traverse
