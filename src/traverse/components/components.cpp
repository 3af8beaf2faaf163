// SPDX-License-Identifier: Apache-2.0
// The host side of connected components: memory, the choice of the backend, and the counts.
#include "warren/traverse/components.hpp"

#include <algorithm>
#include <functional>

#include "warren/core/trace.hpp"
#include "warren/exec/worker.hpp"

#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/program_memory.hpp"
#include "traverse/components/component_sizes.hpp"
#include "traverse/components/components_program.hpp"
#include "traverse/components/components_search.hpp"

namespace warren::traverse {

using memory::Buffer;

class ComponentsMemory {
 public:
  /// `has_forest`: each rank's forest, of all vertices; else own labels alone.
  ComponentsMemory(team::Team& team, const graph::Shard& shard, bool has_forest, bool begins_hung)
      : parent_(team.device(),
                has_forest ? shard.vertices : std::max<std::uint64_t>(shard.out.count, 1)),
        sizes_(team.needs_windows() ? memory::GlobalArray<std::uint32_t>()
                                    : memory::GlobalArray<std::uint32_t>(
                                          team, shard.cuts, 1, memory::Placement::device)),
        totals_(team.device(), 1),
        cuts_(shard.cuts.begin(), shard.cuts.end()),
        own_(parent_.data() + (has_forest ? shard.out.first : 0)) {
    arrays_.out = shard.out;
    if (!team.needs_windows()) find_labels(team, shard, has_forest);
    if (has_forest) make_forest(team, shard, begins_hung);
  }

  [[nodiscard]] const ComponentsArrays& arrays() const { return arrays_; }
  /// Components, and the vertices of the largest. Collective.
  [[nodiscard]] ComponentsTotals count(team::Team& team, const exec::Stream& stream) const;
  [[nodiscard]] OwnValues<AsItIs<Vertex>> labels() const { return {own_, arrays_.out.count}; }

 private:
  /// Where all ranks have the labels of their vertices.
  void find_labels(team::Team& team, const graph::Shard& shard, bool has_forest) {
    memory::GlobalView<Vertex>& joined = arrays_.joined;
    joined.rank = team.rank();
    joined.ranks = team.size();
    joined.spans_devices = team.size() > 1;
    const std::vector<void*> shared = team.share_with_all(parent_.data());
    for (std::size_t q = 0; q < shared.size(); ++q) {
      joined.cuts[q] = shard.cuts[q];
      joined.cuts[q + 1] = shard.cuts[q + 1];
      joined.base[q] = static_cast<Vertex*>(shared[q]) + (has_forest ? shard.cuts[q] : 0);
    }
  }

  void make_forest(team::Team& team, const graph::Shard& shard, bool begins_hung) {
    arrays_.in = shard.in;
    arrays_.packed_out = shard.packed_out;
    arrays_.packed_in = shard.packed_in;
    arrays_.is_symmetric = shard.is_symmetric;
    arrays_.rank = static_cast<std::uint32_t>(team.rank());
    arrays_.vertices = shard.vertices;
    arrays_.parent = parent_.data();
    arrays_.largest = take(team.device(), largest_, 1);
    if (begins_hung) {
      second_ = Buffer<Vertex>(team.device(), shard.out.count);
      arrays_.second = second_.data();
    }
    const EdgeOffset edges = shard.has_in() && !shard.is_symmetric ? 2 * shard.edges : shard.edges;
    long_pieces_ = Buffer<ComponentsPiece>(team.device(), ComponentsPiece::most(edges));
    arrays_.long_pieces = long_pieces_.data();
    if (team.needs_windows()) {
      if (shard.vertices > 0) find_hosts(team);
      return;
    }
    share(team, largest_.data(), arrays_.largest_of);
    share(team, parent_.data(), arrays_.parent_of);
  }

  /// Which ranks are on this host, and who is the first on each other one. Of one host each device
  /// counts as one.
  void find_hosts(team::Team& team) {
    ComponentsHosts& hosts = arrays_.hosts;
    const std::vector<void*> here = team.share(parent_.data());
    forests_ = team.share_windows({.data = parent_.data(), .bytes = parent_.bytes()});
    std::vector<int> ranks;
    for (int q = 0; q < team.size(); ++q) {
      const bool may_link = team.spans_hosts() || q == team.rank();
      if (may_link && here[static_cast<std::size_t>(q)] != nullptr) ranks.push_back(q);
    }
    hosts.ranks = static_cast<std::uint32_t>(ranks.size());
    hosts.rank = static_cast<std::uint32_t>(std::ranges::find(ranks, team.rank()) - ranks.begin());
    hosts.own = static_cast<Vertex*>(here[static_cast<std::size_t>(ranks.front())]);
    const std::vector<int> firsts = team.all_gather(ranks.front());
    for (int q = 0; q < team.size(); ++q) {
      const auto index = static_cast<std::size_t>(q);
      if (firsts[index] == q && q != ranks.front())
        hosts.others[hosts.count++] = static_cast<const Vertex*>(forests_.of[index]);
    }
  }

  Buffer<Vertex> parent_, second_;
  Buffer<ComponentsLargest> largest_;
  Buffer<ComponentsPiece> long_pieces_;
  memory::GlobalArray<std::uint32_t> sizes_;  ///< Of labels, by their owners.
  Buffer<ComponentsTotals> totals_;
  std::vector<std::uint64_t> cuts_;
  Vertex* own_;  ///< Labels.
  team::Windows forests_;
  ComponentsArrays arrays_;
};

namespace {

ComponentsState first_state(const team::Team& team, const graph::Shard& shard,
                            const ComponentsOptions& options) {
  constexpr std::uint32_t kMostHooked = 4;  // Rounds.
  ComponentsState state;
  state.needs_windows = team.needs_windows();
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

ComponentsTotals sum_of(team::Team& team, const ComponentsTotals& own) {
  return team.all_reduce(own, [](const ComponentsTotals& a, const ComponentsTotals& b) {
    return ComponentsTotals{a.components + b.components, std::max(a.largest, b.largest)};
  });
}

/// Of ranks that need windows: how many have each label is told to the label's owner.
ComponentsTotals count_by_messages(team::Team& team, std::span<const std::uint64_t> cuts,
                                   const std::vector<Vertex>& labels) {
  struct Members {
    Vertex label;
    std::uint32_t count;
  };
  std::vector<std::uint32_t> members(cuts.back());
  for (const Vertex label : labels) ++members[label];
  std::vector<std::vector<Members>> outgoing(static_cast<std::size_t>(team.size()));
  for (std::size_t q = 0; q + 1 < cuts.size(); ++q) {
    for (std::uint64_t label = cuts[q]; label < cuts[q + 1]; ++label)
      if (members[label] > 0) outgoing[q].push_back({static_cast<Vertex>(label), members[label]});
  }
  const auto me = static_cast<std::size_t>(team.rank());
  std::vector<std::uint32_t> sizes(cuts[me + 1] - cuts[me]);
  for (const auto& part : team.all_to_all_v(outgoing))
    for (const Members& one : part) sizes[one.label - cuts[me]] += one.count;
  ComponentsTotals own;
  for (const std::uint32_t size : sizes) {
    own.components += size > 0 ? 1 : 0;
    own.largest = std::max<std::uint64_t>(own.largest, size);
  }
  return sum_of(team, own);
}

}  // namespace

ComponentsTotals ComponentsMemory::count(team::Team& team, const exec::Stream& stream) const {
  if (team.needs_windows()) return count_by_messages(team, cuts_, labels().to_host(stream));
  const OwnValues<AsItIs<Vertex>> own = labels();
  const CountMembers members{own.from, own.count, arrays_.out.first, sizes_.view()};
  ComponentsTotals totals;
  exec::with_backend(team.device(), [&](auto backend) {
    using Sizes = ComponentSizes<decltype(backend)>;
    exec::fill_bytes(stream, sizes_.local_data(), 0, sizes_.local_size() * sizeof(std::uint32_t));
    exec::fill_bytes(stream, totals_.data(), 0, totals_.bytes());
    if (team.size() == 1) {
      Sizes::count(stream, members);
    } else {
      stream.synchronize();
      team.with_peer_memory([&] {
        team.barrier();
        Sizes::count(stream, members);
        stream.synchronize();
        team.barrier();
      });
    }
    Sizes::sum(stream, {sizes_.local_data(), sizes_.local_size(), totals_.data()});
  });
  totals_.download(stream, {&totals, 1});
  stream.synchronize();
  return sum_of(team, totals);
}

Components::Components(team::Team& team, const graph::Shard& shard,
                       const ComponentsOptions& options)
    : team_(team),
      shard_(shard),
      options_(options),
      stream_(team.device()),
      search_(ComponentsSearch::make(team, shard, options, stream_)) {
  memory_ = std::make_unique<ComponentsMemory>(team, shard, options.form != ComponentsForm::search,
                                               first_state(team, shard, options).begins_hung);
}

Components::~Components() = default;

ComponentsResult Components::run() {
  ComponentsResult result;
  result.form =
      options_.form == ComponentsForm::search ? ComponentsForm::search : ComponentsForm::forest;
  if (shard_.vertices == 0) return result;
  team_.barrier();
  const double begin = now_seconds();
  if (search_) {
    const ComponentsSearchState last = search_->run(team_, stream_, memory_->arrays().joined);
    result.search_levels = last.bfs.level;
    result.form = last.has_given_up ? ComponentsForm::forest : ComponentsForm::search;
  }
  if (result.form == ComponentsForm::forest) run_forest(result);
  const double end = now_seconds();
  result.seconds = end - begin;
  trace_span("components", team_.rank(), begin, end, "{}");
  // It would find as much again: all ranks forget it together.
  if (result.form == ComponentsForm::forest) search_.reset();
  const ComponentsTotals totals = memory_->count(team_, stream_);
  result.components = totals.components;
  result.largest = totals.largest;
  return result;
}

void Components::run_forest(ComponentsResult& result) {
  const ComponentsState initial = first_state(team_, shard_, options_);
  exec::with_backend(team_.device(), [&](auto backend) {
    using Backend = decltype(backend);
    const auto run = [&]<bool kPacked>(const ComponentsProgram<kPacked>& program) {
      return ComponentsRun<Backend, kPacked>::run(team_, stream_, program, initial).far_bytes;
    };
    if (shard_.edges_placement == graph::EdgesPlacement::compressed_host) {
      result.far_bytes = run(ComponentsProgram<true>{memory_->arrays()});
    } else {
      result.far_bytes = run(ComponentsProgram<false>{memory_->arrays()});
    }
  });
}

std::vector<Vertex> Components::labels() const { return memory_->labels().to_host(stream_); }
void Components::write_labels(Vertex* to) const { memory_->labels().write(stream_, to); }

std::vector<Vertex> Components::all_labels() const { return on_all(team_, labels()); }

}  // namespace warren::traverse
