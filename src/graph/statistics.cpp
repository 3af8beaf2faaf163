// SPDX-License-Identifier: Apache-2.0
// What can be counted of a graph in one look at its edges.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>

#include "warren/graph/transform.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kStatisticsGrain = std::uint64_t{1} << 13;

// A bit for each vertex, set by several threads.
class VertexBits {
 public:
  VertexBits(std::uint64_t vertices, exec::ThreadPool& pool) : words_((vertices + 63) / 64) {
    pool.parallel_for(0, words_.size(), kStatisticsGrain,
                      [&](std::uint64_t begin, std::uint64_t end) {
                        std::fill(words_.begin() + begin, words_.begin() + end, std::uint64_t{0});
                      });
  }

  // Most bits are set long before the last edge is seen: look before writing.
  void set(Vertex v) {
    const std::atomic_ref<std::uint64_t> word(words_[v / 64]);
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
      word.fetch_or(bit, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t count(exec::ThreadPool& pool) const {
    std::atomic<std::uint64_t> total{0};
    pool.parallel_for(0, words_.size(), kStatisticsGrain,
                      [&](std::uint64_t begin, std::uint64_t end) {
                        std::uint64_t sum = 0;
                        for (std::uint64_t w = begin; w < end; ++w)
                          sum += static_cast<std::uint64_t>(std::popcount(words_[w]));
                        total.fetch_add(sum, std::memory_order_relaxed);
                      });
    return total.load();
  }

 private:
  memory::HostArray<std::uint64_t> words_;
};

}  // namespace

Statistics statistics(const Graph& graph, exec::ThreadPool& pool) {
  const std::uint64_t n = graph.vertices;
  Statistics result;
  if (n == 0) return result;
  VertexBits connected(n, pool);
  const bool symmetric = graph.symmetry == Symmetry::symmetric;
  constexpr std::size_t kBuckets = 65;  // Of 64 bits.
  std::array<std::uint64_t, kBuckets> all_buckets{};
  std::mutex mutex;
  pool.parallel_for(0, n, kStatisticsGrain, [&](std::uint64_t begin, std::uint64_t end) {
    Statistics mine;
    mine.max_degree_vertex = static_cast<Vertex>(begin);
    std::array<std::uint64_t, kBuckets> buckets{};
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto v = static_cast<Vertex>(i);
      ++buckets[static_cast<std::size_t>(std::bit_width(graph.degree(v)))];
      if (graph.degree(v) > mine.max_degree) {
        mine.max_degree = graph.degree(v);
        mine.max_degree_vertex = v;
      }
      bool leaves = false;
      for (const Vertex u : graph.neighbours(v)) {
        if (u == v) {
          ++mine.self_loops;
          continue;
        }
        leaves = true;
        if (!symmetric) connected.set(u);
      }
      if (leaves) connected.set(v);
    }
    const std::scoped_lock lock(mutex);
    for (std::size_t b = 0; b < kBuckets; ++b) all_buckets[b] += buckets[b];
    result.self_loops += mine.self_loops;
    if (mine.max_degree > result.max_degree ||
        (mine.max_degree == result.max_degree &&
         mine.max_degree_vertex < result.max_degree_vertex)) {
      result.max_degree = mine.max_degree;
      result.max_degree_vertex = mine.max_degree_vertex;
    }
  });
  result.mean_degree = static_cast<double>(graph.edges()) / static_cast<double>(n);
  result.isolated = n - connected.count(pool);
  const auto used = static_cast<std::ptrdiff_t>(std::bit_width(result.max_degree) + 1);
  result.degree_counts.assign(all_buckets.begin(), all_buckets.begin() + used);
  return result;
}

}  // namespace warren::graph
