// SPDX-License-Identifier: Apache-2.0
// A check of triangles by another order than the algorithm's: for every vertex the marks of its
// neighbours, and for each of these the marked ones among theirs.
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/traverse/verify.hpp"

#include "traverse/verify/verify_first.hpp"

namespace warren::traverse {
namespace {

/// Marks that are cleared by counting on.
class Marks {
 public:
  explicit Marks(std::uint64_t vertices) : of_(vertices, 0) {}
  void clear() { ++now_; }
  /// False where it has one.
  bool set(Vertex v) {
    const bool is_new = of_[v] != now_;
    of_[v] = now_;
    return is_new;
  }
  [[nodiscard]] bool has(Vertex v) const { return of_[v] == now_; }

 private:
  std::vector<std::uint64_t> of_;
  std::uint64_t now_ = 0;
};

/// Edges between neighbours of v, each seen from both ends.
std::uint64_t count(const graph::Graph& graph, Vertex v, Marks& marks) {
  marks.clear();
  for (const Vertex u : graph.neighbours(v))
    if (u != v) marks.set(u);
  std::uint64_t twice = 0;
  Vertex before = v;
  for (const Vertex u : graph.neighbours(v)) {
    if (u == v || u == before) continue;
    before = u;
    Vertex last = u;
    for (const Vertex w : graph.neighbours(u)) {
      if (w == u || w == last) continue;
      last = w;
      twice += marks.has(w) && w != v ? 1 : 0;
    }
  }
  return twice / 2;
}

}  // namespace

Verdict verify_triangles(const graph::Graph& graph, std::span<const std::uint64_t> counts,
                         exec::ThreadPool& pool) {
  const std::uint64_t n = graph.vertices;
  require(counts.size() == n, fmt::format("{} counts for {} vertices", counts.size(), n));
  std::mutex mutex;
  std::vector<Marks> free;
  return first_failure(n, pool, [&](std::uint64_t i) -> std::string {
    const auto v = static_cast<Vertex>(i);
    if (graph.degree(v) < 2) {
      return counts[v] == 0
                 ? std::string{}
                 : fmt::format("vertex {} has {} triangles and fewer than two neighbours",
                               graph.original_id(v), counts[v]);
    }
    std::unique_lock lock(mutex);
    if (free.empty()) free.emplace_back(n);
    Marks marks = std::move(free.back());
    free.pop_back();
    lock.unlock();
    const std::uint64_t right = count(graph, v, marks);
    lock.lock();
    free.push_back(std::move(marks));
    if (right == counts[v]) return {};
    return fmt::format("vertex {} has {} triangles; it should have {}", graph.original_id(v),
                       counts[v], right);
  });
}

}  // namespace warren::traverse
