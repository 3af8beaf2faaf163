// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/graph_store.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/graph/byte_weights.hpp"
#include "warren/graph/edge_chunks.hpp"

#include "sample/graph_store_kernels.hpp"

namespace warren::sample {
namespace {

/// `base` moved so that it is indexed by the whole graph's edge numbers. Addresses before the
/// memory are never read.
template <class T>
const T* origin(const void* base, EdgeOffset first) {
  return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(base) - first * sizeof(T));
}

bool on_all_ranks(team::Team& team, bool holds) {
  return team.all_reduce(holds ? 1 : 0, [](int a, int b) { return a & b; }) != 0;
}

template <class T>
std::vector<T> to_host(const exec::Stream& stream, const T* data, std::uint64_t count) {
  std::vector<T> values(count);
  if (count > 0) exec::copy(stream, values.data(), data, count * sizeof(T));
  stream.synchronize();
  return values;
}

/// Edges of each row in the order of their times; of equal times, in their old order.
std::vector<EdgeOffset> time_order(const std::vector<EdgeOffset>& offsets,
                                   std::span<const std::int64_t> times, exec::ThreadPool& pool) {
  constexpr std::uint64_t kGrain = 1024;
  std::vector<EdgeOffset> order(times.size());
  std::iota(order.begin(), order.end(), EdgeOffset{0});
  pool.parallel_for(0, offsets.size() - 1, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t row = begin; row < end; ++row) {
      const auto first = static_cast<std::ptrdiff_t>(offsets[row] - offsets[0]);
      const auto last = static_cast<std::ptrdiff_t>(offsets[row + 1] - offsets[0]);
      std::stable_sort(order.begin() + first, order.begin() + last,
                       [&](EdgeOffset a, EdgeOffset b) { return times[a] < times[b]; });
    }
  });
  return order;
}

template <class T>
std::vector<T> permuted(const std::vector<T>& values, const std::vector<EdgeOffset>& order) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = values[order[i]];
  return result;
}

/// A global array of the edges, filled with this rank's.
template <class T>
memory::GlobalArray<T> edge_array(team::Team& team, const exec::Stream& stream,
                                  std::span<const std::uint64_t> cuts, memory::Placement placement,
                                  const std::vector<T>& values) {
  memory::GlobalArray<T> array(team, cuts, 1, placement);
  array.buffer().upload(stream, values);
  stream.synchronize();
  return array;
}

template <class T>
void point_at(const memory::GlobalArray<T>& array, const T* (&table)[kMaxRanks]) {
  const auto& view = array.view();
  for (int q = 0; q < view.ranks; ++q) table[q] = origin<T>(view.base[q], view.cuts[q]);
}

/// Copies elements [first[q], first[q] + counts[q]) of table[q], of every other rank q, and has the
/// table lead to the copies by the same numbers. Arrays that a rank does not have stay away.
/// Asynchronous.
template <class T>
memory::Buffer<std::byte> bring(const exec::Stream& stream, int rank,
                                std::span<const std::uint64_t> first,
                                std::span<const std::uint64_t> counts,
                                const T* (&table)[kMaxRanks]) {
  const auto is_brought = [&](std::size_t q) {
    return static_cast<int>(q) != rank && table[q] != nullptr;
  };
  std::uint64_t all = 0;
  for (std::size_t q = 0; q < counts.size(); ++q) all += is_brought(q) ? counts[q] : 0;
  memory::Buffer<std::byte> copies(stream.device(), exec::bytes_of(all, sizeof(T)));
  auto* next = reinterpret_cast<T*>(copies.data());
  for (std::size_t q = 0; q < counts.size(); ++q) {
    if (!is_brought(q)) continue;
    exec::copy(stream, next, table[q] + first[q], counts[q] * sizeof(T));
    table[q] = origin<T>(next, first[q]);
    next += counts[q];
  }
  return copies;
}

}  // namespace

/// What other ranks read of this one's array.
template <class T>
const T* GraphStore::shown(team::Team& team, const exec::Stream& stream, const T* own,
                           std::uint64_t count) {
  // On the CPU a rank's part of a graph may lie anywhere in its process.
  if (!team.spans_processes() || team.device().is_cuda() || own == nullptr) return own;
  auto& copy = copies_.emplace_back(team.device(), exec::bytes_of(count, sizeof(T)));
  exec::copy(stream, copy.data(), own, copy.bytes());
  stream.synchronize();
  return reinterpret_cast<const T*>(copy.data());
}

template <class T>
void GraphStore::share_edges(team::Team& team, const T* first, bool is_pinned,
                             const T* (&table)[kMaxRanks]) {
  const auto places = team.all_gather(reinterpret_cast<std::uintptr_t>(first));
  const std::vector<void*> shared = team.share(const_cast<T*>(first));
  for (std::size_t q = 0; q < places.size(); ++q) {
    const auto address = is_pinned ? places[q] : reinterpret_cast<std::uintptr_t>(shared[q]);
    require(address != 0 || places[q] == 0,
            team.device().name() + " cannot address the edges of rank " + std::to_string(q) +
                "'s device: place them in host memory");
    table[q] =
        address == 0 ? nullptr : origin<T>(reinterpret_cast<const void*>(address), edge_cuts_[q]);
  }
}

GraphStore::GraphStore(team::Team& team, const graph::Shard& shard, const StoreOptions& options)
    : shard_(shard),
      edges_(shard.edges),
      has_weights_(options.weights),
      has_edge_weights_(options.edge_weights) {
  graph::require_plain_lists(shard, "sampling");
  const exec::Stream stream(team.device());
  const graph::EdgeRange range = graph::edge_range(stream, shard.out);
  edge_cuts_ = {0};
  for (const EdgeOffset count : team.all_gather(range.count()))
    edge_cuts_.push_back(edge_cuts_.back() + count);
  view_.ranks = team.size();
  for (std::size_t q = 0; q < shard.cuts.size(); ++q) view_.cuts[q] = shard.cuts[q];
  const bool is_on_host = shard.edges_placement == graph::EdgesPlacement::host;
  const bool is_far = is_on_host && !team.spans_processes();
  require(!(is_on_host && options.replicated),
          "lists in host memory are there for all devices: they are not replicated");

  const EdgeOffset* const own_offsets =
      shown(team, stream, shard.out.offsets, std::uint64_t{shard.out.count} + 1);
  const std::vector<void*> offsets = team.share(const_cast<EdgeOffset*>(own_offsets));
  for (std::size_t q = 0; q < offsets.size(); ++q) {
    require(offsets[q] != nullptr, team.device().name() + " cannot address the memory of rank " +
                                       std::to_string(q) + "'s device");
    view_.offsets[q] = static_cast<const EdgeOffset*>(offsets[q]);
  }
  const auto own = [&](const auto* data) {
    return data == nullptr || range.count() == 0
               ? nullptr
               : shown(team, stream, data + range.first, range.count());
  };
  const bool is_weighted = shard.weight_type != graph::WeightType::none || shard.edges == 0;
  require(!options.weights || is_weighted, "weighted sampling needs a graph with weights");
  require(!options.edge_weights || is_weighted,
          "weights of sampled edges need a graph with weights");
  if (shard.has_byte_weights && (options.weights || options.edge_weights))
    shard_.out = graph::with_int_weights(stream, shard.out, wide_weights_);
  if (options.times) {
    require(on_all_ranks(team, options.times->size() == range.count()),
            "temporal sampling needs one timestamp for every edge");
    sort_by_time(team, stream, shard_, *options.times);
  } else {
    share_edges(team, own(shard.out.targets), is_far, view_.targets);
    if (options.weights || options.edge_weights) {
      share_edges(team, own(shard_.out.weights_int), is_far, view_.weights_int);
      share_edges(team, own(shard.out.weights_float), is_far, view_.weights_float);
    }
  }
  inspect(team, stream);
  if (options.cumulative) {
    require(options.weights, "sums of weights are kept of a store with weights");
    accumulate(team, stream, is_on_host ? memory::Placement::host : memory::Placement::device);
  }
  if (options.replicated) {
    team.barrier();  // All sums of weights stand.
    replicate(stream, team.rank());
  }
  team.barrier();
}

GraphStore::GraphStore(const StoreSizes& sizes, const StoreOptions& options)
    : edges_(sizes.edges),
      max_degree_(sizes.max_degree),
      has_weights_(options.weights),
      has_edge_weights_(options.edge_weights) {
  view_.cuts[1] = sizes.vertices;
  if (options.cumulative) cumulative_.emplace();
}

void GraphStore::sort_by_time(team::Team& team, const exec::Stream& stream,
                              const graph::Shard& shard, std::span<const std::int64_t> times) {
  const graph::CsrView& csr = shard.out;
  const auto placement = shard.edges_placement == graph::EdgesPlacement::host
                             ? memory::Placement::host
                             : memory::Placement::device;
  const std::uint64_t m = times.size();
  const auto offsets = to_host(stream, csr.offsets, std::uint64_t{csr.count} + 1);
  const EdgeOffset first = m == 0 ? 0 : offsets[0];
  const auto order = time_order(offsets, times, team.device().pool());
  const auto place = [&](const auto& values, auto& array, auto& table) {
    array.emplace(edge_array(team, stream, edge_cuts_, placement, permuted(values, order)));
    point_at(*array, table);
  };
  place(to_host(stream, csr.targets + first, m), targets_, view_.targets);
  place(std::vector<std::int64_t>(times.begin(), times.end()), times_, view_.times);
  std::vector<EdgeOffset> ids(m);
  std::iota(ids.begin(), ids.end(), first);
  place(ids, edge_ids_, view_.edge_ids);
  if (!has_weights_ && !has_edge_weights_) return;
  if (shard.weight_type == graph::WeightType::int32)
    place(to_host(stream, csr.weights_int + first, m), weights_int_, view_.weights_int);
  if (shard.weight_type == graph::WeightType::float32)
    place(to_host(stream, csr.weights_float + first, m), weights_float_, view_.weights_float);
}

void GraphStore::inspect(team::Team& team, const exec::Stream& stream) {
  memory::Buffer<detail::RowFacts> facts(team.device(), 1);
  exec::fill_bytes(stream, facts.data(), 0, facts.bytes());
  const detail::InspectRows kernel{view_, team.rank(), has_weights_, facts.data()};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::inspect_rows<decltype(backend)>(stream, kernel, shard_.out.count);
  });
  detail::RowFacts mine = facts.to_host(stream)[0];
  std::uint64_t sums[] = {mine.bad_weights, mine.zero_weights};
  team.sum(sums);
  require(sums[0] == 0, std::to_string(sums[0]) +
                            " of the weights are negative or not finite: weighted sampling needs "
                            "weights of 0 and above");
  require(!has_weights_ || edges_ == 0 || sums[1] < edges_,
          "all weights are 0: weighted sampling needs some above");
  view_.has_zero_weights = sums[1] > 0;
  max_degree_ = team.all_reduce(mine.max_degree,
                                [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  require(max_degree_ < kNoVertex, "a vertex has 2^32 - 1 edges or more: merge parallel edges");
}

void GraphStore::accumulate(team::Team& team, const exec::Stream& stream,
                            memory::Placement placement) {
  cumulative_.emplace(team, edge_cuts_, 1, placement);
  point_at(*cumulative_, view_.cumulative);
  const int rank = team.rank();
  const detail::AccumulateWeights kernel{view_, rank, const_cast<double*>(view_.cumulative[rank])};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::accumulate_weights<decltype(backend)>(stream, kernel, shard_.out.count);
  });
  stream.synchronize();
}

void GraphStore::replicate(const exec::Stream& stream, int rank) {
  const auto ranks = static_cast<std::size_t>(view_.ranks);
  std::vector<std::uint64_t> rows, edges;
  for (std::size_t q = 0; q < ranks; ++q) {
    rows.push_back(view_.cuts[q + 1] - view_.cuts[q] + 1);
    edges.push_back(edge_cuts_[q + 1] - edge_cuts_[q]);
  }
  const std::vector<std::uint64_t> begins(ranks, 0);
  copies_.push_back(bring(stream, rank, begins, rows, view_.offsets));
  const auto bring_edges = [&](auto& table) {
    copies_.push_back(bring(stream, rank, edge_cuts_, edges, table));
  };
  bring_edges(view_.targets);
  bring_edges(view_.weights_int);
  bring_edges(view_.weights_float);
  bring_edges(view_.cumulative);
  bring_edges(view_.times);
  bring_edges(view_.edge_ids);
  stream.synchronize();
}

}  // namespace warren::sample
