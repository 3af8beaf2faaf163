// SPDX-License-Identifier: Apache-2.0
// Partitions and what they cost.
#include "warren/graph/partition.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/draw.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kGrain = std::uint64_t{1} << 13;

void check_parts(int parts) {
  if (parts < 1 || parts > kMaxRanks)
    throw UsageError(fmt::format("{} parts; there should be 1 to {}", parts, kMaxRanks));
}

// p total / parts, rounded down, without overflow.
std::uint64_t share(std::uint64_t total, int p, int parts) {
  const auto whole = static_cast<std::uint64_t>(parts);
  const auto part = static_cast<std::uint64_t>(p);
  return total / whole * part + total % whole * part / whole;
}

// A number below `bound` from 64 random bits, each about equally likely (the bias is below bound /
// 2^64, less than 2^-32).
std::uint64_t below(std::uint64_t bits, std::uint64_t bound) {
  const std::uint64_t high = bits >> 32;
  const std::uint64_t low = bits & 0xffffffffu;
  return (high * bound + ((low * bound) >> 32)) >> 32;
}

// What each rank owns, looked up per vertex: old vertex -> rank.
memory::HostArray<std::uint8_t> owners(std::uint64_t vertices, const Partition& partition,
                                       exec::ThreadPool& pool) {
  memory::HostArray<std::uint8_t> owner(vertices);
  pool.parallel_for(0, vertices, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint64_t id = partition.to_new(static_cast<Vertex>(v));
      const auto after = std::upper_bound(partition.cuts.begin(), partition.cuts.end(), id);
      owner[v] = static_cast<std::uint8_t>(after - partition.cuts.begin() - 1);
    }
  });
  return owner;
}

void check_partition(const Graph& graph, const Partition& partition) {
  check_parts(partition.parts());
  const auto& cuts = partition.cuts;
  if (cuts.front() != 0 || cuts.back() != graph.vertices ||
      !std::is_sorted(cuts.begin(), cuts.end())) {
    throw UsageError(
        fmt::format("the cuts of a partition of {} vertices should ascend from 0 to {}",
                    graph.vertices, graph.vertices));
  }
  if (!partition.identity() && partition.new_id.size() != graph.vertices) {
    throw UsageError(fmt::format("a partition of {} ids for a graph of {} vertices",
                                 partition.new_id.size(), graph.vertices));
  }
}

}  // namespace

std::vector<std::uint64_t> edge_balanced_cuts(std::span<const EdgeOffset> offsets, int parts) {
  check_parts(parts);
  require(
      !offsets.empty(),
      "edge_balanced_cuts: offsets should have one entry more than there are vertices, not none");
  std::vector<std::uint64_t> cuts;
  cuts.reserve(static_cast<std::size_t>(parts) + 1);
  for (int p = 0; p < parts; ++p) {
    const auto cut =
        std::lower_bound(offsets.begin(), offsets.end(), share(offsets.back(), p, parts));
    cuts.push_back(static_cast<std::uint64_t>(cut - offsets.begin()));
  }
  cuts.push_back(offsets.size() - 1);
  return cuts;
}

Partition partition_ranges(const Graph& graph, int parts) {
  Partition partition;
  partition.cuts = edge_balanced_cuts(graph.offsets.span(), parts);
  return partition;
}

Partition partition_random(const Graph& graph, int parts, std::uint64_t seed) {
  check_parts(parts);
  const std::uint64_t n = graph.vertices;
  Partition partition;
  partition.new_id = memory::HostArray<Vertex>(n);
  partition.old_id = memory::HostArray<Vertex>(n);
  // Fisher and Yates' shuffle, from the front, so that each place is written once before it is
  // drawn from.
  detail::DrawStream stream(detail::mix(seed));
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t j = below(stream.bits(), i + 1);
    partition.old_id[i] = partition.old_id[j];
    partition.old_id[j] = static_cast<Vertex>(i);
  }
  for (std::uint64_t i = 0; i < n; ++i)
    partition.new_id[partition.old_id[i]] = static_cast<Vertex>(i);
  for (int p = 0; p <= parts; ++p) partition.cuts.push_back(share(n, p, parts));
  return partition;
}

std::vector<std::uint64_t> dealt_cuts(std::uint64_t vertices, int parts) {
  std::vector<std::uint64_t> cuts{0};
  const auto p = static_cast<std::uint64_t>(parts);
  for (std::uint64_t q = 0; q < p; ++q)
    cuts.push_back(cuts.back() + vertices / p + (q < vertices % p ? 1 : 0));
  return cuts;
}

Partition partition_degree(const Graph& graph, int parts) {
  check_parts(parts);
  const std::uint64_t n = graph.vertices;
  std::vector<Vertex> order(n);
  std::iota(order.begin(), order.end(), Vertex{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Vertex a, Vertex b) { return graph.degree(a) > graph.degree(b); });
  Partition partition;
  partition.new_id = memory::HostArray<Vertex>(n);
  partition.old_id = memory::HostArray<Vertex>(n);
  partition.cuts = dealt_cuts(n, parts);
  for (std::uint64_t k = 0; k < n; ++k) {
    const Vertex id = dealt_id(k, partition.cuts, parts);
    partition.old_id[id] = order[k];
    partition.new_id[order[k]] = id;
  }
  return partition;
}

Partition make_partition(const Graph& graph, const std::string& method, int parts,
                         std::uint64_t seed) {
  check_parts(parts);
  if (method == "ranges") return partition_ranges(graph, parts);
  if (method == "random") return partition_random(graph, parts, seed);
  if (method == "degree") return partition_degree(graph, parts);
  throw UsageError(fmt::format(
      "there is no partition method \"{}\"; the methods are ranges, random and degree", method));
}

PartitionQuality partition_quality(const Graph& graph, const Partition& partition,
                                   exec::ThreadPool& pool) {
  check_partition(graph, partition);
  const std::uint64_t n = graph.vertices;
  const auto parts = static_cast<std::size_t>(partition.parts());
  const auto owner = owners(n, partition, pool);
  // Bit p of named[v]: an edge of rank p names v, which is another's.
  static_assert(kMaxRanks <= 32);
  memory::HostArray<std::uint32_t> named(n);
  pool.parallel_for(0, n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::fill(named.begin() + begin, named.begin() + end, 0u);
  });
  PartitionQuality quality;
  std::array<std::uint64_t, kMaxRanks> edges{};
  std::mutex mutex;
  pool.parallel_for(0, n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t cut = 0;
    std::array<std::uint64_t, kMaxRanks> mine{};
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint8_t rank = owner[v];
      const std::uint32_t bit = 1u << rank;
      mine[rank] += graph.degree(static_cast<Vertex>(v));
      for (const Vertex u : graph.neighbours(static_cast<Vertex>(v))) {
        if (owner[u] == rank) continue;
        ++cut;
        const std::atomic_ref<std::uint32_t> ranks(named[u]);
        if ((ranks.load(std::memory_order_relaxed) & bit) == 0)
          ranks.fetch_or(bit, std::memory_order_relaxed);
      }
    }
    const std::scoped_lock lock(mutex);
    quality.cut_edges += cut;
    for (std::size_t p = 0; p < parts; ++p) edges[p] += mine[p];
  });
  std::atomic<std::uint64_t> halo{0};
  pool.parallel_for(0, n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t sum = 0;
    for (std::uint64_t v = begin; v < end; ++v)
      sum += static_cast<std::uint64_t>(std::popcount(named[v]));
    halo.fetch_add(sum, std::memory_order_relaxed);
  });
  quality.halo_rows = halo.load();
  if (graph.edges() > 0) {
    const std::uint64_t fullest = *std::max_element(edges.begin(), edges.end());
    quality.imbalance = static_cast<double>(fullest) * static_cast<double>(parts) /
                        static_cast<double>(graph.edges());
  }
  quality.broadcast = n * (parts - 1);
  quality.per_edge = quality.cut_edges;
  quality.once = quality.halo_rows;
  return quality;
}

}  // namespace warren::graph
