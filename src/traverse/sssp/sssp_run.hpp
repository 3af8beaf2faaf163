// SPDX-License-Identifier: Apache-2.0
// What SSSP runs on a device, for either backend.
#pragma once

#include "traverse/sssp/sssp_scan_program.hpp"

namespace warren::traverse {

/// What is asked of the weights before the first search. On the device, shared by its blocks.
struct WeightFacts {
  double sum = 0.0;
  std::uint64_t first_bad = ~std::uint64_t{0};  ///< Edge of the first negative or not finite one.
  std::uint64_t largest = 0;                    ///< Of integer weights.
};

/// One step that looks at the weights of own edges.
template <class Weight>
struct SurveyWeights {
  struct State {
    std::uint64_t sources = 0;  ///< Vertices with out-edges.
    bool is_done = false;
  };
  using ShowsNothing = void;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;

  graph::CsrView out;
  const Weight* weights;
  WeightFacts* facts;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State&) const {
    using WarpType = typename Grid::Warp;
    double sum = 0.0;
    std::uint64_t first_bad = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t sources = 0;
    grid.template for_each<exec::Warp>(out.count, [&](const WarpType& worker, std::uint64_t i) {
      const auto row = static_cast<Vertex>(i);
      const EdgeOffset begin = out.begin(row);
      const EdgeOffset degree = out.end(row) - begin;
      worker.for_each(degree, [&](std::uint64_t k) {
        const Weight weight = weights[begin + k];
        if (is_good(weight)) {
          sum += static_cast<double>(weight);
          if constexpr (std::is_integral_v<Weight>) {
            const auto positive = static_cast<std::uint64_t>(weight);
            largest = positive > largest ? positive : largest;
          }
        } else if (begin + k < first_bad) {
          first_bad = begin + k;
        }
      });
      if (worker.lane() == 0 && degree > 0) ++sources;
    });
    const WarpType worker;
    sum = worker.reduce(sum, exec::Plus{});
    first_bad = worker.reduce(first_bad, exec::Minimum{});
    largest = worker.reduce(largest, exec::Maximum{});
    if (worker.lane() == 0) {
      exec::atomic_add(facts->sum, sum);
      exec::atomic_min(facts->first_bad, first_bad);
      exec::atomic_max(facts->largest, largest);
    }
    grid.sum(0, sources);
  }
  WARREN_HD static State next(const State&, const team::Sums& sums) { return {sums[0], true}; }
  WARREN_HD static bool finished(const State& state) { return state.is_done; }

 private:
  static constexpr double kInfinite = 1e300;  ///< Above every finite float.

  WARREN_HD static bool is_good(Weight weight) {
    if constexpr (std::is_unsigned_v<Weight>) {
      return true;
    } else {
      // False for what is no number, too.
      return weight >= Weight{0} && static_cast<double>(weight) < kInfinite;
    }
  }
};

/// One step that counts a finished search.
template <class Word>
struct SsspSummary {
  struct State {
    std::uint64_t reached = 0;
    std::uint64_t edges = 0;
    bool is_done = false;
  };
  using ShowsNothing = void;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;

  graph::CsrView out;
  const Word* distance;                      ///< Own vertices.
  Word bound = static_cast<Word>(~Word{0});  ///< What is as far counts as not reached.

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State&) const {
    std::uint64_t reached = 0;
    std::uint64_t edges = 0;
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t row) {
      if (distance[row] >= bound) return;
      ++reached;
      edges += out.degree(static_cast<Vertex>(row));
    });
    grid.sum(0, reached);
    grid.sum(1, edges);
  }
  WARREN_HD static State next(const State&, const team::Sums& sums) {
    return {sums[0], sums[1], true};
  }
  WARREN_HD static bool finished(const State& state) { return state.is_done; }
};

/// Defined outside the class, so that only nvcc instantiates the GPU's members.
template <class Backend, class Metric>
struct SsspRun {
  using Word = typename Metric::Word;
  static typename SurveyWeights<typename Metric::Weight>::State survey(
      team::Team& team, const exec::Stream& stream,
      const SurveyWeights<typename Metric::Weight>& program);
  static typename SsspSummary<Word>::State summarize(team::Team& team, const exec::Stream& stream,
                                                     const SsspSummary<Word>& program);
};

template <class Backend, class Metric, bool kPacked>
struct SsspSearch {
  static SsspState run(team::Team& team, const exec::Stream& stream,
                       const SsspProgram<Metric, kPacked>& program, const SsspState& initial);
  static SsspScanState scan(team::Team& team, const exec::Stream& stream,
                            const SsspScanProgram<Metric, kPacked>& program,
                            const SsspScanState& initial);
};

template <class Backend, class Metric>
typename SurveyWeights<typename Metric::Weight>::State SsspRun<Backend, Metric>::survey(
    team::Team& team, const exec::Stream& stream,
    const SurveyWeights<typename Metric::Weight>& program) {
  return team::run_program<Backend>(team, stream, program, {});
}

template <class Backend, class Metric, bool kPacked>
SsspState SsspSearch<Backend, Metric, kPacked>::run(team::Team& team, const exec::Stream& stream,
                                                    const SsspProgram<Metric, kPacked>& program,
                                                    const SsspState& initial) {
  return team::run_program<Backend>(team, stream, program, initial);
}

template <class Backend, class Metric, bool kPacked>
SsspScanState SsspSearch<Backend, Metric, kPacked>::scan(
    team::Team& team, const exec::Stream& stream, const SsspScanProgram<Metric, kPacked>& program,
    const SsspScanState& initial) {
  return team::run_program<Backend>(team, stream, program, initial);
}

template <class Backend, class Metric>
typename SsspSummary<typename Metric::Word>::State SsspRun<Backend, Metric>::summarize(
    team::Team& team, const exec::Stream& stream, const SsspSummary<Word>& program) {
  return team::run_program<Backend>(team, stream, program, {});
}

#if WARREN_HAS_CUDA
extern template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint32_t>, false>;
extern template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint32_t>, true>;
extern template struct SsspSearch<exec::Cuda, ByteMetric, false>;
extern template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint64_t>, false>;
extern template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint64_t>, true>;
extern template struct SsspSearch<exec::Cuda, RealMetric, false>;
extern template struct SsspSearch<exec::Cuda, RealMetric, true>;
extern template struct SsspRun<exec::Cuda, IntegerMetric<std::uint32_t>>;
extern template struct SsspRun<exec::Cuda, ByteMetric>;
extern template struct SsspRun<exec::Cuda, IntegerMetric<std::uint64_t>>;
extern template struct SsspRun<exec::Cuda, RealMetric>;
#endif

}  // namespace warren::traverse
