// SPDX-License-Identifier: Apache-2.0
// The checks of verify.hpp for a graph whose lists stay in a file. Each reads them once, an edge
// after the other, on the host, and shares with what it checks nothing but the file's reader.
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/stop.hpp"
#include "warren/traverse/streamed.hpp"

#include "traverse/verify/source_set.hpp"
#include "traverse/verify/verify_first.hpp"

namespace warren::traverse {
namespace {

/// The first of several findings, by the vertex that they are of.
class First {
 public:
  void note(std::uint64_t at, std::string message) {
    const std::scoped_lock lock(mutex_);
    if (at >= at_) return;
    at_ = at;
    message_ = std::move(message);
  }
  [[nodiscard]] Verdict verdict() const {
    if (message_.empty()) return {};
    return {false, message_};
  }
  [[nodiscard]] bool is_there() const { return !message_.empty(); }

 private:
  std::mutex mutex_;
  std::uint64_t at_ = ~std::uint64_t{0};
  std::string message_;
};

/// f(u, targets, degree) for every row's part in every window, with the pool's threads; `degree` is
/// that of the whole row.
template <class F>
void for_each_list(const graph::EdgeFile& file, exec::ThreadPool& pool, const StreamCheck& check,
                   F&& f) {
  constexpr std::uint64_t kGrain = 512;
  graph::ListReader reader(file, exec::Device::cpu(1));
  std::vector<std::uint32_t> chunks(file.chunks().size());
  std::iota(chunks.begin(), chunks.end(), std::uint32_t{0});
  reader.start(std::move(chunks));
  while (const auto window = reader.next()) {
    if (check) check();
    check_stop();
    const graph::FileChunk& chunk = window->chunk;
    pool.parallel_for(0, chunk.rows, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t row = begin; row < end; ++row) {
        const EdgeOffset low = std::max(window->offsets[row], chunk.begin);
        const EdgeOffset high = std::min(window->offsets[row + 1], chunk.begin + chunk.edges);
        if (low < high)
          f(static_cast<Vertex>(chunk.first + row),
            std::span<const Vertex>(window->targets + (low - chunk.begin), high - low),
            window->offsets[row + 1] - window->offsets[row]);
      }
    });
    reader.release();
  }
}

std::string name_of(const graph::EdgeFile& file, Vertex v) {
  return std::to_string(file.original_ids().empty() ? v : file.original_ids()[v]);
}

}  // namespace

Verdict verify_streamed_bfs(const graph::EdgeFile& file, std::span<const Vertex> sources,
                            std::span<const Vertex> depth, std::span<const Vertex> parent,
                            exec::ThreadPool& pool, const BfsLimits& limits,
                            const StreamCheck& check) {
  const std::uint64_t n = file.vertices();
  const SourceSet set(sources, n);
  require(depth.size() == n && parent.size() == n,
          fmt::format("{} depths and {} parents for {} vertices", depth.size(), parent.size(), n));
  const auto name = [&](Vertex v) { return name_of(file, v); };
  for (const Vertex source : set) {
    if (depth[source] == 0 && parent[source] == source) continue;
    return {false, fmt::format("the source {} has depth {} and parent {}; 0 and itself would be "
                               "right",
                               name(source), depth[source], parent[source])};
  }
  Vertex limit = limits.targets.empty() ? kNoVertex : 0;
  for (const Vertex target : limits.targets) limit = std::max(limit, depth[target]);
  limit = std::min(limits.depth, limit);
  Verdict verdict = first_failure(n, pool, [&](std::uint64_t i) -> std::string {
    const auto v = static_cast<Vertex>(i);
    if (depth[v] == kNoVertex)
      return parent[v] == kNoVertex ? ""
                                    : fmt::format("vertex {} has a parent but no depth", name(v));
    if (depth[v] > limit)
      return fmt::format("vertex {} has depth {}; the search ends at {}", name(v), depth[v], limit);
    if (set.has(v)) return {};
    const Vertex p = parent[v];
    if (p >= n) return fmt::format("the parent of vertex {} is {}, which is no vertex", name(v), p);
    if (depth[p] == kNoVertex || depth[p] + 1 != depth[v])
      return fmt::format("vertex {} has depth {}, and its parent {} is not one level above",
                         name(v), depth[v], name(p));
    return {};
  });
  if (!verdict.correct) return verdict;

  constexpr std::uint32_t kBits = 32;
  std::vector<std::atomic<std::uint32_t>> has_parent((n + kBits - 1) / kBits);
  First wrong;
  for_each_list(file, pool, check, [&](Vertex u, std::span<const Vertex> targets, EdgeOffset) {
    if (depth[u] == kNoVertex) return;
    for (const Vertex v : targets) {
      if (parent[v] == u)
        has_parent[v / kBits].fetch_or(std::uint32_t{1} << v % kBits, std::memory_order_relaxed);
      if (depth[u] == limit) continue;
      if (depth[v] == kNoVertex) {
        wrong.note(
            u, fmt::format("the edge from {} to {} leaves the reached vertices", name(u), name(v)));
      } else if (depth[v] > depth[u] + 1) {
        wrong.note(u, fmt::format("the edge from {} to {} goes from depth {} to {}; at most {} is "
                                  "possible",
                                  name(u), name(v), depth[u], depth[v], depth[u] + 1));
      }
    }
  });
  if (wrong.is_there()) return wrong.verdict();
  return first_failure(n, pool, [&](std::uint64_t i) -> std::string {
    const auto v = static_cast<Vertex>(i);
    if (depth[v] == kNoVertex || set.has(v)) return {};
    if ((has_parent[v / kBits].load() >> v % kBits & 1) != 0) return {};
    return fmt::format("vertex {} is the parent of vertex {}, but there is no edge between them",
                       name(parent[v]), name(v));
  });
}

Verdict verify_streamed_components(const graph::EdgeFile& file, std::span<const Vertex> label,
                                   exec::ThreadPool& pool, const StreamCheck& check) {
  const std::uint64_t n = file.vertices();
  require(label.size() == n, fmt::format("{} labels for {} vertices", label.size(), n));
  const auto name = [&](Vertex v) { return name_of(file, v); };
  Verdict verdict = first_failure(n, pool, [&](std::uint64_t i) -> std::string {
    const auto v = static_cast<Vertex>(i);
    if (label[v] > v)
      return fmt::format("the label of vertex {} is {}; the vertex itself is smaller", name(v),
                         label[v]);
    if (label[label[v]] != label[v])
      return fmt::format("the label of vertex {} is vertex {}, whose own label is {}", name(v),
                         name(label[v]), label[label[v]]);
    return {};
  });
  if (!verdict.correct) return verdict;
  // Union-find with path halving, one edge after the other.
  std::vector<Vertex> above(n);
  std::iota(above.begin(), above.end(), Vertex{0});
  const auto root_of = [&](Vertex v) {
    while (above[v] != v) v = above[v] = above[above[v]];
    return v;
  };
  std::uint64_t components = n;
  First wrong;
  exec::ThreadPool alone(1);
  for_each_list(file, alone, check, [&](Vertex u, std::span<const Vertex> targets, EdgeOffset) {
    for (const Vertex v : targets) {
      if (label[u] != label[v])
        wrong.note(u, fmt::format("the edge from {} to {} joins the labels {} and {}", name(u),
                                  name(v), label[u], label[v]));
      const Vertex a = root_of(u), b = root_of(v);
      if (a == b) continue;
      above[a < b ? b : a] = a < b ? a : b;
      --components;
    }
  });
  if (wrong.is_there()) return wrong.verdict();
  std::uint64_t labels = 0;
  for (Vertex v = 0; v < n; ++v) labels += label[v] == v ? 1 : 0;
  if (labels == components) return {};
  return {false, fmt::format("there are {} labels for {} components", labels, components)};
}

Verdict verify_streamed_pagerank(const graph::EdgeFile& file, double damping,
                                 std::span<const double> ranks, double bound,
                                 exec::ThreadPool& pool, const StreamCheck& check) {
  constexpr double kSumBound = 1e-4;
  const std::uint64_t n = file.vertices();
  require(ranks.size() == n, fmt::format("{} ranks for {} vertices", ranks.size(), n));
  Verdict verdict = first_failure(n, pool, [&](std::uint64_t v) -> std::string {
    if (ranks[v] >= 0.0 && std::isfinite(ranks[v])) return {};
    return fmt::format("the rank of vertex {} is {}; it should be in [0, 1]",
                       name_of(file, static_cast<Vertex>(v)), ranks[v]);
  });
  if (!verdict.correct) return verdict;
  const double sum = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  if (!(std::abs(sum - 1.0) <= kSumBound))
    return {false, fmt::format("the ranks sum to {:.6g}; they should sum to 1", sum)};

  double dangling = 0.0;
  for (std::uint64_t v = 0; v < n; ++v) {
    if ((file.has_edges()[v / 32] >> v % 32 & 1) == 0) dangling += ranks[v];
  }
  std::vector<double> arrived(n);
  for_each_list(file, pool, check,
                [&](Vertex u, std::span<const Vertex> targets, EdgeOffset degree) {
                  const double unit = ranks[u] / static_cast<double>(degree);
                  for (const Vertex v : targets)
                    std::atomic_ref<double>(arrived[v]).fetch_add(unit, std::memory_order_relaxed);
                });
  const double base = (1.0 - damping + damping * dangling) / static_cast<double>(n);
  double total = 0.0, most = -1.0;
  Vertex worst = 0;
  for (std::uint64_t v = 0; v < n; ++v) {
    const double change = std::abs(base + damping * arrived[v] - ranks[v]);
    total += change;
    if (change > most) {
      most = change;
      worst = static_cast<Vertex>(v);
    }
  }
  if (total <= bound) return {};
  return {false,
          fmt::format("one more iteration changes the ranks by {:.3g} in L1, more than {:.3g}; "
                      "that of vertex {} most, from {:.6g} to {:.6g}",
                      total, bound, name_of(file, worst), ranks[worst],
                      base + damping * arrived[worst])};
}

}  // namespace warren::traverse
