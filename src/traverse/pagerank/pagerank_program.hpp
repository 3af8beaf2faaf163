// SPDX-License-Identifier: Apache-2.0
// PageRank as a BSP program: a step is an iteration. Each rank pulls into its own vertices from a
// replicated array of contributions, contribution(u) = rank(u) / outdegree(u), and writes its own
// new contributions to every rank's copy of the other one of two arrays: the exchange overlaps the
// work and one barrier an iteration is enough.
//
// On a GPU rows are worked on in classes by in-degree, a block, a warp, a tile or a thread each, in
// ascending order within a class; on the CPU in their natural order. Lists in host memory are read
// in the order of their addresses: classes would pass over them once each, and workers that drift
// apart would read more places at a time than the link serves. Sums over the graph are integers of
// 2^-60, so that no order of addition shows in the result.
//
// With weights, contribution(u) = rank(u) / (sum of u's out-weights), and an in-edge passes on its
// weight's share of it. The first step adds the out-weights up. So do ranks with vectors of their
// own (where they start, start anew, and where those of vertices without out-edges go), for which a
// vertex without weights has weights of 1.
//
// GPUs that do not reach each other's memory (Team::needs_windows()) work on an iteration in parts,
// a kernel each: what a part has written goes to the other copies while the next one is worked on.
//
// Of symmetric graphs the iteration x <- G(x) has a real spectrum, and a second-degree one
// (second_degree.hpp) converges faster. The residual is |G(x) - x|, and x the result.
#pragma once

#include <type_traits>

#include "warren/graph/compressed_decode.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

#include "traverse/common/row_classes.hpp"
#include "traverse/pagerank/pagerank_sums.hpp"
#include "traverse/pagerank/second_degree.hpp"

namespace warren::traverse {

struct PageRankState : PageRankTask {
  std::uint32_t iteration = 0;
  bool started = false;
  double base = 0.0;      ///< What every vertex gets: (1 - d) / n + d D / n.
  double dangling = 0.0;  ///< D.
  double residual = 2.0;
  bool is_accelerated = false;
  SecondDegree accelerated = {};
  /// An iteration's rows are worked on in so many steps, part by part, where what a part has
  /// written is brought to other ranks while the next one is worked on.
  std::uint32_t parts = 1;
  std::uint32_t part = 0;
  std::uint64_t residual_sum = 0;  ///< Of the parts so far, fixed.
  std::uint64_t dangling_sum = 0;

  /// Chooses the weight of the next iteration from what the last one's residual became.
  WARREN_HD void weigh(double before) {
    constexpr std::uint32_t kFirst = 3;  // The start's own errors are gone.
    if (is_accelerated && iteration >= kFirst && residual < before)
      accelerated.raise(residual / before, damping);
  }
  [[nodiscard]] WARREN_HD double weight() const { return accelerated.weight; }
  /// Whether the last iteration's result is the one before it.
  [[nodiscard]] bool keeps_last() const { return weight() > 1.0; }
};

/// Of an edge of `view`, whichever type its weights have; 1 where it has none.
WARREN_HD inline double edge_weight(const graph::CsrView& view, EdgeOffset edge) {
  if (view.weights_byte != nullptr) return static_cast<double>(view.weights_byte[edge]);
  if (view.weights_int != nullptr) return static_cast<double>(view.weights_int[edge]);
  return view.weights_float != nullptr ? static_cast<double>(view.weights_float[edge]) : 1.0;
}

/// What an edge of a row passes on of its source's contribution.
template <bool kWeighted>
struct RowWeights {
  EdgeOffset begin;
  template <class Real>
  WARREN_HD Real share(const graph::CsrView& view, std::uint32_t edge, Real contribution) const {
    return static_cast<Real>(edge_weight(view, begin + edge)) * contribution;
  }
};
template <>
struct RowWeights<false> {
  template <class Real>
  WARREN_HD Real share(const graph::CsrView&, std::uint32_t, Real contribution) const {
    return contribution;
  }
};

/// `kPacked`: the lists are compressed. `kWeighted`: ranks follow weights, of either type, which
/// lie where the neighbours do, or have vectors of their own. `kFar`: the lists are in host
/// memory; of `classes` the first alone is used, rows of RowClasses::kFarBounds[0] edges and more.
template <class Real, bool kPacked, bool kWeighted = false, bool kFar = false>
struct PageRankProgram {
  static_assert(!(kPacked && kWeighted), "weighted lists are read as they are");
  static_assert(!kFar || (!kPacked && !kWeighted), "other lists have one form, far or near");
  using State = PageRankState;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
  enum Sum : std::uint32_t { kResidual, kDangling };
  static constexpr std::uint32_t kInFlight = 4;  ///< Loads of a lane.

  graph::CsrView in;
  graph::CsrView out;
  graph::PackedRows packed;  ///< In-edges, where kPacked.
  RowClasses classes;
  bool is_symmetric = false;  ///< Then a row's in-degree is its out-degree.
  memory::GlobalView<Real> contribution[2];
  Real* value[2] = {};  ///< Own vertices: what iterations of even and of odd numbers start from.
  double* out_weight = nullptr;  ///< Own vertices: the sum of the out-edges' weights.
  /// Own vertices, where kWeighted: the share that each gets of what starts anew. nullptr: all the
  /// same.
  const double* restart = nullptr;
  /// Likewise of the rank of vertices without out-edges. nullptr: as `restart`.
  const double* dangling_share = nullptr;
  const double* first_rank = nullptr;  ///< Likewise: the ranks at the start. nullptr: all the same.
  static constexpr bool kHasParts = !kPacked && !kFar;  ///< Whether iterations may be of several.
  static constexpr std::uint32_t kParts = 4;            ///< Of how many then.
  /// Where the parts' rows begin within each class, on a GPU.
  std::uint64_t class_cuts[kParts + 1][RowClasses::kMost] = {};

  /// Of how many the CPU tells that they are done.
  static std::uint32_t iterations(const State& state) { return state.iteration; }
  WARREN_HD static bool finished(const State& state) {
    return state.started &&
           (state.residual <= state.tolerance || state.iteration >= state.max_iterations);
  }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    state.residual_sum += sums[kResidual];
    state.dangling_sum += sums[kDangling];
    if (state.started) {
      if (++state.part < state.parts) return state;
      state.part = 0;
      ++state.iteration;
      const double before = state.residual;
      state.residual = from_fixed(state.residual_sum);
      if (!finished(state)) state.weigh(before);
    }
    state.started = true;
    const double dangling = from_fixed(state.dangling_sum);
    state.base = (1.0 - state.damping + state.damping * dangling) / state.vertices;
    state.dangling = dangling;
    state.residual_sum = state.dangling_sum = 0;
    return state;
  }

  using ShowsLater = void;
  /// What the step before has written to the copies: all rows, or a part's.
  template <class Show>
  void show(const State& next, Show&& show) const {
    if (!next.started) return;
    const bool is_whole = next.iteration == 0 && next.part == 0;
    const std::uint32_t part = (next.part + next.parts - 1) % next.parts;
    const std::uint64_t begin = is_whole ? 0 : first_row(part, next);
    const std::uint64_t end = is_whole ? in.count : first_row(part + 1, next);
    const memory::GlobalView<Real>& written =
        contribution[(next.iteration + (next.part > 0 ? 1 : 0)) % 2];
    show(team::kShowAll, written.base[written.rank] + in.first + begin,
         (end - begin) * sizeof(Real));
    // Read in the next iteration.
    if (next.part > 0) show.later();
  }

  /// What a thread has seen of its rows.
  struct Seen {
    std::uint64_t residual = 0;
    std::uint64_t dangling = 0;
  };

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    Seen seen;
    if (!state.started) {
      start(grid, state, seen);
    } else if constexpr (kPacked) {
      work_packed_rows(grid, state, seen);
    } else if constexpr (Grid::kWarpLanes == 1) {
      work_serially(grid, state, seen);
    } else if constexpr (kFar) {
      work_rows<exec::Block>(grid, classes.begin(0), classes.count(0), state, seen);
      work_row_chunks(grid, state, seen);
    } else {
      work_class<exec::Block, 0>(grid, state, seen);
      work_class<exec::Warp, 1>(grid, state, seen);
      work_class<exec::Tile<4>, 2>(grid, state, seen);
      work_class<exec::Thread, 3>(grid, state, seen);
    }
    grid.sum(kResidual, seen.residual);
    grid.sum(kDangling, seen.dangling);
  }

 private:
  /// A row as it is prepared ahead: where its edges are, the lane's first neighbours, the old rank.
  struct Row {
    Vertex row;
    std::uint32_t length;
    const Vertex* targets;
    Vertex from[kInFlight];
    Real now;
    Real earlier;
    RowWeights<kWeighted> weights;
  };

  /// The first step.
  template <class Grid>
  WARREN_HD void start(Grid& grid, const State& state, Seen& seen) const {
    const auto rank = static_cast<Real>(1.0 / state.vertices);
    if constexpr (!kWeighted) {
      grid.template for_each<exec::Thread>(in.count, [&](auto&, std::uint64_t i) {
        const auto row = static_cast<Vertex>(i);
        store(row, rank, out.degree(row), 0, seen);
      });
    } else {
      grid.template for_each<exec::Warp>(out.count, [&](auto& worker, std::uint64_t i) {
        const auto row = static_cast<Vertex>(i);
        const EdgeOffset begin = out.begin(row);
        double part = 0.0;
        worker.for_each(out.end(row) - begin,
                        [&](std::uint64_t k) { part += edge_weight(out, begin + k); });
        const double sum = worker.reduce(part, exec::Plus{});
        if (worker.lane() != 0) return;
        out_weight[row] = sum;
        store(row, first_rank != nullptr ? static_cast<Real>(first_rank[row]) : rank, 0, 0, seen);
      });
    }
  }

  /// Own rows before those of a part.
  [[nodiscard]] WARREN_HD std::uint64_t first_row(std::uint32_t part, const State& state) const {
    return in.count * std::uint64_t{part} / state.parts;
  }

  /// The part's rows of a class.
  template <class W, std::size_t kClass, class Grid>
  WARREN_HD void work_class(Grid& grid, const State& state, Seen& seen) const {
    std::uint64_t begin = 0, end = classes.count(kClass);
    if (state.parts > 1) {
      begin = class_cuts[state.part][kClass];
      end = class_cuts[state.part + 1][kClass];
    }
    work_rows<W>(grid, classes.begin(kClass) + begin, end - begin, state, seen);
  }

  template <class W, class Grid>
  WARREN_HD void work_rows(Grid& grid, const Vertex* rows, std::uint64_t count, const State& state,
                           Seen& seen) const {
    const Real* source = contribution[state.iteration % 2].base[contribution[0].rank];
    grid.template for_each_ahead<W>(
        count,
        [&](auto& worker, std::uint64_t i) {
          Row made;
          made.row = rows[i];
          const EdgeOffset begin = in.begin(made.row);
          made.length = static_cast<std::uint32_t>(in.end(made.row) - begin);
          made.targets = in.list(begin);
          if constexpr (kWeighted) made.weights = {begin};
          made.now = value[state.iteration % 2][made.row];
          made.earlier = earlier_of(made.row, state);
          load_batch(made, worker.lane(), worker.size());
          return made;
        },
        [&](auto& worker, std::uint64_t, Row made) {
          const double sum = worker.reduce(pulled(worker, made, source), exec::Plus{});
          if (worker.lane() != 0) return;
          finish(made.row, made.now, made.earlier, sum,
                 is_symmetric ? made.length : out.degree(made.row), state, seen);
        });
  }

  /// The rows of less than RowClasses::kFarBounds[0] edges, as many as a warp has lanes at a time:
  /// their edges are read as one chunk, whoever is free takes the next one.
  template <class Grid>
  WARREN_HD void work_row_chunks(Grid& grid, const State& state, Seen& seen) const {
    using WorkerType = typename Grid::Warp;
    constexpr std::uint64_t kRows = Grid::kWarpLanes;
    const Real* source = contribution[state.iteration % 2].base[contribution[0].rank];
    const std::uint64_t chunks = (in.count + kRows - 1) / kRows;
    grid.template for_each_claimed<exec::Warp>(
        chunks,
        [&](const WorkerType& worker, std::uint64_t chunk) {
          const std::uint64_t index = chunk * kRows + worker.lane();
          const bool is_row = index < in.count;
          const auto row = static_cast<Vertex>(is_row ? index : in.count - 1);
          Segment segment{in.begin(row), in.end(row)};
          const bool is_here = is_row && segment.end - segment.begin < RowClasses::kFarBounds[0];
          if (!is_here) segment.begin = segment.end;
          const Real now = value[state.iteration % 2][row];
          const Real earlier = earlier_of(row, state);
          const double sum = pulled_chunk(worker, segment, source);
          if (!is_here) return;
          const EdgeOffset length = segment.end - segment.begin;
          finish(row, now, earlier, sum, is_symmetric ? length : out.degree(row), state, seen);
        },
        chunks);
  }

  /// Edges [begin, end).
  struct Segment {
    EdgeOffset begin;
    EdgeOffset end;
  };

  /// The sum over this lane's segment. The lanes' segments follow each other.
  template <class W>
  WARREN_HD double pulled_chunk(const W& worker, const Segment& segment, const Real* source) const {
    const std::uint32_t lanes = worker.size();
    const std::uint64_t batch = std::uint64_t{kInFlight} * lanes;
    // Batches begin where lines do: a rank's first edge does, its number need not.
    const std::uint64_t shift =
        reinterpret_cast<std::uintptr_t>(in.targets) / sizeof(Vertex) % batch;
    const std::uint64_t last =
        worker.reduce(segment.begin < segment.end ? segment.end : EdgeOffset{0}, exec::Maximum{});
    double sum = 0.0;
    for (EdgeOffset at = 0;;) {
      // Segments of other classes, which may be long, are passed over.
      const EdgeOffset wanted = segment.begin > at ? segment.begin : at;
      at = worker.reduce(wanted < segment.end ? wanted : ~EdgeOffset{0}, exec::Minimum{});
      if (at == ~EdgeOffset{0}) return sum;
      const EdgeOffset base = (at + shift) / batch * batch - shift;
      Real part[kInFlight];
      Vertex from[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kInFlight; ++j) {
        const EdgeOffset edge = base + j * lanes + worker.lane();
        if (edge >= at && edge < last) from[j] = exec::load_streaming(in.list(edge));
      }
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kInFlight; ++j) {
        const EdgeOffset edge = base + j * lanes + worker.lane();
        part[j] = edge >= at && edge < last ? source[from[j]] : Real{0};
      }
      const bool is_in =
          segment.begin < segment.end && segment.begin < base + batch && segment.end > at;
      for (std::uint32_t owner = 0;; ++owner) {
        owner =
            worker.reduce(is_in && worker.lane() >= owner ? worker.lane() : lanes, exec::Minimum{});
        if (owner == lanes) break;
        const EdgeOffset begin = worker.broadcast(segment.begin, owner);
        const EdgeOffset end = worker.broadcast(segment.end, owner);
        double mine = 0.0;
        WARREN_UNROLL
        for (std::uint32_t j = 0; j < kInFlight; ++j) {
          const EdgeOffset edge = base + j * lanes + worker.lane();
          if (edge >= begin && edge < end) mine += static_cast<double>(part[j]);
        }
        mine = worker.reduce(mine, exec::Plus{});
        if (worker.lane() == owner) sum += mine;
      }
      at = base + batch;
    }
  }

  /// Compressed rows, in the order of their addresses, a warp each.
  template <class Grid>
  WARREN_HD void work_packed_rows(Grid& grid, const State& state, Seen& seen) const {
    using WorkerType = typename Grid::Warp;
    const Real* source = contribution[state.iteration % 2].base[contribution[0].rank];
    grid.template for_each<exec::Warp>(in.count, [&](const WorkerType& worker, std::uint64_t i) {
      const auto row = static_cast<Vertex>(i);
      const graph::CompressedRow list = packed.view.row(row);
      const double sum =
          worker.reduce(pulled_packed(worker, packed.view, list, source), exec::Plus{});
      if (worker.lane() != 0) return;
      finish(row, value[state.iteration % 2][row], earlier_of(row, state), sum,
             is_symmetric ? list.degree : out.degree(row), state, seen);
    });
  }

  WARREN_HD static void load_batch(Row& row, std::uint32_t first, std::uint32_t step) {
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kInFlight; ++j) {
      if (first + j * step < row.length)
        row.from[j] = exec::load_streaming(row.targets + first + j * step);
    }
  }

  /// This lane's part of the sum over the row's in-neighbours. Batches are added up in double: a
  /// hub's thousands of equal terms would lose in float what the tolerance asks for.
  template <class W>
  WARREN_HD double pulled(const W& worker, Row& row, const Real* source) const {
    double sum = 0.0;
    for (std::uint32_t first = worker.lane();;) {
      Real part[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kInFlight; ++j)
        part[j] = first + j * worker.size() < row.length
                      ? row.weights.share(in, first + j * worker.size(), source[row.from[j]])
                      : Real{0};
      first += kInFlight * worker.size();
      const bool more = first < row.length;
      if (more) load_batch(row, first, worker.size());
      sum += static_cast<double>((part[0] + part[1]) + (part[2] + part[3]));
      if (!more) return sum;
    }
  }

  /// The CPU's form: rows in their order.
  template <class Grid>
  void work_serially(Grid& grid, const State& state, Seen& seen) const {
    const Real* source = contribution[state.iteration % 2].base[contribution[0].rank];
    const std::uint64_t first = first_row(state.part, state);
    const std::uint64_t count = first_row(state.part + 1, state) - first;
    grid.template for_each<exec::Thread>(count, [&](auto&, std::uint64_t i) {
      const auto row = static_cast<Vertex>(first + i);
      const EdgeOffset begin = in.begin(row);
      const EdgeOffset length = in.end(row) - begin;
      const Vertex* list = in.list(begin);
      const double sum =
          kWeighted ? pulled_weighted(row, source) : pulled_serially(list, list + length, source);
      finish(row, value[state.iteration % 2][row], earlier_of(row, state), sum,
             is_symmetric ? length : out.degree(row), state, seen);
    });
  }

  /// The same with weights.
  [[nodiscard]] double pulled_weighted(Vertex row, const Real* source) const {
    const EdgeOffset begin = in.begin(row);
    const EdgeOffset length = in.end(row) - begin;
    const Vertex* list = in.list(begin);
    double sum = 0.0;
    for (EdgeOffset k = 0; k < length; ++k)
      sum += edge_weight(in, begin + k) * static_cast<double>(source[list[k]]);
    return sum;
  }

  /// x'' of a row, where it counts.
  WARREN_HD Real earlier_of(Vertex row, const State& state) const {
    return state.weight() != 1.0 ? value[(state.iteration + 1) % 2][row] : Real{0};
  }

  /// With the sum that a row pulled; `now` and `earlier` are x and x'' of it.
  WARREN_HD void finish(Vertex row, Real now, Real earlier, double sum, EdgeOffset degree,
                        const State& state, Seen& seen) const {
    double base = state.base;
    if constexpr (kWeighted) {
      if (dangling_share != nullptr) {
        const double anew = restart != nullptr ? restart[row] : 1.0 / state.vertices;
        base = (1.0 - state.damping) * anew + state.damping * state.dangling * dangling_share[row];
      } else if (restart != nullptr) {
        base *= state.vertices * restart[row];
      }
    }
    auto after = static_cast<Real>(base + state.damping * sum);
    seen.residual += fixed(std::fabs(after - now));
    if (state.weight() != 1.0) {
      const auto w = static_cast<Real>(state.weight());
      after = w * after + (Real{1} - w) * earlier;
    }
    store(row, after, degree, (state.iteration + 1) % 2, seen);
  }

  WARREN_HD void store(Vertex row, Real rank, EdgeOffset degree, std::uint32_t slot,
                       Seen& seen) const {
    value[slot][row] = rank;
    if constexpr (kWeighted) {
      // Edges of weight 0 lead out of vertices that pass nothing on: they must find a number.
      const double sum = out_weight[row];
      if (sum == 0.0) seen.dangling += fixed(rank);
      contribution[slot].write_all(std::uint64_t{in.first} + row,
                                   sum == 0.0 ? Real{0} : rank / static_cast<Real>(sum));
    } else if (degree == 0) {
      seen.dangling += fixed(rank);
    } else {
      contribution[slot].write_all(std::uint64_t{in.first} + row, rank / static_cast<Real>(degree));
    }
  }
};

template <class Backend>
struct PageRankRun {
  template <class Real, bool kPacked, bool kWeighted, bool kFar>
  static PageRankState run(team::Team& team, const exec::Stream& stream,
                           const PageRankProgram<Real, kPacked, kWeighted, kFar>& program,
                           const PageRankState& initial);
};

template <class Backend>
template <class Real, bool kPacked, bool kWeighted, bool kFar>
PageRankState PageRankRun<Backend>::run(
    team::Team& team, const exec::Stream& stream,
    const PageRankProgram<Real, kPacked, kWeighted, kFar>& program, const PageRankState& initial) {
  return team::run_program<Backend>(team, stream, program, initial);
}

#if WARREN_HAS_CUDA
extern template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                           const PageRankProgram<float, false>&,
                                                           const PageRankState&);
extern template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                           const PageRankProgram<double, false>&,
                                                           const PageRankState&);
extern template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                           const PageRankProgram<float, true>&,
                                                           const PageRankState&);
extern template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                           const PageRankProgram<double, true>&,
                                                           const PageRankState&);
extern template PageRankState PageRankRun<exec::Cuda>::run(
    team::Team&, const exec::Stream&, const PageRankProgram<double, false, true>&,
    const PageRankState&);
extern template PageRankState PageRankRun<exec::Cuda>::run(
    team::Team&, const exec::Stream&, const PageRankProgram<float, false, false, true>&,
    const PageRankState&);
extern template PageRankState PageRankRun<exec::Cuda>::run(
    team::Team&, const exec::Stream&, const PageRankProgram<double, false, false, true>&,
    const PageRankState&);
#endif

}  // namespace warren::traverse
