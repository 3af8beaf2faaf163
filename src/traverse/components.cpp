// SPDX-License-Identifier: Apache-2.0
// The host side of connected components: memory, the choice of the backend, and the counts.
#include "warren/traverse/components.hpp"

#include <algorithm>
#include <functional>

#include "warren/core/trace.hpp"

#include "traverse/components_program.hpp"
#include "traverse/program_memory.hpp"

namespace warren::traverse {

using memory::Buffer;

class ComponentsMemory {
 public:
  ComponentsMemory(team::Team& team, const graph::Shard& shard)
      : parent_(team.device(), shard.vertices), largest_(team.device(), 1) {
    program_.out = shard.out;
    program_.in = shard.in;
    program_.is_symmetric = shard.is_symmetric;
    program_.rank = static_cast<std::uint32_t>(team.rank());
    program_.vertices = shard.vertices;
    program_.parent = parent_.data();
    program_.largest = largest_.data();
    if (shard.edges_placement == graph::EdgesPlacement::host) {
      second_ = Buffer<Vertex>(team.device(), shard.out.count);
      program_.second = second_.data();
    }
    share(team, parent_.data(), program_.parent_of);
  }

  [[nodiscard]] const ComponentsProgram& program() const { return program_; }
  [[nodiscard]] std::vector<Vertex> own(const exec::Stream& stream) const {
    std::vector<Vertex> labels(program_.out.count);
    exec::copy(stream, labels.data(), parent_.data() + program_.out.first,
               labels.size() * sizeof(Vertex));
    stream.synchronize();
    return labels;
  }

 private:
  Buffer<Vertex> parent_, second_, largest_;
  ComponentsProgram program_;
};

namespace {

/// Components and the size of the largest: labels are counted by the ranks that own them.
void count(team::Team& team, const graph::Shard& shard, const std::vector<Vertex>& labels,
           ComponentsResult& result) {
  std::vector<std::uint32_t> vertices(shard.vertices, 0);
  for (const Vertex label : labels) ++vertices[label];
  if (team.size() > 1) {
    std::vector<std::vector<std::uint32_t>> outgoing;
    for (std::size_t q = 0; q + 1 < shard.cuts.size(); ++q) {
      outgoing.emplace_back(vertices.begin() + static_cast<std::ptrdiff_t>(shard.cuts[q]),
                            vertices.begin() + static_cast<std::ptrdiff_t>(shard.cuts[q + 1]));
    }
    vertices.assign(shard.out.count, 0);
    for (const auto& part : team.all_to_all_v(outgoing)) {
      for (std::size_t i = 0; i < vertices.size(); ++i) vertices[i] += part[i];
    }
  }
  std::uint64_t components = 0;
  std::uint64_t largest = 0;
  for (const std::uint32_t members : vertices) {
    components += members > 0 ? 1 : 0;
    largest = std::max<std::uint64_t>(largest, members);
  }
  result.components = team.all_reduce(components, std::plus<std::uint64_t>());
  result.largest = team.all_reduce(largest, exec::Maximum{});
}

}  // namespace

Components::Components(team::Team& team, const graph::Shard& shard,
                       const ComponentsOptions& options)
    : team_(team),
      shard_(shard),
      options_(options),
      stream_(team.device()),
      memory_(std::make_unique<ComponentsMemory>(team, shard)) {
  graph::require_plain_lists(shard, "connected components");
}

Components::~Components() = default;

ComponentsResult Components::run() {
  ComponentsResult result;
  if (shard_.vertices == 0) return result;
  ComponentsState initial;
  initial.rounds = options_.sampled_edges;
  initial.ranks = static_cast<std::uint32_t>(team_.size());
  initial.is_far = shard_.edges_placement == graph::EdgesPlacement::host;
  team_.barrier();
  exec::with_backend(team_.device(), [&](auto backend) {
    const double begin = now_seconds();
    result.far_bytes =
        ComponentsRun<decltype(backend)>::run(team_, stream_, memory_->program(), initial)
            .far_bytes;
    const double end = now_seconds();
    result.seconds = end - begin;
    trace_span("components", team_.rank(), begin, end, "{}");
  });
  count(team_, shard_, labels(), result);
  return result;
}

std::vector<Vertex> Components::labels() const { return memory_->own(stream_); }

std::vector<Vertex> Components::all_labels() const {
  std::vector<Vertex> all;
  const std::vector<Vertex> mine = labels();
  for (const auto& part : team_.all_gather_v(std::span<const Vertex>(mine)))
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace warren::traverse
