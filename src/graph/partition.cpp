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
#include "warren/graph/partition_metis.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/vertex_cover.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kPartitionGrain = std::uint64_t{1} << 13;

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
  pool.parallel_for(0, vertices, kPartitionGrain, [&](std::uint64_t begin, std::uint64_t end) {
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
  if (method == "rabbit") {
    exec::ThreadPool pool(exec::hardware_threads());
    return partition_rabbit(graph, parts, pool);
  }
  if (method == "metis") {
    exec::ThreadPool pool(exec::hardware_threads());
    return partition_metis(graph, parts, seed, pool);
  }
  throw UsageError(
      fmt::format("there is no partition method \"{}\"; the methods are ranges, random, degree, "
                  "rabbit and metis",
                  method));
}

void check_workgroup(int workgroup, int ranks) {
  if (workgroup >= 1 && workgroup <= ranks && ranks % workgroup == 0) return;
  throw UsageError(fmt::format(
      "workgroups of {} do not divide {} ranks; a workgroup has a divisor of their number",
      workgroup, ranks));
}

void count_row(int owner, std::uint32_t needing, int ranks, int workgroup, MovedRows& moved,
               MovedRows& between) {
  const auto bits = [&](int group) {
    const std::uint64_t all = (std::uint64_t{1} << workgroup) - 1;
    return needing & static_cast<std::uint32_t>(all << (group * workgroup));
  };
  const auto count = [](std::uint32_t set) {
    return static_cast<std::uint64_t>(std::popcount(set));
  };
  for (int group = 0; group < ranks / workgroup; ++group) {
    const std::uint32_t members = bits(group);
    if (members == 0) continue;
    moved.once += count(members);
    if (group == owner / workgroup) {
      moved.fused += count(members);
      continue;
    }
    between.once += count(members);
    const std::uint32_t counterpart = 1u << (group * workgroup + owner % workgroup);
    between.fused += 1;
    moved.fused += 1 + count(members & ~counterpart);
  }
}

namespace {

/// The block of p's rows and q's columns, compacted.
SparseBlock block_between(const Graph& graph, const Partition& partition,
                          const memory::HostArray<std::uint8_t>& owner, std::size_t p,
                          std::size_t q) {
  SparseBlock block;
  block.column_count = static_cast<Vertex>(partition.cuts[q + 1] - partition.cuts[q]);
  for (std::uint64_t id = partition.cuts[p]; id < partition.cuts[p + 1]; ++id) {
    for (const Vertex u : graph.neighbours(partition.to_old(static_cast<Vertex>(id)))) {
      if (owner[u] == q)
        block.columns.push_back(static_cast<Vertex>(partition.to_new(u) - partition.cuts[q]));
    }
    if (block.columns.size() > block.offsets.back()) block.offsets.push_back(block.columns.size());
  }
  return block;
}

void add_covers(const Graph& graph, const Partition& partition,
                const memory::HostArray<std::uint8_t>& owner, int workgroup, exec::ThreadPool& pool,
                PartitionQuality& quality) {
  const auto parts = static_cast<std::size_t>(partition.parts());
  std::mutex mutex;
  pool.parallel_for(0, parts * parts, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t pair = begin; pair < end; ++pair) {
      const std::size_t p = pair / parts;
      const std::size_t q = pair % parts;
      if (p == q) continue;
      const std::uint64_t size =
          smallest_vertex_cover(block_between(graph, partition, owner, p, q)).size;
      const std::scoped_lock lock(mutex);
      const auto group = static_cast<std::size_t>(workgroup);
      quality.moved.cover += size;
      if (p / group != q / group) quality.between.cover += size;
    }
  });
}

}  // namespace

PartitionQuality partition_quality(const Graph& graph, const Partition& partition,
                                   exec::ThreadPool& pool, const QualityOptions& options) {
  check_partition(graph, partition);
  const int workgroup = options.workgroup == 0 ? partition.parts() : options.workgroup;
  check_workgroup(workgroup, partition.parts());
  const std::uint64_t n = graph.vertices;
  const auto parts = static_cast<std::size_t>(partition.parts());
  const auto owner = owners(n, partition, pool);
  // Bit p of named[v]: an edge of rank p names v, which is another's.
  static_assert(kMaxRanks <= 32);
  memory::HostArray<std::uint32_t> named(n);
  pool.parallel_for(0, n, kPartitionGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::fill(named.begin() + begin, named.begin() + end, 0u);
  });
  PartitionQuality quality;
  std::array<std::uint64_t, kMaxRanks> edges{};
  std::mutex mutex;
  pool.parallel_for(0, n, kPartitionGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t cut = 0;
    std::uint64_t far = 0;
    std::array<std::uint64_t, kMaxRanks> mine{};
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint8_t rank = owner[v];
      const std::uint32_t bit = 1u << rank;
      mine[rank] += graph.degree(static_cast<Vertex>(v));
      for (const Vertex u : graph.neighbours(static_cast<Vertex>(v))) {
        if (owner[u] == rank) continue;
        ++cut;
        far += owner[u] / workgroup != rank / workgroup ? 1 : 0;
        const std::atomic_ref<std::uint32_t> ranks(named[u]);
        if ((ranks.load(std::memory_order_relaxed) & bit) == 0)
          ranks.fetch_or(bit, std::memory_order_relaxed);
      }
    }
    const std::scoped_lock lock(mutex);
    quality.cut_edges += cut;
    quality.between.per_edge += far;
    for (std::size_t p = 0; p < parts; ++p) edges[p] += mine[p];
  });
  pool.parallel_for(0, n, kPartitionGrain, [&](std::uint64_t begin, std::uint64_t end) {
    MovedRows moved;
    MovedRows between;
    for (std::uint64_t v = begin; v < end; ++v)
      count_row(owner[v], named[v], partition.parts(), workgroup, moved, between);
    const std::scoped_lock lock(mutex);
    quality.moved.once += moved.once;
    quality.moved.fused += moved.fused;
    quality.between.once += between.once;
    quality.between.fused += between.fused;
  });
  quality.halo_rows = quality.moved.once;
  if (graph.edges() > 0) {
    const std::uint64_t fullest = *std::max_element(edges.begin(), edges.end());
    quality.imbalance = static_cast<double>(fullest) * static_cast<double>(parts) /
                        static_cast<double>(graph.edges());
  }
  quality.moved.broadcast = n * (parts - 1);
  quality.between.broadcast = n * (parts - static_cast<std::size_t>(workgroup));
  quality.moved.per_edge = quality.cut_edges;
  if (options.with_cover) add_covers(graph, partition, owner, workgroup, pool, quality);
  return quality;
}

}  // namespace warren::graph
