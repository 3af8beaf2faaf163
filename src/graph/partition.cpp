// SPDX-License-Identifier: Apache-2.0
// Partitions and what they cost.
#include "warren/graph/partition.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/graph/draw.hpp"
#include "warren/graph/partition_metis.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/vertex_cover.hpp"

#include "graph/edge_shares.hpp"
#include "graph/falling_degree.hpp"

namespace warren::graph {
namespace {

using detail::share;

constexpr std::uint64_t kPartitionGrain = std::uint64_t{1} << 13;
constexpr std::uint64_t kDrawnAtOnce = std::uint64_t{1} << 17;
constexpr std::size_t kBits = 32;  // Of a word of a set of ranks.

void check_parts(int parts) {
  if (parts < 1 || parts > kMaxParts)
    throw UsageError(fmt::format("{} parts; there should be 1 to {}", parts, kMaxParts));
}

// A number below `bound` from 64 random bits, each about equally likely (the bias is below bound /
// 2^64, less than 2^-32).
std::uint64_t below(std::uint64_t bits, std::uint64_t bound) {
  const std::uint64_t high = bits >> 32;
  const std::uint64_t low = bits & 0xffffffffu;
  return (high * bound + ((low * bound) >> 32)) >> 32;
}

// What each rank owns, looked up per vertex: old vertex -> rank.
memory::HostArray<std::uint16_t> owners(std::uint64_t vertices, const Partition& partition,
                                        exec::ThreadPool& pool) {
  static_assert(kMaxParts <= 1 << 16);
  memory::HostArray<std::uint16_t> owner(vertices);
  pool.parallel_for(0, vertices, kPartitionGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint64_t id = partition.to_new(static_cast<Vertex>(v));
      const auto after = std::upper_bound(partition.cuts.begin(), partition.cuts.end(), id);
      owner[v] = static_cast<std::uint16_t>(after - partition.cuts.begin() - 1);
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
  in_pieces(0, n, kDrawnAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t j = below(stream.bits(), i + 1);
      partition.old_id[i] = partition.old_id[j];
      partition.old_id[j] = static_cast<Vertex>(i);
    }
  });
  in_pieces(0, n, kDrawnAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      partition.new_id[partition.old_id[i]] = static_cast<Vertex>(i);
  });
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
  const std::vector<Vertex> order = detail::by_falling_degree(graph);
  Partition partition;
  partition.new_id = memory::HostArray<Vertex>(n);
  partition.old_id = memory::HostArray<Vertex>(n);
  partition.cuts = dealt_cuts(n, parts);
  in_pieces(0, n, kDrawnAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t k = begin; k < end; ++k) {
      const Vertex id = dealt_id(k, partition.cuts, parts);
      partition.old_id[id] = order[k];
      partition.new_id[order[k]] = id;
    }
  });
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

void count_row(int owner, std::span<const std::uint32_t> needing, int workgroup, MovedRows& moved,
               MovedRows& between) {
  int group = -1;  // Of the last rank that needs it.
  for (std::size_t word = 0; word < needing.size(); ++word) {
    for (std::uint32_t bits = needing[word]; bits != 0; bits &= bits - 1) {
      const int rank = static_cast<int>(word * kBits) + std::countr_zero(bits);
      const bool is_first = rank / workgroup != group;
      group = rank / workgroup;
      moved.once += 1;
      if (group == owner / workgroup) {
        moved.fused += 1;
        continue;
      }
      between.once += 1;
      if (is_first) between.fused += 1;
      moved.fused += (is_first ? 1 : 0) + (rank % workgroup != owner % workgroup ? 1 : 0);
    }
  }
}

namespace {

/// The blocks of p's rows with every other rank's columns, compacted.
std::vector<SparseBlock> blocks_of(const Graph& graph, const Partition& partition,
                                   const memory::HostArray<std::uint16_t>& owner, std::size_t p) {
  const auto& cuts = partition.cuts;
  std::vector<SparseBlock> blocks(cuts.size() - 1);
  std::vector<std::size_t> named;  // By the row at hand.
  SeldomInterruptPoint point;
  for (std::uint64_t id = cuts[p]; id < cuts[p + 1]; ++id) {
    point();
    for (const Vertex u : graph.neighbours(partition.to_old(static_cast<Vertex>(id)))) {
      const std::size_t q = owner[u];
      if (q == p) continue;
      SparseBlock& block = blocks[q];
      if (block.columns.size() == block.offsets.back()) named.push_back(q);
      block.columns.push_back(static_cast<Vertex>(partition.to_new(u) - cuts[q]));
    }
    for (const std::size_t q : named) blocks[q].offsets.push_back(blocks[q].columns.size());
    named.clear();
  }
  for (std::size_t q = 0; q < blocks.size(); ++q)
    blocks[q].column_count = static_cast<Vertex>(cuts[q + 1] - cuts[q]);
  return blocks;
}

/// Of some ranks' rows at a time, as many as threads, or fewer with many edges: their blocks, then
/// the blocks' covers. `edges`: of each rank.
void add_covers(const Graph& graph, const Partition& partition,
                const memory::HostArray<std::uint16_t>& owner, std::span<const std::uint64_t> edges,
                int workgroup, exec::ThreadPool& pool, PartitionQuality& quality) {
  constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 26;
  const auto parts = static_cast<std::size_t>(partition.parts());
  const auto group = static_cast<std::size_t>(workgroup);
  std::atomic<std::uint64_t> all = 0, far = 0;
  std::vector<std::vector<SparseBlock>> blocks(static_cast<std::size_t>(pool.size()));
  std::size_t count = 0;
  for (std::size_t first = 0; first < parts; first += count) {
    count = 0;
    for (std::uint64_t sum = 0; count < blocks.size() && first + count < parts; ++count) {
      sum += edges[first + count];
      if (count > 0 && sum > kMostEdges) break;
    }
    pool.parallel_for(0, count, 1, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        blocks[i] = blocks_of(graph, partition, owner, first + i);
    });
    pool.parallel_for(0, count * parts, 1, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t pair = begin; pair < end; ++pair) {
        const std::size_t p = first + pair / parts, q = pair % parts;
        const SparseBlock block = std::move(blocks[pair / parts][q]);
        if (block.columns.empty()) continue;
        const std::uint64_t size = smallest_vertex_cover(block).size;
        all += size;
        if (p / group != q / group) far += size;
      }
    });
  }
  quality.moved.cover += all;
  quality.between.cover += far;
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
  // Bit p of v's words: an edge of rank p names v, which is another's.
  const std::size_t words = (parts + kBits - 1) / kBits;
  memory::HostArray<std::uint32_t> named(n * words);
  pool.parallel_for(0, n * words, kPartitionGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::fill(named.begin() + begin, named.begin() + end, 0u);
  });
  PartitionQuality quality;
  std::vector<std::uint64_t> edges(parts);
  std::mutex mutex;
  pool.parallel_for(0, n, kPartitionGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t cut = 0;
    std::uint64_t far = 0;
    std::vector<std::uint64_t> mine(parts);
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint16_t rank = owner[v];
      const std::uint32_t bit = 1u << (rank % kBits);
      mine[rank] += graph.degree(static_cast<Vertex>(v));
      for (const Vertex u : graph.neighbours(static_cast<Vertex>(v))) {
        if (owner[u] == rank) continue;
        ++cut;
        far += owner[u] / workgroup != rank / workgroup ? 1 : 0;
        const std::atomic_ref<std::uint32_t> ranks(named[u * words + rank / kBits]);
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
      count_row(owner[v], {&named[v * words], words}, workgroup, moved, between);
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
  if (options.with_cover) add_covers(graph, partition, owner, edges, workgroup, pool, quality);
  return quality;
}

}  // namespace warren::graph
