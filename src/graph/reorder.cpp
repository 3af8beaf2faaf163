// SPDX-License-Identifier: Apache-2.0
// Orders of the vertices.
#include "warren/graph/reorder.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/transform.hpp"

#include "graph/falling_degree.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kPieceVertices = std::uint64_t{1} << 17;

/// Edges of a community: to another one, by its root at the time, with their number.
struct Bundle {
  Vertex to;
  float weight;
};

/// Memory for lists that are never given back one by one.
class Arena {
 public:
  Bundle* take(std::size_t count) {
    if (count > left_) {
      left_ = std::max(count, kBlock);
      blocks_.emplace_back(left_);
      next_ = blocks_.back().data();
    }
    Bundle* taken = next_;
    next_ += count;
    left_ -= count;
    return taken;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::vector<memory::HostArray<Bundle>> blocks_;
  Bundle* next_ = nullptr;
  std::size_t left_ = 0;
};

/// A community by its root: what it is linked with by, and its size (the sum of its degrees).
struct Linked {
  Vertex root;
  float weight, strength;
};

/// Weights by root, summed: a hash table as large as one vertex's links need, so that it stays in
/// the first caches where an array over all vertices would not.
class Links {
 public:
  /// Of none, with room for `count` communities before the table has to grow.
  void clear(std::size_t count) {
    linked_.clear();
    resize(2 * count);
  }
  void add(Vertex root, float weight, float strength) {
    std::size_t slot = place(root);
    for (; table_[slot] != kEmpty; slot = (slot + 1) & (slots() - 1)) {
      Linked& there = linked_[table_[slot]];
      if (there.root != root) continue;
      there.weight += weight;
      return;
    }
    table_[slot] = static_cast<std::uint32_t>(linked_.size());
    linked_.push_back({root, weight, strength});
    if (2 * linked_.size() > slots()) resize(2 * slots());
  }
  /// In the order of their first edges.
  [[nodiscard]] std::span<const Linked> all() const { return linked_; }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  static constexpr std::size_t kLeast = 64;

  [[nodiscard]] std::size_t slots() const { return std::size_t{1} << bits_; }
  [[nodiscard]] std::size_t place(Vertex root) const {
    return static_cast<std::uint32_t>(root * 0x9E3779B1u) >> (32 - bits_);
  }
  void resize(std::size_t least) {
    bits_ = static_cast<int>(std::bit_width(std::max(least, kLeast) - 1));
    table_.assign(slots(), kEmpty);
    for (std::uint32_t i = 0; i < linked_.size(); ++i) {
      std::size_t slot = place(linked_[i].root);
      while (table_[slot] != kEmpty) slot = (slot + 1) & (slots() - 1);
      table_[slot] = i;
    }
  }

  int bits_ = 0;
  std::vector<std::uint32_t> table_;
  std::vector<Linked> linked_;
};

class Rabbit {
 public:
  Rabbit(const Graph& graph, exec::ThreadPool& pool)
      : graph_(graph),
        pool_(pool),
        communities_(graph.vertices),
        child_(graph.vertices),
        absorbed_(graph.vertices),
        sibling_(graph.vertices),
        bundles_(graph.vertices) {
    pool.parallel_for(0, graph.vertices, kPieceVertices,
                      [&](std::uint64_t begin, std::uint64_t end) {
                        for (auto v = static_cast<Vertex>(begin); v < end; ++v) {
                          communities_[v] = {v, static_cast<float>(graph.degree(v))};
                          child_[v] = absorbed_[v] = sibling_[v] = kNoVertex;
                          bundles_[v] = {};
                        }
                      });
    total_ = static_cast<double>(std::max<EdgeOffset>(graph.edges(), 1));
    for (int t = 0; t < pool.size(); ++t) threads_.push_back(std::make_unique<PerThread>());
  }

  [[nodiscard]] memory::HostArray<Vertex> order() {
    join_communities();
    join_remaining();
    return number();
  }

 private:
  void join_communities() {
    const std::vector<Vertex> by_degree = ascending();
    // Small enough for what a batch does not know of itself to matter little.
    const std::size_t batch = std::clamp<std::size_t>(by_degree.size() / 1024, 1, 4096);
    std::vector<Vertex> target(batch);
    for (std::size_t begin = 0; begin < by_degree.size(); begin += batch) {
      const std::size_t end = std::min(begin + batch, by_degree.size());
      std::atomic<std::size_t> next{begin};
      pool_.run([&](int thread) {
        for (;;) {
          const std::size_t first = next.fetch_add(kGrain, std::memory_order_relaxed);
          if (first >= end) return;
          interrupt_point();
          for (std::size_t i = first; i < std::min(first + kGrain, end); ++i)
            target[i - begin] = look(by_degree[i], *threads_[static_cast<std::size_t>(thread)]);
        }
      });
      interrupt_point();
      for (std::size_t i = begin; i < end; ++i) join(by_degree[i], target[i - begin]);
    }
  }

  /// What joining no longer raises modularity by is joined all the same, to the neighbour that it
  /// is linked with most for its size: then communities near each other stand near each other.
  void join_remaining() {
    std::vector<Vertex> roots;
    for (Vertex v = 0; v < graph_.vertices; ++v) {
      if (communities_[v].parent == v && graph_.degree(v) > 0) roots.push_back(v);
    }
    std::stable_sort(roots.begin(), roots.end(), [&](Vertex a, Vertex b) {
      return communities_[a].strength < communities_[b].strength;
    });
    is_remaining_ = true;
    for (const Vertex v : roots) {
      interrupt_point();
      join(v, look(v, *threads_.front()));
    }
  }

  static constexpr std::size_t kGrain = 32;

  struct PerThread {
    Links links;
    std::vector<Vertex> open;
    Arena arena;
  };
  /// Of a vertex: itself, or what it has joined. Of a root: the sum of its vertices' degrees.
  struct Community {
    Vertex parent;
    float strength;
  };
  /// What is left of the edges of a vertex that was looked at; without a first one they are its
  /// row.
  struct List {
    const Bundle* first = nullptr;
    std::size_t count = 0;
  };

  [[nodiscard]] std::vector<Vertex> ascending() const {
    // Counting sort by degree: ties by id.
    std::uint64_t most = 0;
    SeldomInterruptPoint point;
    for (Vertex v = 0; v < graph_.vertices; ++v, point()) most = std::max(most, graph_.degree(v));
    std::vector<std::uint64_t> place(most + 2, 0);
    for (Vertex v = 0; v < graph_.vertices; ++v, point()) ++place[graph_.degree(v) + 1];
    for (std::size_t d = 1; d < place.size(); ++d) place[d] += place[d - 1];
    std::vector<Vertex> order(graph_.vertices);
    for (Vertex v = 0; v < graph_.vertices; ++v, point()) order[place[graph_.degree(v)]++] = v;
    return order;
  }

  /// The community that v is in now. Threads shorten paths side by side: whatever they write leads
  /// to the same root.
  Vertex root(Vertex v) {
    for (;;) {
      const std::atomic_ref<Vertex> mine(communities_[v].parent);
      const Vertex up = mine.load(std::memory_order_relaxed);
      const Vertex over = parent(up);
      if (over == up) return up;
      mine.store(over, std::memory_order_relaxed);
      v = over;
    }
  }
  [[nodiscard]] Vertex parent(Vertex v) {
    return std::atomic_ref<Vertex>(communities_[v].parent).load(std::memory_order_relaxed);
  }

  /// Adds a list of edges to `links`. An edge is two accesses one after the other, anywhere in
  /// memory: those of edges to come are asked for ahead. `at(i)` is an edge.
  template <class At>
  void add_all(std::size_t count, Links& links, At&& at) {
    constexpr std::size_t kAhead = 16;
    for (std::size_t i = 0; i < std::min(count, 2 * kAhead); ++i)
      exec::prefetch(&communities_[at(i).to]);
    // Mostly a vertex has joined a root.
    const auto expect_root = [&](std::size_t i) {
      exec::prefetch(&communities_[parent(at(i).to)]);
    };
    for (std::size_t i = 0; i < std::min(count, kAhead); ++i) expect_root(i);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 2 * kAhead < count) exec::prefetch(&communities_[at(i + 2 * kAhead).to]);
      if (i + kAhead < count) expect_root(i + kAhead);
      const Vertex r = root(at(i).to);
      links.add(r, at(i).weight, communities_[r].strength);
    }
  }
  /// The edges of x and of what it had absorbed when it was looked at.
  void add_edges(Vertex x, Links& links) {
    const List list = bundles_[x];
    if (list.first != nullptr) {
      add_all(list.count, links, [&](std::size_t i) { return list.first[i]; });
      return;
    }
    const auto row = graph_.neighbours(x);
    add_all(row.size(), links, [&](std::size_t i) { return Bundle{row[i], 1.0f}; });
  }

  /// Gathers v's edges and those of all that has joined it into one list, and chooses whom to join:
  /// v itself for nobody.
  Vertex look(Vertex v, PerThread& thread) {
    Links& links = thread.links;
    links.clear(graph_.degree(v));
    thread.open.assign(1, v);
    while (!thread.open.empty()) {
      const Vertex x = thread.open.back();
      thread.open.pop_back();
      add_edges(x, links);
      for (Vertex c = child_[x]; c != absorbed_[x]; c = sibling_[c]) thread.open.push_back(c);
    }
    absorbed_[v] = child_[v];
    Vertex best = v;
    double gain = 0.0;
    const auto own = static_cast<double>(communities_[v].strength);
    for (const Linked& other : links.all()) {
      if (other.root == v) continue;
      const auto weight = static_cast<double>(other.weight);
      const auto size = static_cast<double>(other.strength);
      const double better = is_remaining_ ? weight / size : weight - own * size / total_;
      if (better > gain || (better == gain && best != v && other.root < best)) {
        gain = better;
        best = other.root;
      }
    }
    // A list that is hardly shorter than v's row is not worth its memory.
    if (child_[v] != kNoVertex || 2 * links.all().size() < graph_.degree(v))
      bundles_[v] = bundle(v, links.all(), thread.arena);
    return best;
  }
  static List bundle(Vertex v, std::span<const Linked> links, Arena& arena) {
    Bundle* kept = arena.take(links.size());
    List list{kept, 0};
    for (const Linked& other : links) {
      if (other.root != v) kept[list.count++] = {other.root, other.weight};
    }
    return list;
  }

  void join(Vertex v, Vertex target) {
    const Vertex to = root(target);
    if (to == v) return;
    communities_[v].parent = to;
    sibling_[v] = child_[to];
    child_[to] = v;
    communities_[to].strength += communities_[v].strength;
  }

  /// Depth first over the communities of no other, each before those that joined it.
  [[nodiscard]] memory::HostArray<Vertex> number() const {
    memory::HostArray<Vertex> new_id(graph_.vertices);
    Vertex next = 0;
    std::vector<Vertex> open;
    SeldomInterruptPoint point;
    for (Vertex v = 0; v < graph_.vertices; ++v) {
      if (communities_[v].parent != v) continue;
      open.push_back(v);
      while (!open.empty()) {
        point();
        const Vertex x = open.back();
        open.pop_back();
        new_id[x] = next++;
        for (Vertex c = child_[x]; c != kNoVertex; c = sibling_[c]) open.push_back(c);
      }
    }
    return new_id;
  }

  const Graph& graph_;
  exec::ThreadPool& pool_;
  memory::HostArray<Community> communities_;
  memory::HostArray<Vertex> child_;
  memory::HostArray<Vertex> absorbed_;  // Children from here on are in the list of bundles.
  memory::HostArray<Vertex> sibling_;
  memory::HostArray<List> bundles_;
  double total_ = 1.0;
  bool is_remaining_ = false;
  std::vector<std::unique_ptr<PerThread>> threads_;
};

}  // namespace

memory::HostArray<Vertex> rabbit_order(const Graph& graph, exec::ThreadPool& pool) {
  Graph looked_at = graph;
  if (!is_symmetric(looked_at, pool)) {
    drop_weights(looked_at);
    looked_at = symmetrize(looked_at, false, pool);
  }
  return Rabbit(looked_at, pool).order();
}

memory::HostArray<Vertex> degree_order(const Graph& graph) {
  return inverse(detail::by_falling_degree(graph));
}

memory::HostArray<Vertex> random_order(const Graph& graph, std::uint64_t seed) {
  return partition_random(graph, 1, seed).new_id;
}

memory::HostArray<Vertex> make_order(const Graph& graph, const std::string& name,
                                     std::uint64_t seed, exec::ThreadPool& pool) {
  if (name == "none") return {};
  if (name == "rabbit") return rabbit_order(graph, pool);
  if (name == "degree") return degree_order(graph);
  if (name == "random") return random_order(graph, seed);
  throw UsageError(fmt::format(
      "there is no order \"{}\"; the orders are none, rabbit, degree and random", name));
}

memory::HostArray<Vertex> inverse(std::span<const Vertex> permutation) {
  memory::HostArray<Vertex> result(permutation.size());
  in_pieces(0, permutation.size(), kPieceVertices, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) result[permutation[i]] = static_cast<Vertex>(i);
  });
  return result;
}

Partition partition_rabbit(const Graph& graph, int parts, exec::ThreadPool& pool) {
  Partition partition;
  partition.new_id = rabbit_order(graph, pool);
  partition.old_id = inverse(std::as_const(partition.new_id).span());
  std::vector<EdgeOffset> offsets(graph.vertices + std::size_t{1}, 0);
  in_pieces(0, graph.vertices, kPieceVertices, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t id = begin; id < end; ++id)
      offsets[id + 1] = offsets[id] + graph.degree(partition.old_id[id]);
  });
  partition.cuts = edge_balanced_cuts(offsets, parts);
  return partition;
}

Partition after_order(const memory::HostArray<Vertex>& order, const Partition& partition) {
  if (order.empty()) return partition;
  Partition result;
  result.cuts = partition.cuts;
  result.new_id = memory::HostArray<Vertex>(order.size());
  in_pieces(0, order.size(), kPieceVertices, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) result.new_id[v] = partition.to_new(order[v]);
  });
  result.old_id = inverse(std::as_const(result.new_id).span());
  return result;
}

}  // namespace warren::graph
