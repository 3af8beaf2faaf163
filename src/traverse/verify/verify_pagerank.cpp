// SPDX-License-Identifier: Apache-2.0
// A check of PageRank by its own equation: one more iteration, pushed along out-edges in double
// precision (the algorithm pulls along in-edges), may change the ranks by little.
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/memory/host_array.hpp"
#include "warren/traverse/verify.hpp"

#include "traverse/verify/verify_first.hpp"

namespace warren::traverse {
namespace {

constexpr double kSumBound = 1e-4;
constexpr std::uint64_t kGrain = 4096;

/// The sum of value(begin, end) over pieces of [0, count).
template <class Value>
double parallel_sum(std::uint64_t count, exec::ThreadPool& pool, Value&& value) {
  std::mutex mutex;
  double total = 0.0;
  pool.parallel_for(0, count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    const double part = value(begin, end);
    const std::scoped_lock lock(mutex);
    total += part;
  });
  return total;
}

/// What the edges of a vertex have of its rank: as much each, or by their weights.
class Shares {
 public:
  Shares(const graph::Graph& graph, bool weighted) : graph_(graph), weighted_(weighted) {}

  [[nodiscard]] double of_edge(EdgeOffset edge) const {
    if (!weighted_) return 1.0;
    return graph_.weight_type == graph::WeightType::int32
               ? static_cast<double>(graph_.weights_int[edge])
               : static_cast<double>(graph_.weights_float[edge]);
  }
  [[nodiscard]] double of_vertex(std::uint64_t u) const {
    if (!weighted_) return static_cast<double>(graph_.offsets[u + 1] - graph_.offsets[u]);
    double sum = 0.0;
    for (EdgeOffset e = graph_.offsets[u]; e < graph_.offsets[u + 1]; ++e) sum += of_edge(e);
    return sum;
  }

 private:
  const graph::Graph& graph_;
  bool weighted_;
};

/// What reaches each vertex along its in-edges; the result is the rank of vertices without
/// out-edges, or whose edges have no weight.
double push(const graph::Graph& graph, const Shares& shares, std::span<const double> ranks,
            memory::HostArray<double>& arrived, exec::ThreadPool& pool) {
  return parallel_sum(graph.vertices, pool, [&](std::uint64_t begin, std::uint64_t end) {
    double dangling = 0.0;
    for (std::uint64_t u = begin; u < end; ++u) {
      const double all = shares.of_vertex(u);
      if (all == 0.0) {
        dangling += ranks[u];
        continue;
      }
      const double unit = ranks[u] / all;
      for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
        std::atomic_ref<double>(arrived[graph.targets[e]])
            .fetch_add(shares.of_edge(e) * unit, std::memory_order_relaxed);
      }
    }
    return dangling;
  });
}

}  // namespace

double pagerank_bound(const PageRankOptions& options, const PageRankResult& result) {
  const bool is_wide = options.weighted || options.has_vectors() ||
                       needs_double_precision(options.damping, options.tolerance);
  const double rounding = is_wide ? 1e-12 : 1e-6;
  return (result.converged ? options.tolerance : result.residual) + rounding;
}

Verdict verify_pagerank(const graph::Graph& graph, double damping, std::span<const double> ranks,
                        double bound, exec::ThreadPool& pool, bool weighted,
                        std::span<const double> personalization,
                        std::span<const double> dangling_shares) {
  const std::uint64_t n = graph.vertices;
  require(personalization.empty() || personalization.size() == n,
          fmt::format("{} numbers of personalization for {} vertices", personalization.size(), n));
  require(dangling_shares.empty() || dangling_shares.size() == n,
          fmt::format("{} numbers of dangling for {} vertices", dangling_shares.size(), n));
  require(!weighted || graph.weight_type != graph::WeightType::none || graph.edges() == 0,
          "weighted ranks are checked against weights");
  require(ranks.size() == n, fmt::format("{} ranks for {} vertices", ranks.size(), n));
  if (n == 0) return {};
  const auto name = [&](std::uint64_t v) { return graph.original_id(static_cast<Vertex>(v)); };
  Verdict verdict = first_failure(n, pool, [&](std::uint64_t v) -> std::string {
    if (ranks[v] >= 0.0 && std::isfinite(ranks[v])) return {};
    return fmt::format("the rank of vertex {} is {}; it should be in [0, 1]", name(v), ranks[v]);
  });
  if (!verdict.correct) return verdict;

  const double sum = parallel_sum(n, pool, [&](std::uint64_t begin, std::uint64_t end) {
    double part = 0.0;
    for (std::uint64_t v = begin; v < end; ++v) part += ranks[v];
    return part;
  });
  if (!(std::abs(sum - 1.0) <= kSumBound)) {
    return {false, fmt::format("the ranks sum to {:.6g}; they should sum to 1", sum)};
  }

  memory::HostArray<double> arrived(n);
  pool.parallel_for(0, n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) arrived[v] = 0.0;
  });
  const double dangling = push(graph, Shares(graph, weighted), ranks, arrived, pool);
  const double all = std::reduce(personalization.begin(), personalization.end());
  const double all_dangling = std::reduce(dangling_shares.begin(), dangling_shares.end());
  const auto after = [&](std::uint64_t v) {
    const double anew =
        personalization.empty() ? 1.0 / static_cast<double>(n) : personalization[v] / all;
    const double left = dangling_shares.empty() ? anew : dangling_shares[v] / all_dangling;
    return (1.0 - damping) * anew + damping * (dangling * left + arrived[v]);
  };
  const auto change = [&](std::uint64_t v) { return std::abs(after(v) - ranks[v]); };
  const double total = parallel_sum(n, pool, [&](std::uint64_t begin, std::uint64_t end) {
    double part = 0.0;
    for (std::uint64_t v = begin; v < end; ++v) part += change(v);
    return part;
  });
  if (total <= bound) return {};
  std::uint64_t worst = 0;
  for (std::uint64_t v = 1; v < n; ++v) {
    if (change(v) > change(worst)) worst = v;
  }
  return {false,
          fmt::format("one more iteration changes the ranks by {:.3g} in L1, more than {:.3g}; "
                      "that of vertex {} most, from {:.6g} to {:.6g}",
                      total, bound, name(worst), ranks[worst], after(worst))};
}

}  // namespace warren::traverse
