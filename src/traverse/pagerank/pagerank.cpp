// SPDX-License-Identifier: Apache-2.0
// The host side of PageRank: memory, row classes, the choice of precision and backend.
#include "warren/traverse/pagerank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <variant>

#include <fmt/format.h>

#include "warren/core/progress.hpp"
#include "warren/core/trace.hpp"

#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/pagerank/pagerank_program.hpp"
#include "traverse/pagerank/pagerank_sweep.hpp"
#include "traverse/sssp/sssp_weights.hpp"

namespace warren::traverse {
namespace {

/// Whether what an iteration writes may be on its way while the iteration goes on.
bool works_in_parts(const team::Team& team) { return team.needs_windows() && !team.spans_hosts(); }

template <class Real>
struct Ranks {
  Ranks(team::Team& team, const graph::Shard& shard)
      : values{memory::Buffer<Real>(team.device(), shard.out.count),
               memory::Buffer<Real>(team.device(), shard.out.count)},
        contribution{memory::GlobalArray<Real>(team, shard.cuts, 1, memory::Placement::replicated,
                                               memory::Reach::published),
                     memory::GlobalArray<Real>(team, shard.cuts, 1, memory::Placement::replicated,
                                               memory::Reach::published)} {}
  std::array<memory::Buffer<Real>, 2> values;
  std::array<memory::GlobalArray<Real>, 2> contribution;

  template <bool kPacked, bool kWeighted = false, bool kFar = false>
  [[nodiscard]] PageRankProgram<Real, kPacked, kWeighted, kFar> program() const {
    PageRankProgram<Real, kPacked, kWeighted, kFar> made;
    for (std::size_t i = 0; i < 2; ++i) {
      made.contribution[i] = contribution[i].view();
      made.value[i] = values[i].data();
    }
    return made;
  }
};

/// This rank's part of a vector of the options, as checked, divided by its sum; nothing of none.
memory::Buffer<double> own_shares(team::Team& team, const graph::Shard& shard,
                                  std::span<const double> shares, const exec::Stream& stream) {
  if (shares.empty()) return {};
  const double sum = std::reduce(shares.begin(), shares.end());
  std::vector<double> own(shard.out.count);
  for (std::size_t v = 0; v < own.size(); ++v) own[v] = shares[shard.out.first + v] / sum;
  memory::Buffer<double> made(team.device(), shard.out.count);
  made.upload(stream, std::span<const double>(own));
  stream.synchronize();
  return made;
}

/// By weights, or with vectors that the options give.
struct WeightedRanks : Ranks<double> {
  WeightedRanks(team::Team& team, const graph::Shard& shard, const PageRankOptions& options,
                const exec::Stream& stream)
      : Ranks(team, shard),
        out_weight(team.device(), shard.out.count),
        restart(own_shares(team, shard, options.personalization, stream)),
        dangling(own_shares(team, shard, options.dangling, stream)),
        first(own_shares(team, shard, options.start, stream)) {}
  memory::Buffer<double> out_weight;
  memory::Buffer<double> restart;
  memory::Buffer<double> dangling;
  memory::Buffer<double> first;

  [[nodiscard]] PageRankProgram<double, false, true> weighted_program() const {
    auto made = program<false, true>();
    made.out_weight = out_weight.data();
    made.restart = restart.data();
    made.dangling_share = dangling.data();
    made.first_rank = first.data();
    return made;
  }
};

/// Of sweeps, which work in place.
struct SweptRanks {
  SweptRanks(team::Team& team, const graph::Shard& shard)
      : values{memory::Buffer<float>(team.device(), shard.out.count)},
        waiting(team.device(), shard.out.count),
        contribution(team, shard.cuts, 1, memory::Placement::replicated, memory::Reach::published) {
  }
  std::array<memory::Buffer<float>, 1> values;
  memory::Buffer<float> waiting;
  memory::GlobalArray<float> contribution;

  template <bool kPacked>
  [[nodiscard]] PageRankSweep<kPacked> program() const {
    PageRankSweep<kPacked> made;
    made.contribution = contribution.view();
    made.waiting = waiting.data();
    made.value = values[0].data();
    return made;
  }
};

}  // namespace

class PageRankMemory {
 public:
  PageRankMemory(team::Team& team, const graph::Shard& shard, const PageRankOptions& options,
                 const exec::Stream& stream)
      : is_weighted_(options.weighted) {
    if (options.weighted || options.has_vectors()) {
      ranks_.emplace<WeightedRanks>(team, shard, options, stream);
    } else if (needs_double_precision(options.damping, options.tolerance)) {
      ranks_.emplace<Ranks<double>>(team, shard);
    } else if (team.device().is_cuda()) {
      ranks_.emplace<Ranks<float>>(team, shard);
    } else {
      ranks_.emplace<SweptRanks>(team, shard);
    }
    if (!team.device().is_cuda()) return;
    is_far_ = shard.edges_placement == graph::EdgesPlacement::host &&
              !std::holds_alternative<WeightedRanks>(ranks_);
    classes_ = is_far_ ? find_long_rows(stream, shard.in, RowClasses::kFarBounds[0], class_rows_)
                       : classify_rows(stream, shard.in, RowClasses::bounds(shard.edges_placement),
                                       class_rows_);
    if (works_in_parts(team) && !is_far_) part_rows_ = class_rows_.to_host(stream);
  }

  /// f(program) with the program chosen.
  template <class F>
  void with_program(const graph::Shard& shard, F&& f) {
    with_ranks([&](const auto& ranks) {
      if constexpr (requires { ranks.weighted_program(); }) {
        f(completed(ranks.weighted_program(), shard));
      } else if (shard.edges_placement == graph::EdgesPlacement::compressed_host) {
        f(completed(ranks.template program<true>(), shard));
      } else if constexpr (requires { ranks.template program<false, false, true>(); }) {
        if (is_far_) {
          f(completed(ranks.template program<false, false, true>(), shard));
        } else {
          f(completed(ranks.template program<false>(), shard));
        }
      } else {
        f(completed(ranks.template program<false>(), shard));
      }
    });
  }

  /// Where a run left the ranks, and what they add up to.
  void set_result(std::size_t slot, double sum) {
    slot_ = slot;
    sum_ = sum;
  }

  /// f(values) with what is told of the vertices.
  template <class F>
  void with_values(F&& f) const {
    const auto told = [&]<class Real>(const memory::Buffer<Real>& values) {
      f(OwnValues<Divided<Real>>{values.data(), values.size(), {sum_}});
    };
    with_ranks([&](const auto& ranks) { told(ranks.values.at(slot_)); });
  }

 private:
  template <class F>
  void with_ranks(F&& f) const {
    if (const auto* single = std::get_if<Ranks<float>>(&ranks_)) f(*single);
    if (const auto* wide = std::get_if<Ranks<double>>(&ranks_)) f(*wide);
    if (const auto* swept = std::get_if<SweptRanks>(&ranks_)) f(*swept);
    if (const auto* weighted = std::get_if<WeightedRanks>(&ranks_)) f(*weighted);
  }

  /// With what all programs have.
  template <class Program>
  Program completed(Program made, const graph::Shard& shard) const {
    made.packed = shard.packed_in;
    made.in = shard.in;
    made.out = shard.out;
    if constexpr (requires { made.restart; }) {
      if (!is_weighted_) {  // Vectors alone look at no weights.
        made.in.weights_int = made.out.weights_int = nullptr;
        made.in.weights_float = made.out.weights_float = nullptr;
        made.in.weights_byte = made.out.weights_byte = nullptr;
      }
    }
    made.is_symmetric = shard.is_symmetric;
    if constexpr (requires { made.classes; }) {
      made.classes = classes_;
      if (Program::kHasParts && !part_rows_.empty()) cut_classes(made);
    }
    return made;
  }

  /// Where each part's rows begin in each class, in which they ascend.
  template <class Program>
  void cut_classes(Program& made) const {
    auto begin = part_rows_.begin();
    for (std::size_t c = 0; c < RowClasses::kMost; ++c) {
      const auto end = part_rows_.begin() + static_cast<std::ptrdiff_t>(classes_.ends[c]);
      for (std::uint32_t part = 0; part <= Program::kParts; ++part) {
        const std::uint64_t first = made.in.count * std::uint64_t{part} / Program::kParts;
        made.class_cuts[part][c] =
            static_cast<std::uint64_t>(std::lower_bound(begin, end, first) - begin);
      }
      begin = end;
    }
  }

  std::variant<std::monostate, Ranks<float>, Ranks<double>, SweptRanks, WeightedRanks> ranks_;
  bool is_weighted_;
  bool is_far_ = false;  ///< On a GPU, lists in host memory, as they are, and no weights.
  memory::Buffer<Vertex> class_rows_;
  RowClasses classes_;
  std::vector<Vertex> part_rows_;  ///< The classes' rows, where iterations are of several parts.
  std::size_t slot_ = 0;
  double sum_ = 1.0;
};

namespace {

/// Where a run ended, whatever its program.
struct Last {
  std::uint32_t iterations = 0;
  double residual = 0.0;
  std::size_t slot = 0;
  double sum = 1.0;
};

template <class Backend, class Real, bool kPacked, bool kWeighted, bool kFar>
Last iterate(team::Team& team, const exec::Stream& stream,
             const PageRankProgram<Real, kPacked, kWeighted, kFar>& program,
             const PageRankTask& task) {
  PageRankState initial{task};
  if (PageRankProgram<Real, kPacked, kWeighted, kFar>::kHasParts && works_in_parts(team))
    initial.parts = PageRankProgram<Real, kPacked, kWeighted, kFar>::kParts;
  // In float64 `iterations` are those of the textbook, as everybody counts them.
  initial.is_accelerated = program.is_symmetric && std::is_same_v<Real, float>;
  const PageRankState last = PageRankRun<Backend>::run(team, stream, program, initial);
  if (team.device().is_cuda() && team.rank() == 0) advance_progress(last.iteration);
  return {last.iteration, last.residual, (last.iteration + (last.keeps_last() ? 1 : 0)) % 2, 1.0};
}

template <class Backend, bool kPacked>
Last iterate(team::Team& team, const exec::Stream& stream, const PageRankSweep<kPacked>& program,
             const PageRankTask& task) {
  const SweepState last = team::run_program<exec::Cpu>(team, stream, program, SweepState{task});
  return {last.sweep, last.residual, 0, from_fixed(last.sum)};
}

}  // namespace

void check_shares(const char* name, std::span<const double> values, std::uint64_t vertices) {
  require(values.size() == vertices,
          fmt::format("{}: got {} numbers, expected one for each of {} vertices", name,
                      values.size(), vertices));
  double sum = 0.0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    require(std::isfinite(values[v]) && values[v] >= 0.0,
            fmt::format("{}: got {} for vertex {}, expected a number of 0 or more", name, values[v],
                        v));
    sum += values[v];
  }
  require(std::isfinite(sum) && sum > 0.0,
          fmt::format("{}: got a sum of {}, expected one above 0", name, sum));
}

PageRank::PageRank(team::Team& team, const graph::Shard& shard, const PageRankOptions& options)
    : team_(team), shard_(shard), options_(options), stream_(team.device()) {
  require(shard.has_in() || shard.vertices == 0, "PageRank needs a shard with in-edges");
  const bool is_plain = options.weighted || options.has_vectors();
  require(options.damping >= 0.0 && (options.damping < 1.0 || (is_plain && options.damping == 1.0)),
          fmt::format("damping {}: give a value from 0 to below 1; plain iterations, by weights or "
                      "with vectors, take 1 too",
                      options.damping));
  require(options.tolerance >= 0.0,
          fmt::format("tolerance {}: give a value of at least 0", options.tolerance));
  if (options.weighted) {
    graph::require_plain_lists(shard, "weighted PageRank");
    (void)survey_weights(team, shard, stream_, "weighted ranks");
  }
  if (options.has_vectors()) {
    graph::require_plain_lists(shard, "PageRank with vectors of its own");
    const auto check = [&](const char* name, std::span<const double> values) {
      if (!values.empty()) check_shares(name, values, shard.vertices);
    };
    check("personalization", options.personalization);
    check("dangling", options.dangling);
    check("start", options.start);
  }
  memory_ = std::make_unique<PageRankMemory>(team, shard, options, stream_);
  options_.personalization = options_.dangling = options_.start = {};
  // An iteration reads every list once.
  far_bytes_ = team.all_reduce(
      graph::far_list_bytes(stream_, shard.in, shard.packed_in, shard.edges_placement),
      std::plus<std::uint64_t>());
  // Weights are cached nowhere, and the first step reads those of the out-edges besides.
  if (options.weighted && shard.edges_placement == graph::EdgesPlacement::host)
    far_weight_bytes_ = shard.edges * (shard.has_byte_weights ? 1 : sizeof(float));
}

PageRank::~PageRank() = default;

PageRankResult PageRank::run() {
  PageRankResult result;
  if (shard_.vertices == 0) {
    result.converged = true;
    return result;
  }
  const PageRankTask task{options_.max_iterations, options_.damping, options_.tolerance,
                          static_cast<double>(shard_.vertices)};
  team_.barrier();
  if (team_.rank() == 0) expect_progress("iterations", options_.max_iterations);
  exec::with_backend(team_.device(), [&](auto backend) {
    memory_->with_program(shard_, [&](const auto& program) {
      const double begin = now_seconds();
      const Last last = iterate<decltype(backend)>(team_, stream_, program, task);
      const double end = now_seconds();
      trace_span("pagerank", team_.rank(), begin, end,
                 fmt::format("{{\"iterations\":{}}}", last.iterations));
      memory_->set_result(last.slot, last.sum);
      result = {last.iterations, last.residual, last.residual <= options_.tolerance, end - begin,
                last.iterations * (far_bytes_ + far_weight_bytes_) + far_weight_bytes_};
    });
  });
  return result;
}

std::vector<double> PageRank::ranks() const {
  std::vector<double> result;
  memory_->with_values([&](const auto& values) { result = values.to_host(stream_); });
  return result;
}
void PageRank::write_ranks(double* to) const {
  memory_->with_values([&](const auto& values) { values.write(stream_, to); });
}

std::vector<double> PageRank::all_ranks() const { return on_all(team_, ranks()); }

}  // namespace warren::traverse
