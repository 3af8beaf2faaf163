// SPDX-License-Identifier: Apache-2.0
// The host side of triangles: the lists of later targets are counted and written by the ranks; that
// their numbers are added up here, between the two, lets each rank's lists lie one behind the
// other.
#include "warren/traverse/triangles.hpp"

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/triangles/triangles_program.hpp"

namespace warren::traverse {

class TrianglesMemory {
 public:
  TrianglesMemory(team::Team& team, const graph::Shard& shard, const exec::Stream& stream)
      : triangles_(team, shard.cuts, 1, memory::Placement::device) {
    ForwardProgram forward;
    forward.lists = shard.out;
    {
      const memory::GlobalArray<std::uint32_t> degree(team, shard.cuts, 1,
                                                      memory::Placement::replicated);
      memory::Buffer<std::uint32_t> count(team.device(), shard.out.count);
      forward.degree = degree.view();
      forward.count = count.data();
      run(team, stream, forward, ForwardState::Phase::degrees);
      add_up(team, stream, count.to_host(stream));
      source_ = memory::Buffer<Vertex>(team.device(), target_.local_size());
      forward.begin = own_begin_.data();
      forward.target = target_.local_data();
      forward.source = source_.data();
      run(team, stream, forward, ForwardState::Phase::fill);
      own_begin_ = {};
    }
    program_.begin = begin_.data();
    program_.target = target_.view();
    program_.source = source_.data();
    program_.triangles = triangles_.view();
  }

  [[nodiscard]] const TrianglesProgram& program() const { return program_; }
  [[nodiscard]] OwnValues<AsItIs<std::uint64_t>> counts() const {
    return {triangles_.local_data(), triangles_.local_size()};
  }

 private:
  static void run(team::Team& team, const exec::Stream& stream, const ForwardProgram& program,
                  ForwardState::Phase phase) {
    team.barrier();
    exec::with_backend(team.device(), [&](auto backend) {
      TrianglesRun<decltype(backend)>::run(team, stream, program, {phase});
    });
  }

  /// Takes the memory of the lists, whose lengths are `own` on this rank.
  void add_up(team::Team& team, const exec::Stream& stream, const std::vector<std::uint32_t>& own) {
    std::vector<std::uint64_t> begin = {0}, own_begin;
    std::vector<std::uint64_t> cuts = {0};
    for (const auto& counts : team.all_gather_v(std::span<const std::uint32_t>(own))) {
      for (const std::uint32_t count : counts) begin.push_back(begin.back() + count);
      cuts.push_back(begin.back());
    }
    std::uint64_t place = 0;
    for (const std::uint32_t count : own) {
      own_begin.push_back(place);
      place += count;
    }
    begin_ = memory::Buffer<std::uint64_t>(team.device(), begin.size());
    begin_.upload(stream, std::span<const std::uint64_t>(begin));
    own_begin_ = memory::Buffer<std::uint64_t>(team.device(), own_begin.size());
    own_begin_.upload(stream, std::span<const std::uint64_t>(own_begin));
    stream.synchronize();
    target_ = memory::GlobalArray<Vertex>(team, cuts, 1, memory::Placement::device);
  }

  TrianglesProgram program_;
  memory::Buffer<std::uint64_t> begin_, own_begin_;
  memory::GlobalArray<Vertex> target_;
  memory::Buffer<Vertex> source_;
  memory::GlobalArray<std::uint64_t> triangles_;
};

Triangles::Triangles(team::Team& team, const graph::Shard& shard)
    : team_(team), stream_(team.device()) {
  require(shard.is_symmetric || shard.edges == 0,
          "triangles are counted in undirected graphs: symmetrize makes one of this");
  graph::require_plain_lists(shard, "triangles");
  memory_ = std::make_unique<TrianglesMemory>(team, shard, stream_);
}

Triangles::~Triangles() = default;

TrianglesResult Triangles::run() {
  TrianglesResult result;
  team_.barrier();
  exec::with_backend(team_.device(), [&](auto backend) {
    const double begin = now_seconds();
    result.triangles =
        TrianglesRun<decltype(backend)>::run(team_, stream_, memory_->program()).triangles;
    const double end = now_seconds();
    trace_span("triangles", team_.rank(), begin, end,
               fmt::format("{{\"triangles\":{}}}", result.triangles));
    result.seconds = end - begin;
  });
  return result;
}

std::vector<std::uint64_t> Triangles::counts() const { return memory_->counts().to_host(stream_); }
void Triangles::write_counts(std::uint64_t* to) const { memory_->counts().write(stream_, to); }

std::vector<std::uint64_t> Triangles::all_counts() const { return on_all(team_, counts()); }

}  // namespace warren::traverse
