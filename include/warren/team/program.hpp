// SPDX-License-Identifier: Apache-2.0
// BSP programs: bulk-synchronous algorithms written once and run in three ways.
//
// A program is a trivially copyable functor with
//
// * `State`: small, trivially copyable, the same on all ranks at every step;
//
// * `void step(grid, const State&) const`: the work of one step, by all blocks of all ranks
//   together;
//
// * `static State next(const State&, const Sums&)`: after the barrier, the state of the next step;
//
// * `static bool finished(const State&)`;
//
// * `std::uint32_t` constants: `kThreadsPerBlock` and `kBlocksPerProcessor` of a GPU,
//   `kScratchBytes` of block-shared memory that the grid's block_worker() has, `kClusterBlocks` of
//   a cluster (1 where clusters are not used).
//
// * for teams that need windows (Team::needs_windows()), `template <class Show> void show(const
//   State& next, Show&& show) const`: what other ranks read of this one's memory in the step of
//   `next`. show(to, data, bytes), `to` being the rank that reads it or kShowAll, for memory that
//   Team::share_windows() was given. show.read(data, count) copies values of the rank's device to
//   the host; show.run(count, kernel) runs kernel(worker, i) for each i below count there, before
//   anything is shown. With show.later() what this call shows is not read, nor changed, before the
//   next call, and may be on its way while the step runs; such a program says so by `using
//   ShowsLater = void`. Called on the host, by one thread, when the step before is over on all
//   ranks. Whether it calls show() depends on `next` alone; how many bytes there are, if any, does
//   not. A program that reads nothing of other ranks says so by `using ShowsNothing = void`.
//
// All loops of a step go through the grid: grid.for_each<W>(count, f) shares tasks out over workers
// of type W, grid.sum(slot, value) adds to a counter whose total over the team next() is given.
// Between two steps stands a barrier of the whole team with which all memory written before it
// becomes visible. On GPUs the program runs as one persistent kernel (no launch and no host in the
// loop) where ranks may wait for each other in kernels, else as one kernel per step; on the CPU on
// the threads of each rank. next() and finished() must depend on nothing but their arguments: every
// block evaluates them for itself.
#pragma once

#include <type_traits>

#include "warren/team/program_cpu.hpp"

#if defined(__CUDACC__)
#include "warren/team/program_cuda.hpp"
#endif

namespace warren::team {

/// Runs `program` from `initial` until finished(), on all ranks together, and returns the last
/// state. Synchronous. The first step starts when every rank has called and the work that its
/// stream held is done. Throws TeamError when another rank failed, DeviceError when the device did;
/// a program that throws ends the team.
template <class Backend, class Program>
typename Program::State run_program(Team& team, [[maybe_unused]] const exec::Stream& stream,
                                    const Program& program,
                                    const typename Program::State& initial) {
  static_assert(std::is_trivially_copyable_v<Program> &&
                std::is_trivially_copyable_v<typename Program::State>);
  typename Program::State last = initial;
  team.with_peer_memory([&] {
    if constexpr (std::is_same_v<Backend, exec::Cpu>) {
      team.barrier();
      last = detail::run_on_cpu(team, program, initial);
    } else {
#if defined(__CUDACC__)
      last = detail::run_on_cuda(team, stream, program, initial);
#else
      static_assert(std::is_same_v<Backend, exec::Cpu>, "programs for GPUs are compiled by nvcc");
#endif
    }
  });
  return last;
}

}  // namespace warren::team
