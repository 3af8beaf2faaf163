// SPDX-License-Identifier: Apache-2.0
// The host side of betweenness: memory, and one run of the program for each source.
#include "warren/traverse/betweenness.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/betweenness/betweenness_program.hpp"
#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/rank_rows.hpp"

namespace warren::traverse {

class BetweennessMemory {
 public:
  BetweennessMemory(team::Team& team, const graph::Shard& shard)
      : depth_(team, shard.cuts, 1, memory::Placement::device),
        paths_(team, shard.cuts, 1, memory::Placement::device),
        share_(team, shard.cuts, 1, memory::Placement::device),
        queue_(team, shard.cuts, 1, memory::Placement::device),
        end_(team, a_row_each(team.size()), 1, memory::Placement::device),
        queued_(team, a_row_each(team.size()), 3, memory::Placement::device),
        // There are no more levels than vertices.
        level_begin_(team.device(), shard.vertices + 2),
        score_(team.device(), shard.out.count) {
    program_.out = shard.out;
    program_.depth = depth_.view();
    program_.paths = paths_.view();
    program_.share = share_.view();
    program_.queue = queue_.view();
    program_.end = end_.view();
    program_.queued = queued_.view();
    program_.level_begin = level_begin_.data();
    program_.score = score_.data();
  }
  [[nodiscard]] const BetweennessProgram& program() const { return program_; }
  void clear(const exec::Stream& stream) {
    const std::vector<double> nothing(score_.size(), 0.0);
    score_.upload(stream, std::span<const double>(nothing));
    stream.synchronize();
  }
  [[nodiscard]] OwnValues<Multiplied> scores(double factor = 1.0) const {
    return {score_.data(), score_.size(), {factor}};
  }

 private:
  BetweennessProgram program_;
  memory::GlobalArray<std::uint32_t> depth_;
  memory::GlobalArray<double> paths_, share_;
  memory::GlobalArray<Vertex> queue_;
  memory::GlobalArray<std::uint64_t> end_, queued_;
  memory::Buffer<std::uint64_t> level_begin_;
  memory::Buffer<double> score_;
};

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
  BetweennessResult result;
  exec::with_backend(team_.device(), [&](auto backend) {
    BetweennessProgram program = memory_->program();
    const double begin = now_seconds();
    for (const Vertex source : sources) {
      program.source = source;
      result.steps += BetweennessRun<decltype(backend)>::run(team_, stream_, program).step;
    }
    const double end = now_seconds();
    trace_span("betweenness", team_.rank(), begin, end,
               fmt::format("{{\"sources\":{}}}", sources.size()));
    result.seconds = end - begin;
  });
  return result;
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
