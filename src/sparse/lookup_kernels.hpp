// SPDX-License-Identifier: Apache-2.0
// The kernels of an embedding lookup in which owners take part, for both backends: a bag's indices
// in the order of their owners, the owners' sums, and the sum of those.
#pragma once

#include "warren/exec/wait.hpp"
#include "warren/memory/global_array.hpp"

#include "sparse/spmm_kernels.hpp"

namespace warren::sparse::detail {

/// Task: a bag, whose indices go to the places of the same bag in `sorted`, owner by owner,
/// otherwise in their order. starts[bag * ranks + q] is where those of owner q begin; they end
/// where the next entry begins.
struct SortBags {
  memory::GlobalView<Vertex> owners;  ///< The table's cuts; no data.
  const EdgeOffset* offsets = nullptr;
  std::uint64_t bags = 0;
  const Vertex* indices = nullptr;
  Vertex* sorted = nullptr;
  EdgeOffset* starts = nullptr;  ///< bags * ranks + 1.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t bag) const {
    const EdgeOffset begin = offsets[bag];
    const EdgeOffset end = offsets[bag + 1];
    const auto ranks = static_cast<std::uint64_t>(owners.ranks);
    EdgeOffset place = begin;
    for (std::uint64_t q = 0; q < ranks; ++q) {
      if (worker.lane() == 0) starts[bag * ranks + q] = place;
      for (EdgeOffset base = begin; base < end; base += worker.size()) {
        const EdgeOffset i = base + worker.lane();
        const Vertex row = i < end ? indices[i] : 0;
        const bool is_here = i < end && owners.owner(row) == static_cast<int>(q);
        const EdgeOffset to = place + worker.count_before(is_here);
        if (is_here) sorted[to] = row;
        place += worker.count(is_here);
      }
    }
    if (bag + 1 == bags && worker.lane() == 0) starts[bags * ranks] = end;
  }
};

/// Tasks: chunks of bags. *moved += the owners' sums, not empty and not this rank's, of their bags.
struct CountSums {
  static constexpr std::uint64_t kChunk = 1024;
  const EdgeOffset* starts = nullptr;
  std::uint64_t bags = 0;
  int rank = 0;
  int ranks = 1;
  std::uint64_t* moved = nullptr;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const auto count = static_cast<std::uint64_t>(ranks);
    const std::uint64_t left = bags - chunk * kChunk;
    std::uint32_t mine = 0;
    worker.for_each((left < kChunk ? left : kChunk) * count, [&](std::uint64_t i) {
      const std::uint64_t at = chunk * kChunk * count + i;
      const bool is_remote = at % count != static_cast<std::uint64_t>(rank);
      mine += is_remote && starts[at] != starts[at + 1] ? 1 : 0;
    });
    const std::uint32_t sum = worker.reduce(mine, exec::Plus{});
    if (worker.lane() == 0 && sum != 0) exec::atomic_add(*moved, std::uint64_t{sum});
  }
};

/// Rows in flight: on the CPU the processor looks ahead for itself.
template <class W>
inline constexpr std::uint32_t kRowsInFlight = std::is_base_of_v<exec::Serial, W> ? 1 : 4;

/// Task: a bag of any rank; this rank's rows of it are added up, in its own memory. Each rank
/// begins with its own bags, so that not all ask the same one at a time.
template <class T>
struct OwnerSums {
  static constexpr std::uint32_t kWide = 16 / sizeof(T);
  memory::GlobalView<Vertex> sorted;
  memory::GlobalView<EdgeOffset> starts;
  std::uint64_t bags[kMaxRanks + 1] = {};  ///< Rank p's are [bags[p], bags[p + 1]).
  const T* rows = nullptr;                 ///< This rank's; the first is row `first` of all.
  std::uint64_t first = 0;
  std::uint64_t k = 0;
  float* sums = nullptr;  ///< By bag; empty ones are not written.
  std::uint64_t stride = 0;

  template <std::uint32_t kWidth, class W>
  WARREN_HD void columns(const W& worker, std::uint64_t task, std::uint64_t column) const {
    constexpr std::uint32_t kFlight = kRowsInFlight<W>;
    const int ranks = sorted.ranks;
    std::uint64_t bag = task + bags[sorted.rank];
    if (bag >= bags[ranks]) bag -= bags[ranks];
    int p = 0;
    for (int q = 1; q < ranks; ++q) p += bag >= bags[q] ? 1 : 0;
    const EdgeOffset* const range =
        starts.base[p] + (bag - bags[p]) * static_cast<std::uint64_t>(ranks) + sorted.rank;
    const Vertex* const list = sorted.base[p] + range[0];
    const std::uint64_t count = range[1] - range[0];
    if (count == 0) return;
    exec::FloatPack<kWidth> sum;
    sum.clear();
    // Another rank's list is far away: the lanes read it together.
    for (std::uint64_t base = 0; base < count; base += worker.size()) {
      const std::uint64_t left = count - base;
      const std::uint32_t here =
          left < worker.size() ? static_cast<std::uint32_t>(left) : worker.size();
      const Vertex mine = worker.lane() < here ? list[base + worker.lane()] : 0;
      for (std::uint32_t i = 0; i < here; i += kFlight) {
        exec::FloatPack<kWidth> row[kFlight];
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kFlight; ++u) {
          const Vertex index = worker.broadcast(mine, (i + u) % worker.size());
          row[u].clear();
          if (i + u < here && column < k) row[u].load(rows + (index - first) * k + column);
        }
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kFlight; ++u) sum.add(1.0f, row[u]);
      }
    }
    if (column < k) sum.store(sums + bag * stride + column);
  }
};

/// Task: a bag of this rank. out[bag] = the owners' sums of it, in rank order.
template <class T>
struct AddSums {
  static constexpr std::uint32_t kWide = 4;
  memory::GlobalView<float> sums;
  const EdgeOffset* starts = nullptr;
  std::uint64_t first_bag = 0;  ///< Of the team's.
  std::uint64_t k = 0;
  std::uint64_t stride = 0;
  T* out = nullptr;

  template <std::uint32_t kWidth, class W>
  WARREN_HD void columns(const W&, std::uint64_t bag, std::uint64_t column) const {
    constexpr std::uint32_t kFlight = kRowsInFlight<W>;
    if (column >= k) return;
    const auto ranks = static_cast<std::uint32_t>(sums.ranks);
    const EdgeOffset* const start = starts + bag * ranks;
    const std::uint64_t at = (first_bag + bag) * stride + column;
    exec::FloatPack<kWidth> sum;
    sum.clear();
    for (std::uint32_t q = 0; q < ranks; q += kFlight) {
      exec::FloatPack<kWidth> part[kFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kFlight; ++u) {
        part[u].clear();
        if (q + u < ranks && start[q + u] != start[q + u + 1]) part[u].load(sums.base[q + u] + at);
      }
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kFlight; ++u) sum.add(1.0f, part[u]);
    }
    sum.store(out + bag * k + column);
  }
};

/// A job's tasks with all columns, by a thread of the CPU.
template <class Job>
struct ColumnsOnCpu {
  Job job;

  template <class W>
  void operator()(const W& worker, std::uint64_t task) const {
    each_tile(job.k, [&]<std::uint32_t kWidth>(LaneColumns columns) {
      job.template columns<kWidth>(worker, task, columns.column);
    });
  }
};

/// Task `index % tasks` in column tile `index / tasks`, kWidth columns a lane.
template <class Job, std::uint32_t kWidth>
struct ColumnsOnTile {
  Job job;
  std::uint64_t tasks;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const std::uint64_t tile = index / tasks;
    job.template columns<kWidth>(worker, index % tasks,
                                 (tile * worker.size() + worker.lane()) * kWidth);
  }
};

/// For the messages: tasks are (owner q, chunk of bags). First the counts; with `to`, the sums of
/// the counts before, the indices by owner, and where those of `sorted` have gone.
struct DealByOwner {
  static constexpr std::uint32_t kChunk = 32;
  const EdgeOffset* starts = nullptr;
  const Vertex* sorted = nullptr;
  std::uint64_t bags = 0;
  std::uint64_t ranks = 1;
  std::uint32_t* counts = nullptr;  ///< Of q and chunk c at q * chunks() + c.
  const std::uint32_t* to = nullptr;
  Vertex* sent = nullptr;
  Vertex* places = nullptr;

  [[nodiscard]] WARREN_HD std::uint64_t chunks() const { return (bags + kChunk - 1) / kChunk; }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t q = task / chunks();
    const std::uint64_t chunk = task % chunks() * kChunk;
    const std::uint64_t limit = chunk + kChunk < bags ? chunk + kChunk : bags;
    const std::uint32_t each = kChunk / worker.size();
    const std::uint64_t begin = chunk + worker.lane() * each;
    const std::uint64_t end = begin + each < limit ? begin + each : limit;
    std::uint32_t mine = 0;
    for (std::uint64_t bag = begin; bag < end; ++bag)
      mine += static_cast<std::uint32_t>(starts[bag * ranks + q + 1] - starts[bag * ranks + q]);
    if (to == nullptr) {
      const std::uint32_t sum = worker.reduce(mine, exec::Plus{});
      if (worker.lane() == 0) counts[task] = sum;
      return;
    }
    std::uint32_t place = to[task] + worker.exclusive_scan(mine);
    for (std::uint64_t bag = begin; bag < end; ++bag) {
      for (EdgeOffset e = starts[bag * ranks + q]; e < starts[bag * ranks + q + 1]; ++e) {
        sent[place] = sorted[e];
        places[e] = place++;
      }
    }
  }
};

/// One task: to[i] = counts[0] + ... + counts[i - 1] for i < ranks * chunks, and in firsts the
/// owners' first of those, ranks + 1.
struct SumCounts {
  const std::uint32_t* counts = nullptr;
  std::uint64_t chunks = 0;
  std::uint64_t ranks = 1;
  std::uint32_t* to = nullptr;
  std::uint32_t* firsts = nullptr;
  static constexpr std::uint32_t kMostThreads = 1024;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t) const {
    const std::uint64_t cells = chunks * ranks;
    const std::uint64_t each = (cells + worker.size() - 1) / worker.size();
    const std::uint64_t begin = worker.lane() * each;
    const std::uint64_t end = begin + each < cells ? begin + each : cells;
    std::uint32_t mine = 0;
    for (std::uint64_t i = begin; i < end; ++i) mine += counts[i];
    std::uint32_t sum = worker.exclusive_scan(mine);
    for (std::uint64_t i = begin; i < end; ++i) {
      to[i] = sum;
      if (i % chunks == 0) firsts[i / chunks] = sum;
      sum += counts[i];
    }
    if (begin < cells && end == cells) firsts[ranks] = sum;
  }
};

/// One task for a block of a thread a rank or more: returns when every rank's stream has come to
/// its `step`-th barrier, or the team has been ended.
struct StepBarrier {
  memory::GlobalView<std::uint64_t> steps;  ///< On each rank, what every rank has come to.
  const std::uint32_t* abort_flag = nullptr;
  std::uint64_t step = 0;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t) const {
    using exec::Order;
    using exec::Scope;
    worker.for_each(static_cast<std::uint64_t>(steps.ranks), [&](std::uint64_t q) {
      exec::atomic_store<Order::release, Scope::system>(steps.base[q][steps.rank], step);
      // The flag is in the host's memory, which is far away.
      constexpr std::uint32_t kLooks = 1024;
      std::uint32_t looks = 0;
      bool is_alive = true;
      while (is_alive &&
             exec::atomic_load<Order::acquire, Scope::system>(steps.base[steps.rank][q]) < step) {
        if (++looks % kLooks == 0)
          is_alive = exec::atomic_load<Order::relaxed, Scope::system>(*abort_flag) == 0;
        exec::back_off();
      }
    });
  }
};

/// SortBags for a batch of lookups in `table`.
template <class T>
[[nodiscard]] SortBags sorting(const memory::GlobalView<T>& table,
                               const memory::Buffer<EdgeOffset>& offsets, const Vertex* indices,
                               Vertex* sorted, EdgeOffset* starts) {
  SortBags job;
  job.owners.ranks = table.ranks;
  for (int q = 0; q <= table.ranks; ++q) job.owners.cuts[q] = table.cuts[q];
  job.offsets = offsets.data();
  job.bags = offsets.size() - 1;
  job.indices = indices;
  job.sorted = sorted;
  job.starts = starts;
  return job;
}

template <class Backend>
void sort_bags(const exec::Stream& stream, const SortBags& kernel) {
  exec::launch<Backend, exec::Warp>(stream, kernel.bags, kernel);
}
template <class Backend>
void count_sums(const exec::Stream& stream, const CountSums& kernel) {
  exec::launch<Backend, exec::Block>(
      stream, (kernel.bags + CountSums::kChunk - 1) / CountSums::kChunk, kernel);
}
template <class Backend>
void deal_by_owner(const exec::Stream& stream, const DealByOwner& kernel) {
  exec::launch<Backend, exec::Warp>(stream, kernel.chunks() * kernel.ranks, kernel);
}
template <class Backend>
void sum_counts(const exec::Stream& stream, const SumCounts& kernel) {
  exec::launch<Backend, exec::Block>(stream, 1, kernel,
                                     {.threads_per_block = SumCounts::kMostThreads});
}
template <class Backend>
void step_barrier(const exec::Stream& stream, const StepBarrier& kernel) {
  exec::launch<Backend, exec::Block>(stream, 1, kernel, {.threads_per_block = kMaxRanks});
}

#if defined(__CUDACC__)
template <std::uint32_t kWidth, class Job>
void launch_columns(const exec::Stream& stream, std::uint64_t tasks, const Job& job) {
  const std::uint64_t lanes = (job.k + kWidth - 1) / kWidth;
  const ColumnsOnTile<Job, kWidth> kernel{job, tasks};
  const auto go = [&]<class W>() {
    constexpr std::uint64_t kLanes = exec::detail::kLanes<W>;
    exec::launch<exec::Cuda, W>(stream, tasks * ((lanes + kLanes - 1) / kLanes), kernel);
  };
  if (lanes > 16) return go.template operator()<exec::Warp>();
  if (lanes > 8) return go.template operator()<exec::Tile<16>>();
  if (lanes > 4) return go.template operator()<exec::Tile<8>>();
  go.template operator()<exec::Tile<4>>();
}
#endif

/// 16 bytes a lane where k allows, single elements otherwise.
template <class Backend, class Job>
void run_columns(const exec::Stream& stream, std::uint64_t tasks, const Job& job) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    exec::launch_wide<exec::Cpu, exec::Serial>(stream, tasks, ColumnsOnCpu<Job>{job});
  } else {
#if defined(__CUDACC__)
    if (job.k % Job::kWide == 0) return launch_columns<Job::kWide>(stream, tasks, job);
    launch_columns<1>(stream, tasks, job);
#endif
  }
}

#if WARREN_HAS_CUDA
extern template void sort_bags<exec::Cuda>(const exec::Stream&, const SortBags&);
extern template void count_sums<exec::Cuda>(const exec::Stream&, const CountSums&);
extern template void deal_by_owner<exec::Cuda>(const exec::Stream&, const DealByOwner&);
extern template void sum_counts<exec::Cuda>(const exec::Stream&, const SumCounts&);
extern template void step_barrier<exec::Cuda>(const exec::Stream&, const StepBarrier&);
extern template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                             const OwnerSums<float>&);
extern template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                             const OwnerSums<Half>&);
extern template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                             const OwnerSums<BFloat16>&);
extern template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                             const AddSums<float>&);
extern template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                             const AddSums<Half>&);
extern template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                             const AddSums<BFloat16>&);
#endif

}  // namespace warren::sparse::detail
