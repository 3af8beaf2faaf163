// SPDX-License-Identifier: Apache-2.0
// One call of the sampler: the kernels of every hop, one after the other, without the host in
// between. Launches are for the most there can be; how much there is, kernels read on the device.
#pragma once

#include <algorithm>

#include "sample/sample_kernels.hpp"
#include "sample/unique_kernels.hpp"

namespace warren::sample::detail {

template <class Backend>
inline constexpr bool kIsCpu = std::is_same_v<Backend, exec::Cpu>;

template <Choice kChoice>
inline constexpr bool kHasScratch =
    kChoice == Choice::uniform || kChoice == Choice::keys || kChoice == Choice::shared_keys;

template <class Backend, class W, Choice kChoice>
void launch_choice(const exec::Stream& stream, const FlightRun& run, const Hop& hop,
                   std::uint32_t lanes, std::uint64_t group) {
  const bool needs_scratch = kHasScratch<kChoice>;
  const std::uint64_t bytes = needs_scratch ? scratch_bytes(run, hop.fanout, lanes) : 0;
  const bool has_own = bytes <= own_scratch(stream.device());
  const std::uint64_t groups = (hop.most_targets + group - 1) / group;
  const std::uint64_t tasks = groups * run.flight.batches;
  const std::uint64_t stride = has_own ? tasks : std::min(tasks, FlightRun::kScratchTasks);
  const ChooseNeighbours<kChoice> kernel{run.store,
                                         run.flight,
                                         hop,
                                         groups,
                                         group,
                                         tasks,
                                         std::max<std::uint64_t>(stride, 1),
                                         run.seed,
                                         run.first_batch,
                                         run.weighted,
                                         run.layer_dependency,
                                         has_own ? nullptr : run.scratch,
                                         run.scratch_words};
  exec::LaunchOptions options;
  options.scratch_bytes = has_own ? static_cast<std::uint32_t>((bytes + 15) / 16 * 16) : 0;
  exec::launch<Backend, W>(stream, stride, kernel, options);
}

/// A worker as large as the choice is wide.
template <class Backend, Choice kChoice>
void choose_neighbours(const exec::Stream& stream, const FlightRun& run, const Hop& hop) {
  constexpr std::uint64_t kFew = 4;  // Targets of a task.
  constexpr std::uint64_t kMany = 64;
  if constexpr (kIsCpu<Backend>) {
    launch_choice<Backend, exec::Serial, kChoice>(stream, run, hop, 1, kMany);
  } else {
    constexpr std::uint32_t kBlockLanes = 256;
    if constexpr (kChoice == Choice::uniform) {
      if (hop.fanout <= 8)
        return launch_choice<Backend, exec::Tile<8>, kChoice>(stream, run, hop, 8, kFew);
      if (hop.fanout <= 16)
        return launch_choice<Backend, exec::Tile<16>, kChoice>(stream, run, hop, 16, kFew);
    }
    if constexpr (kHasScratch<kChoice>) {
      if (hop.fanout > kFewDraws && hop.fanout != kAllNeighbours)
        return launch_choice<Backend, exec::Block, kChoice>(stream, run, hop, kBlockLanes, 1);
    }
    launch_choice<Backend, exec::Warp, kChoice>(stream, run, hop, 32, kFew);
  }
}

template <class Backend>
void run_hop(const exec::Stream& stream, const FlightRun& run, const Hop& hop) {
  const Flight& flight = run.flight;
  const std::uint64_t target_chunks = chunks_of(hop.most_targets);
  exec::launch<Backend, exec::Block>(
      stream, target_chunks * flight.batches,
      CountNeighbours{run.store, flight, hop, target_chunks, run.times, run.batch_seeds,
                      run.replace, run.weighted, run.once, run.temporal_last});
  exec::launch<Backend, exec::Block>(stream, flight.batches, ScanChunks{flight, hop, true});
  if (run.replace && hop.fanout != kAllNeighbours) {
    if (run.weighted) {
      choose_neighbours<Backend, Choice::sums>(stream, run, hop);
    } else {
      choose_neighbours<Backend, Choice::replacement>(stream, run, hop);
    }
  } else if (run.labor) {
    choose_neighbours<Backend, Choice::shared_keys>(stream, run, hop);
  } else if (run.weighted) {
    choose_neighbours<Backend, Choice::keys>(stream, run, hop);
  } else {
    choose_neighbours<Backend, Choice::uniform>(stream, run, hop);
  }
  if (run.disjoint) {
    exec::launch<Backend, exec::Block>(stream, target_chunks * flight.batches,
                                       AppendTrees{flight, hop, target_chunks});
    return;
  }
  const std::uint64_t edge_tasks = chunks_of(hop.most_edges) * flight.batches;
  exec::launch<Backend, exec::Block>(stream, edge_tasks, InsertNeighbours{flight, hop});
  exec::launch<Backend, exec::Block>(stream, edge_tasks, CountNew{flight, hop});
  exec::launch<Backend, exec::Block>(stream, flight.batches, ScanChunks{flight, hop, false});
  exec::launch<Backend, exec::Block>(stream, edge_tasks, NumberNew{flight, hop});
  exec::launch<Backend, exec::Block>(stream, edge_tasks, Renumber{flight, hop});
}

template <class Backend>
void run_flight(const exec::Stream& stream, const FlightRun& run) {
  const std::uint64_t seed_chunks = chunks_of(run.batch_seeds);
  exec::launch<Backend, exec::Block>(
      stream, seed_chunks * run.flight.batches,
      PlaceSeeds{run.flight, seed_chunks, run.seeds, run.seed_count, run.batch_seeds,
                 run.store.vertices(), run.disjoint});
  for (std::uint32_t h = 0; h < run.hop_count; ++h) {
    if (run.before_hop != nullptr) (*run.before_hop)();
    run_hop<Backend>(stream, run, run.hops[h]);
  }
}

#if WARREN_HAS_CUDA
extern template void run_flight<exec::Cuda>(const exec::Stream&, const FlightRun&);
#endif

}  // namespace warren::sample::detail
