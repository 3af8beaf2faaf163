// SPDX-License-Identifier: Apache-2.0
// The loops of the abstraction benchmark in three ways: by hand, through exec::launch, and as a
// BSP program.
#pragma once

#include <cstdint>

#include "warren/exec/launch.hpp"
#include "warren/team/program.hpp"

namespace warren::bench {

enum class Loop { rows_by_thread, rows_by_tile, rows_by_warp, axpy };

/// A CSR matrix of ones, and vectors, on one device.
struct Problem {
  const std::uint64_t* offsets = nullptr;
  const std::uint32_t* targets = nullptr;
  const float* x = nullptr;
  float* y = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t elements = 0;  // Of the axpy.
};

/// y[row] = sum of x over the row's targets.
struct RowSums {
  const std::uint64_t* offsets;
  const std::uint32_t* targets;
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t begin = offsets[row];
    float sum = 0.0f;
    worker.for_each(offsets[row + 1] - begin,
                    [&](std::uint64_t i) { sum += x[targets[begin + i]]; });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) y[row] = sum;
  }
};

/// y[i] = 2 x[i] + y[i].
struct Axpy {
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    y[i] = 2.0f * x[i] + y[i];
  }
};

/// A loop as every step of a program.
template <class W, class Kernel>
struct Repeat {
  struct State {
    std::uint32_t left = 0;
  };
  static constexpr std::uint32_t kThreadsPerBlock = 256;
  static constexpr std::uint32_t kBlocksPerProcessor = 8;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
  Kernel kernel;
  std::uint64_t tasks;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State&) const {
    grid.template for_each<W>(tasks, kernel);
  }
  WARREN_HD static State next(const State& state, const team::Sums&) { return {state.left - 1}; }
  WARREN_HD static bool finished(const State& state) { return state.left == 0; }
};

/// Each runs `loop` `times` times and returns when it is done.
template <class Backend>
void run_by_hand(const exec::Stream& stream, Loop loop, const Problem& problem,
                 std::uint32_t times);
template <class Backend>
void run_by_launch(const exec::Stream& stream, Loop loop, const Problem& problem,
                   std::uint32_t times);
template <class Backend>
void run_by_program(team::Team& team, const exec::Stream& stream, Loop loop, const Problem& problem,
                    std::uint32_t times);

/// Calls f(kernel, tasks, W) for the loop.
template <class F>
void with_kernel(Loop loop, const Problem& p, F&& f) {
  const RowSums sums{p.offsets, p.targets, p.x, p.y};
  switch (loop) {
    case Loop::rows_by_thread:
      return f(sums, p.rows, std::type_identity<exec::Thread>{});
    case Loop::rows_by_tile:
      return f(sums, p.rows, std::type_identity<exec::Tile<8>>{});
    case Loop::rows_by_warp:
      return f(sums, p.rows, std::type_identity<exec::Warp>{});
    case Loop::axpy:
      return f(Axpy{p.x, p.y}, p.elements, std::type_identity<exec::Thread>{});
  }
}

template <class Backend>
void run_by_launch(const exec::Stream& stream, Loop loop, const Problem& problem,
                   std::uint32_t times) {
  with_kernel(loop, problem, [&](const auto& kernel, std::uint64_t tasks, auto worker) {
    for (std::uint32_t i = 0; i < times; ++i)
      exec::launch<Backend, typename decltype(worker)::type>(stream, tasks, kernel);
  });
  stream.synchronize();
}

template <class Backend>
void run_by_program(team::Team& team, const exec::Stream& stream, Loop loop, const Problem& problem,
                    std::uint32_t times) {
  with_kernel(loop, problem, [&](const auto& kernel, std::uint64_t tasks, auto worker) {
    using Program = Repeat<typename decltype(worker)::type, std::remove_cvref_t<decltype(kernel)>>;
    (void)team::run_program<Backend>(team, stream, Program{kernel, tasks}, {times});
  });
}

template <>
void run_by_hand<exec::Cpu>(const exec::Stream&, Loop, const Problem&, std::uint32_t);
#if WARREN_HAS_CUDA
template <>
void run_by_hand<exec::Cuda>(const exec::Stream&, Loop, const Problem&, std::uint32_t);
extern template void run_by_launch<exec::Cuda>(const exec::Stream&, Loop, const Problem&,
                                               std::uint32_t);
extern template void run_by_program<exec::Cuda>(team::Team&, const exec::Stream&, Loop,
                                                const Problem&, std::uint32_t);
#endif

}  // namespace warren::bench
