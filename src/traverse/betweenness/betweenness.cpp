// SPDX-License-Identifier: Apache-2.0
// The host side of betweenness: memory, and one run of a program for each source, or for eight.
#include "warren/traverse/betweenness.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "warren/core/progress.hpp"
#include "warren/core/trace.hpp"

#include "traverse/betweenness/betweenness_lanes.hpp"
#include "traverse/betweenness/betweenness_program.hpp"
#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/rank_rows.hpp"

namespace warren::traverse {

/// Of the program for one source.
class OneSourceMemory {
 public:
  OneSourceMemory(team::Team& team, const graph::Shard& shard, double* score)
      : depth_(team, shard.cuts, 1, memory::Placement::device),
        paths_(team, shard.cuts, 1, memory::Placement::device),
        share_(team, shard.cuts, 1, memory::Placement::device),
        queue_(team, shard.cuts, 1, memory::Placement::device),
        end_(team, a_row_each(team.size()), 1, memory::Placement::device),
        queued_(team, a_row_each(team.size()), 3, memory::Placement::device),
        // There are no more levels than vertices.
        level_begin_(team.device(), shard.vertices + 2) {
    program_.out = shard.out;
    program_.depth = depth_.view();
    program_.paths = paths_.view();
    program_.share = share_.view();
    program_.queue = queue_.view();
    program_.end = end_.view();
    program_.queued = queued_.view();
    program_.level_begin = level_begin_.data();
    program_.score = score;
  }
  [[nodiscard]] const BetweennessProgram& program() const { return program_; }

 private:
  BetweennessProgram program_;
  memory::GlobalArray<std::uint32_t> depth_;
  memory::GlobalArray<double> paths_, share_;
  memory::GlobalArray<Vertex> queue_;
  memory::GlobalArray<std::uint64_t> end_, queued_;
  memory::Buffer<std::uint64_t> level_begin_;
};

/// Of the program for several.
class LanesMemory {
 public:
  LanesMemory(team::Team& team, const graph::Shard& shard, double* score)
      : value_{of_vertices<double>(team, shard, kLanes), of_vertices<double>(team, shard, kLanes)},
        seen_(of_vertices<LaneMask>(team, shard, 1)),
        mask_{of_vertices<LaneMask>(team, shard, 1), of_vertices<LaneMask>(team, shard, 1),
              of_vertices<LaneMask>(team, shard, 1)},
        list_(of_vertices<Vertex>(team, shard, kLanes)),
        end_(team, a_row_each(team.size()), 1, memory::Placement::device),
        listed_(team, a_row_each(team.size()), 3, memory::Placement::device),
        list_mask_(team.device(), std::uint64_t{shard.out.count} * kLanes),
        level_begin_(team.device(), shard.vertices + 2),
        edges_(shard.edges) {
    program_.out = shard.out;
    program_.in = shard.in;
    for (std::size_t i = 0; i < 2; ++i) program_.value[i] = value_[i].view();
    program_.seen = seen_.view();
    for (std::size_t i = 0; i < 3; ++i) program_.mask[i] = mask_[i].view();
    program_.list = list_.view();
    program_.end = end_.view();
    program_.listed = listed_.view();
    program_.list_mask = list_mask_.data();
    program_.level_begin = level_begin_.data();
    program_.score = score;
  }
  [[nodiscard]] const BetweennessLanes& program() const { return program_; }
  /// For so many sources.
  [[nodiscard]] BetweennessLanesState initial(std::uint64_t sources) const {
    BetweennessLanesState state;
    state.open_edges = edges_;
    state.quarter = sources * program_.value[0].rows() / 4;
    return state;
  }

 private:
  static constexpr std::uint64_t kLanes = BetweennessLanes::kLanes;

  template <class T>
  static memory::GlobalArray<T> of_vertices(team::Team& team, const graph::Shard& shard,
                                            std::uint64_t width) {
    return {team, shard.cuts, width, memory::Placement::device};
  }

  BetweennessLanes program_;
  memory::GlobalArray<double> value_[2];
  memory::GlobalArray<LaneMask> seen_;
  memory::GlobalArray<LaneMask> mask_[3];
  memory::GlobalArray<Vertex> list_;
  memory::GlobalArray<std::uint64_t> end_, listed_;
  memory::Buffer<LaneMask> list_mask_;
  memory::Buffer<std::uint64_t> level_begin_;
  std::uint64_t edges_;
};

/// The scores, and what the programs that were run need.
class BetweennessMemory {
 public:
  BetweennessMemory(team::Team& team, const graph::Shard& shard)
      : team_(team), shard_(shard), score_(team.device(), shard.out.count) {
    // Here, where a GPU that has no room says so before anything runs.
    if (!has_lanes()) (void)one_source();
  }
  [[nodiscard]] bool has_lanes() const { return !team_.device().is_cuda() && shard_.has_in(); }
  /// Collective where called for the first time.
  const OneSourceMemory& one_source() {
    if (!one_source_) one_source_.emplace(team_, shard_, score_.data());
    return *one_source_;
  }
  const LanesMemory& lanes() {
    if (!lanes_) lanes_.emplace(team_, shard_, score_.data());
    return *lanes_;
  }
  void clear(const exec::Stream& stream) {
    const std::vector<double> nothing(score_.size(), 0.0);
    score_.upload(stream, std::span<const double>(nothing));
    stream.synchronize();
  }
  [[nodiscard]] OwnValues<Multiplied> scores(double factor = 1.0) const {
    return {score_.data(), score_.size(), {factor}};
  }

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  memory::Buffer<double> score_;
  std::optional<OneSourceMemory> one_source_;
  std::optional<LanesMemory> lanes_;
};

namespace {

/// Those with out-edges: others add nothing. The same on all ranks. Collective.
std::vector<Vertex> with_out_edges(team::Team& team, const graph::Shard& shard,
                                   std::span<const Vertex> sources) {
  std::vector<std::uint64_t> degree(sources.size(), 0);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] >= shard.out.first && sources[i] - shard.out.first < shard.out.count)
      degree[i] = shard.out.degree(sources[i] - shard.out.first);
  }
  std::vector<Vertex> kept;
  const auto all = team.all_gather_v(std::span<const std::uint64_t>(degree));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& rank) { return rank[i] != 0; }))
      kept.push_back(sources[i]);
  }
  return kept;
}

}  // namespace

Betweenness::Betweenness(team::Team& team, const graph::Shard& shard)
    : team_(team), shard_(shard), stream_(team.device()) {
  graph::require_plain_lists(shard, "betweenness");
  memory_ = std::make_unique<BetweennessMemory>(team, shard);
}

Betweenness::~Betweenness() = default;

BetweennessResult Betweenness::run(std::span<const Vertex> sources) {
  for (const Vertex source : sources) {
    require(source < shard_.vertices,
            fmt::format("source {} is no vertex: the graph has {} vertices, numbered from 0",
                        source, shard_.vertices));
  }
  memory_->clear(stream_);
  team_.barrier();
  // All ranks search from each source together.
  if (team_.rank() == 0) expect_progress("sources", sources.size());
  BetweennessResult result;
  const double begin = now_seconds();
  if (memory_->has_lanes()) {
    const std::vector<Vertex> searched = with_out_edges(team_, shard_, sources);
    if (team_.rank() == 0) advance_progress(sources.size() - searched.size());
    const std::span<const Vertex> rest = search_lanes(searched, result);
    search_one_by_one(rest, result);
  } else {
    search_one_by_one(sources, result);
  }
  const double end = now_seconds();
  trace_span("betweenness", team_.rank(), begin, end,
             fmt::format("{{\"sources\":{}}}", sources.size()));
  result.seconds = end - begin;
  return result;
}

void Betweenness::search_one_by_one(std::span<const Vertex> sources, BetweennessResult& result) {
  if (sources.empty()) return;
  exec::with_backend(team_.device(), [&](auto backend) {
    BetweennessProgram program = memory_->one_source().program();
    for (const Vertex source : sources) {
      program.source = source;
      result.steps += BetweennessRun<decltype(backend)>::run(team_, stream_, program).step;
      if (team_.rank() == 0) advance_progress(1);
    }
  });
}

std::span<const Vertex> Betweenness::search_lanes(std::span<const Vertex> sources,
                                                  BetweennessResult& result) {
  while (!sources.empty()) {
    const LanesMemory& memory = memory_->lanes();
    BetweennessLanes program = memory.program();
    const std::size_t count = std::min<std::size_t>(sources.size(), BetweennessLanes::kLanes);
    program.sources = static_cast<std::uint32_t>(count);
    std::copy_n(sources.begin(), count, program.source);
    const BetweennessLanesState last =
        team::run_program<exec::Cpu>(team_, stream_, program, memory.initial(count));
    result.steps += last.step;
    if (last.is_deep) break;
    sources = sources.subspan(count);
    if (team_.rank() == 0) advance_progress(count);
  }
  return sources;
}

std::vector<double> Betweenness::scores() const { return memory_->scores().to_host(stream_); }
void Betweenness::write_scores(double* to, double factor) const {
  memory_->scores(factor).write(stream_, to);
}

std::vector<double> Betweenness::all_scores() const { return on_all(team_, scores()); }

std::vector<Vertex> sample_sources(std::uint64_t vertices, std::uint64_t count,
                                   std::uint64_t seed) {
  std::vector<Vertex> all(vertices);
  std::iota(all.begin(), all.end(), Vertex{0});
  if (count >= vertices) return all;
  // The first `count` of a shuffle, the same in every standard library.
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t rest = vertices - i;
    const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % rest;
    std::uint64_t drawn = random();
    while (drawn >= limit) drawn = random();
    std::swap(all[i], all[i + drawn % rest]);
  }
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

double betweenness_scale(std::uint64_t vertices, std::uint64_t sources, bool normalized,
                         bool is_symmetric) {
  if (sources == 0) return 1.0;
  const auto n = static_cast<double>(vertices);
  const double sampled = n / static_cast<double>(sources);
  if (normalized) return vertices <= 2 ? 1.0 : sampled / ((n - 1.0) * (n - 2.0));
  return is_symmetric ? sampled / 2.0 : sampled;
}

}  // namespace warren::traverse
