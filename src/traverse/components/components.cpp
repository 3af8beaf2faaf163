// SPDX-License-Identifier: Apache-2.0
// The host side of connected components: memory, the choice of the backend, and the counts.
#include "warren/traverse/components.hpp"

#include <algorithm>
#include <functional>

#include "warren/core/trace.hpp"
#include "warren/exec/worker.hpp"

#include "traverse/common/on_all.hpp"
#include "traverse/common/program_memory.hpp"
#include "traverse/components/components_program.hpp"

namespace warren::traverse {

using memory::Buffer;

class ComponentsMemory {
 public:
  ComponentsMemory(team::Team& team, const graph::Shard& shard, bool begins_hung)
      : parent_(team.device(), shard.vertices), largest_(team.device(), 1) {
    arrays_.out = shard.out;
    arrays_.in = shard.in;
    arrays_.packed_out = shard.packed_out;
    arrays_.packed_in = shard.packed_in;
    arrays_.is_symmetric = shard.is_symmetric;
    arrays_.rank = static_cast<std::uint32_t>(team.rank());
    arrays_.vertices = shard.vertices;
    arrays_.parent = parent_.data();
    arrays_.largest = largest_.data();
    share(team, largest_.data(), arrays_.largest_of);
    if (begins_hung) {
      second_ = Buffer<Vertex>(team.device(), shard.out.count);
      arrays_.second = second_.data();
    }
    const EdgeOffset edges = shard.has_in() && !shard.is_symmetric ? 2 * shard.edges : shard.edges;
    long_pieces_ = Buffer<ComponentsPiece>(team.device(), ComponentsPiece::most(edges));
    arrays_.long_pieces = long_pieces_.data();
    share(team, parent_.data(), arrays_.parent_of);
    memory::GlobalView<Vertex>& joined = arrays_.joined;
    joined.rank = team.rank();
    joined.ranks = team.size();
    joined.spans_devices = team.size() > 1;
    const std::vector<void*> shared = team.share_with_all(parent_.data());
    for (std::size_t q = 0; q < shared.size(); ++q) {
      joined.cuts[q] = shard.cuts[q];
      joined.cuts[q + 1] = shard.cuts[q + 1];
      joined.base[q] = static_cast<Vertex*>(shared[q]) + shard.cuts[q];
    }
  }

  [[nodiscard]] const ComponentsArrays& arrays() const { return arrays_; }
  [[nodiscard]] std::vector<Vertex> own(const exec::Stream& stream) const {
    std::vector<Vertex> labels(arrays_.out.count);
    exec::copy(stream, labels.data(), parent_.data() + arrays_.out.first,
               labels.size() * sizeof(Vertex));
    stream.synchronize();
    return labels;
  }

 private:
  Buffer<Vertex> parent_, second_;
  Buffer<ComponentsLargest> largest_;
  Buffer<ComponentsPiece> long_pieces_;
  ComponentsArrays arrays_;
};

namespace {

ComponentsState first_state(const team::Team& team, const graph::Shard& shard,
                            const ComponentsOptions& options) {
  constexpr std::uint32_t kMostHooked = 4;  // Rounds.
  ComponentsState state;
  state.ranks = static_cast<std::uint32_t>(team.size());
  state.is_far = shard.edges_placement != graph::EdgesPlacement::device;
  state.hooks = options.sampling == ComponentsSampling::automatic
                    ? team.device().is_cuda() && !state.is_far
                    : options.sampling == ComponentsSampling::hook;
  state.rounds = options.sampled_edges.value_or(2);
  state.most_rounds = options.sampled_edges || !state.hooks ? state.rounds : kMostHooked;
  state.begins_hung = state.rounds > 0 && (state.hooks || state.is_far);
  return state;
}

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
      memory_(std::make_unique<ComponentsMemory>(team, shard,
                                                 first_state(team, shard, options).begins_hung)) {}

Components::~Components() = default;

ComponentsResult Components::run() {
  ComponentsResult result;
  if (shard_.vertices == 0) return result;
  const ComponentsState initial = first_state(team_, shard_, options_);
  team_.barrier();
  exec::with_backend(team_.device(), [&](auto backend) {
    using Backend = decltype(backend);
    const double begin = now_seconds();
    if (shard_.edges_placement == graph::EdgesPlacement::compressed_host) {
      result.far_bytes =
          ComponentsRun<Backend, true>::run(team_, stream_, {memory_->arrays()}, initial).far_bytes;
    } else {
      result.far_bytes =
          ComponentsRun<Backend, false>::run(team_, stream_, {memory_->arrays()}, initial)
              .far_bytes;
    }
    const double end = now_seconds();
    result.seconds = end - begin;
    trace_span("components", team_.rank(), begin, end, "{}");
  });
  count(team_, shard_, labels(), result);
  return result;
}

std::vector<Vertex> Components::labels() const { return memory_->own(stream_); }

std::vector<Vertex> Components::all_labels() const { return on_all(team_, labels()); }

}  // namespace warren::traverse
