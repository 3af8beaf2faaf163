// SPDX-License-Identifier: Apache-2.0
// The host side of PageRank: memory, row classes, the choice of precision and backend.
#include "warren/traverse/pagerank.hpp"

#include <array>
#include <functional>
#include <variant>

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/pagerank_program.hpp"

namespace warren::traverse {
namespace {

/// Tolerances below this need float64: rounding of float32 ranks would keep the L1 change above
/// them.
constexpr double kSinglePrecisionTolerance = 1e-6;

template <class Real>
struct Ranks {
  Ranks(team::Team& team, const graph::Shard& shard)
      : value(team.device(), shard.out.count),
        contribution{
            memory::GlobalArray<Real>(team, shard.cuts, 1, memory::Placement::replicated),
            memory::GlobalArray<Real>(team, shard.cuts, 1, memory::Placement::replicated)} {}
  memory::Buffer<Real> value;
  std::array<memory::GlobalArray<Real>, 2> contribution;
};

}  // namespace

class PageRankMemory {
 public:
  PageRankMemory(team::Team& team, const graph::Shard& shard, bool single,
                 const exec::Stream& stream) {
    if (single) {
      ranks_.emplace<Ranks<float>>(team, shard);
    } else {
      ranks_.emplace<Ranks<double>>(team, shard);
    }
    if (team.device().is_cuda()) classes_ = classify_rows(stream, shard.in, class_rows_);
  }

  /// f(program) with the program of the precision chosen.
  template <class F>
  void with_program(const graph::Shard& shard, F&& f) {
    const auto with = [&](const auto& ranks) {
      if (shard.edges_placement == graph::EdgesPlacement::compressed_host) {
        f(program<true>(shard, ranks));
      } else {
        f(program<false>(shard, ranks));
      }
    };
    if (const auto* single = std::get_if<Ranks<float>>(&ranks_)) with(*single);
    if (const auto* wide = std::get_if<Ranks<double>>(&ranks_)) with(*wide);
  }

  [[nodiscard]] std::vector<double> values(const exec::Stream& stream) const {
    std::vector<double> result;
    const auto widen = [&](const auto& ranks) {
      for (const auto value : ranks.value.to_host(stream))
        result.push_back(static_cast<double>(value));
    };
    if (const auto* single = std::get_if<Ranks<float>>(&ranks_)) widen(*single);
    if (const auto* wide = std::get_if<Ranks<double>>(&ranks_)) widen(*wide);
    return result;
  }

 private:
  template <bool kPacked, class Real>
  PageRankProgram<Real, kPacked> program(const graph::Shard& shard,
                                         const Ranks<Real>& ranks) const {
    PageRankProgram<Real, kPacked> made;
    made.packed = shard.packed_in;
    made.in = shard.in;
    made.out = shard.out;
    made.classes = classes_;
    made.is_symmetric = shard.is_symmetric;
    for (std::size_t i = 0; i < 2; ++i) made.contribution[i] = ranks.contribution[i].view();
    made.value = ranks.value.data();
    return made;
  }

  std::variant<std::monostate, Ranks<float>, Ranks<double>> ranks_;
  memory::Buffer<Vertex> class_rows_;
  RowClasses classes_;
};

PageRank::PageRank(team::Team& team, const graph::Shard& shard, const PageRankOptions& options)
    : team_(team), shard_(shard), options_(options), stream_(team.device()) {
  require(shard.has_in() || shard.vertices == 0, "PageRank needs a shard with in-edges");
  require(options.damping >= 0.0 && options.damping < 1.0,
          fmt::format("damping {}: give a value from 0 to below 1", options.damping));
  require(options.tolerance >= 0.0,
          fmt::format("tolerance {}: give a value of at least 0", options.tolerance));
  memory_ = std::make_unique<PageRankMemory>(
      team, shard, options.tolerance >= kSinglePrecisionTolerance, stream_);
  // An iteration reads every list once.
  far_bytes_ = team.all_reduce(
      graph::far_list_bytes(stream_, shard.in, shard.packed_in, shard.edges_placement),
      std::plus<std::uint64_t>());
}

PageRank::~PageRank() = default;

PageRankResult PageRank::run() {
  PageRankResult result;
  if (shard_.vertices == 0) {
    result.converged = true;
    return result;
  }
  PageRankState initial;
  initial.max_iterations = options_.max_iterations;
  initial.damping = options_.damping;
  initial.tolerance = options_.tolerance;
  initial.vertices = static_cast<double>(shard_.vertices);
  team_.barrier();
  exec::with_backend(team_.device(), [&](auto backend) {
    memory_->with_program(shard_, [&](const auto& program) {
      const double begin = now_seconds();
      const PageRankState last =
          PageRankRun<decltype(backend)>::run(team_, stream_, program, initial);
      const double end = now_seconds();
      trace_span("pagerank", team_.rank(), begin, end,
                 fmt::format("{{\"iterations\":{}}}", last.iteration));
      result = {last.iteration, last.residual, last.residual <= options_.tolerance, end - begin,
                last.iteration * far_bytes_};
    });
  });
  return result;
}

std::vector<double> PageRank::ranks() const { return memory_->values(stream_); }

std::vector<double> PageRank::all_ranks() const {
  std::vector<double> all;
  const std::vector<double> mine = ranks();
  for (const auto& part : team_.all_gather_v(std::span<const double>(mine)))
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace warren::traverse
