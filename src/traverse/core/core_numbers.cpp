// SPDX-License-Identifier: Apache-2.0
// The host side of core numbers.
#include "warren/traverse/core_numbers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/rank_rows.hpp"
#include "traverse/core/core_program.hpp"

namespace warren::traverse {
class CoreNumbersMemory {
 public:
  CoreNumbersMemory(team::Team& team, const graph::Shard& shard)
      : core_(team.device(), shard.out.count),
        degree_(team, shard.cuts, 1, memory::Placement::device),
        queue_{memory::GlobalArray<Vertex>(team, shard.cuts, 1, memory::Placement::device),
               memory::GlobalArray<Vertex>(team, shard.cuts, 1, memory::Placement::device)},
        queued_(team, a_row_each(team.size()), 3, memory::Placement::device),
        left_{memory::Buffer<Vertex>(team.device(), shard.out.count),
              memory::Buffer<Vertex>(team.device(), shard.out.count)},
        left_count_(team.device(), 3) {
    program_.out = shard.out;
    program_.in = shard.in;
    program_.is_symmetric = shard.is_symmetric;
    program_.core = core_.data();
    program_.degree = degree_.view();
    program_.queued = queued_.view();
    program_.left_count = left_count_.data();
    for (std::size_t i = 0; i < 2; ++i) {
      program_.queue[i] = queue_[i].view();
      program_.left[i] = left_[i].data();
    }
  }
  [[nodiscard]] const CoreProgram& program() const { return program_; }
  [[nodiscard]] OwnValues<AsItIs<std::uint32_t>> cores() const {
    return {core_.data(), core_.size()};
  }

 private:
  CoreProgram program_;
  memory::Buffer<std::uint32_t> core_;
  memory::GlobalArray<std::uint32_t> degree_;
  memory::GlobalArray<Vertex> queue_[2];
  memory::GlobalArray<std::uint64_t> queued_;
  memory::Buffer<Vertex> left_[2];
  memory::Buffer<std::uint64_t> left_count_;
};

CoreNumbers::CoreNumbers(team::Team& team, const graph::Shard& shard)
    : team_(team), stream_(team.device()) {
  require(shard.has_in() || shard.vertices == 0, "core numbers need a shard with in-edges");
  graph::require_plain_lists(shard, "core numbers");
  memory_ = std::make_unique<CoreNumbersMemory>(team, shard);
}

CoreNumbers::~CoreNumbers() = default;

CoreNumbersResult CoreNumbers::run() {
  CoreNumbersResult result;
  team_.barrier();
  exec::with_backend(team_.device(), [&](auto backend) {
    const double begin = now_seconds();
    const CoreState last = CoreRun<decltype(backend)>::run(team_, stream_, memory_->program());
    const double end = now_seconds();
    trace_span("core numbers", team_.rank(), begin, end,
               fmt::format("{{\"steps\":{}}}", last.step));
    result.steps = last.step;
    result.largest = last.largest;
    result.innermost = last.innermost;
    result.seconds = end - begin;
  });
  return result;
}

std::vector<std::uint32_t> CoreNumbers::cores() const { return memory_->cores().to_host(stream_); }
void CoreNumbers::write_cores(std::uint32_t* to) const { memory_->cores().write(stream_, to); }

std::vector<std::uint32_t> CoreNumbers::all_cores() const { return on_all(team_, cores()); }

}  // namespace warren::traverse
