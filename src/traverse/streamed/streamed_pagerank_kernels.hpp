// SPDX-License-Identifier: Apache-2.0
// The steps of PageRank over a file's windows. What arrives at a vertex is added up in 2^-60 fixed
// point, so that neither the order of windows nor that of tasks shows.
#pragma once

#include "warren/exec/atomic.hpp"

#include "traverse/pagerank/pagerank_sums.hpp"
#include "traverse/streamed/list_view.hpp"

namespace warren::traverse {

/// Of one iteration, over all vertices, fixed.
struct StreamedSums {
  std::uint64_t residual = 0;
  std::uint64_t dangling = 0;  ///< Rank of vertices without out-edges.
};

template <class W>
WARREN_HD void add_sums(const W& worker, double residual, double dangling, StreamedSums* sums) {
  const std::uint64_t all_residual = worker.reduce(fixed(residual), exec::Plus{});
  const std::uint64_t all_dangling = worker.reduce(fixed(dangling), exec::Plus{});
  if (worker.lane() != 0) return;
  exec::atomic_store_add(sums->residual, all_residual);
  if (all_dangling != 0) exec::atomic_store_add(sums->dangling, all_dangling);
}

/// What an iteration makes of what has arrived: rank = base + damping arrived.
struct RankUpdate {
  double base = 0.0;
  double base_before = 0.0;
  double damping = 0.0;
};

// Pull, of symmetric graphs: contribution(u) = rank(u) / degree(u).

/// Adds up what the neighbours of each vertex contribute.
template <class Real>
struct PullRanks {
  const Real* contribution;
  std::uint64_t* arrived;

  template <class W>
  WARREN_HD void operator()(const W& worker, const ListView& lists,
                            const graph::ListPiece& piece) const {
    for (std::uint32_t i = 0; i < worker.size(); ++i) {
      const std::uint32_t length = worker.broadcast(piece.length, i);
      if (length == 0) continue;
      const Vertex* const list = lists.list(worker.broadcast(piece.begin, i));
      double sum = 0.0;
      if (worker.size() == 1) {
        sum = pulled(list, length);
      } else {
        for (std::uint32_t k = worker.lane(); k < length; k += worker.size())
          sum += static_cast<double>(contribution[list[k]]);
        sum = worker.reduce(sum, exec::Plus{});
      }
      if (worker.lane() != i) continue;
      std::uint64_t& to = arrived[lists.vertex(piece.row)];
      if (lists.is_whole(piece)) {
        to = fixed(sum);
      } else {
        exec::atomic_store_add(to, fixed(sum));
      }
    }
  }

 private:
  [[nodiscard]] WARREN_HD double pulled(const Vertex* list, std::uint32_t length) const {
#if defined(__CUDA_ARCH__)
    double sum = 0.0;
    for (std::uint32_t k = 0; k < length; ++k) sum += static_cast<double>(contribution[list[k]]);
    return sum;
#else
    return pulled_serially(list, list + length, contribution);
#endif
  }
};

template <class Real>
struct BeginPull {
  Real* contribution;
  std::uint64_t* arrived;
  const std::uint32_t* degree;
  std::uint64_t vertices;
  double start;  ///< Every vertex' rank.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      contribution[v] =
          degree[v] > 0 ? static_cast<Real>(start / static_cast<double>(degree[v])) : Real{0};
      arrived[v] = 0;
    });
  }
};

template <class Real>
struct FinishPull {
  Real* contribution;
  std::uint64_t* arrived;
  const std::uint32_t* degree;
  std::uint64_t vertices;
  RankUpdate update;
  StreamedSums* sums;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    double residual = 0.0, dangling = 0.0;
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      const double rank = update.base + update.damping * from_fixed(arrived[v]);
      const double edges = static_cast<double>(degree[v]);
      const double before =
          degree[v] > 0 ? static_cast<double>(contribution[v]) * edges : update.base_before;
      const double change = rank - before;
      residual += change < 0.0 ? -change : change;
      if (degree[v] > 0) {
        contribution[v] = static_cast<Real>(rank / edges);
      } else {
        dangling += rank;
      }
      arrived[v] = 0;
    });
    add_sums(worker, residual, dangling, sums);
  }
};

/// Ranks in the place of what arrives.
template <class Real>
struct TellPulled {
  const Real* contribution;
  const std::uint32_t* degree;
  double* rank;
  std::uint64_t vertices;
  double base;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      rank[v] = degree[v] > 0
                    ? static_cast<double>(contribution[v]) * static_cast<double>(degree[v])
                    : base;
    });
  }
};

// Push: ranks are told by what has arrived.

/// Each vertex gives its neighbours their shares.
struct PushRanks {
  const std::uint64_t* arrived;
  std::uint64_t* next;
  double base;
  double damping;

  template <class W>
  WARREN_HD void operator()(const W& worker, const ListView& lists,
                            const graph::ListPiece& piece) const {
    std::uint64_t share = 0;
    if (piece.length > 0) {
      const double rank = base + damping * from_fixed(arrived[lists.vertex(piece.row)]);
      share = fixed(rank / static_cast<double>(lists.degree(piece.row)));
    }
    worker.expand(piece.length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
      const std::uint64_t given = worker.broadcast(share, owner);
      const EdgeOffset begin = worker.broadcast(piece.begin, owner);
      if (active) exec::atomic_store_add(next[lists.list(begin)[k]], given);
    });
  }
};

struct FinishPush {
  std::uint64_t* arrived;  ///< Of the iteration before; is cleared for the next one.
  const std::uint64_t* next;
  const std::uint32_t* has_edges;  ///< A bit a vertex.
  std::uint64_t vertices;
  RankUpdate update;
  StreamedSums* sums;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    double residual = 0.0, dangling = 0.0;
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      const double rank = update.base + update.damping * from_fixed(next[v]);
      const double change = rank - (update.base_before + update.damping * from_fixed(arrived[v]));
      residual += change < 0.0 ? -change : change;
      if ((has_edges[v / 32] >> v % 32 & 1) == 0) dangling += rank;
      arrived[v] = 0;
    });
    add_sums(worker, residual, dangling, sums);
  }
};

/// In place.
struct TellPushed {
  const std::uint64_t* arrived;
  double* rank;
  std::uint64_t vertices;
  double base;
  double damping;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    for_each_vertex(worker, task, vertices,
                    [&](Vertex v) { rank[v] = base + damping * from_fixed(arrived[v]); });
  }
};

#if WARREN_HAS_CUDA
extern template struct ListVisit<exec::Cuda, PullRanks<float>>;
extern template struct ListVisit<exec::Cuda, PullRanks<double>>;
extern template struct ListVisit<exec::Cuda, PushRanks>;
extern template struct EachTask<exec::Cuda, BeginPull<float>>;
extern template struct EachTask<exec::Cuda, BeginPull<double>>;
extern template struct EachTask<exec::Cuda, FinishPull<float>>;
extern template struct EachTask<exec::Cuda, FinishPull<double>>;
extern template struct EachTask<exec::Cuda, TellPulled<float>>;
extern template struct EachTask<exec::Cuda, TellPulled<double>>;
extern template struct EachTask<exec::Cuda, FinishPush>;
extern template struct EachTask<exec::Cuda, TellPushed>;
#endif

}  // namespace warren::traverse
