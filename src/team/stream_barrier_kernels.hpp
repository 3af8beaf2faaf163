// SPDX-License-Identifier: Apache-2.0
// The kernels of a barrier between streams: a thread for each rank.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

/// One rank's counters, a line for each other rank. Only that rank writes the line's `sent` and
/// `awaited`; `arrived` is the other's.
struct alignas(128) StreamMail {
  std::uint64_t arrived;  ///< How often the other rank has come.
  std::uint64_t sent;     ///< How often this one has told it that it has.
  std::uint64_t awaited;  ///< How often this one has waited for it.
};

/// Tells rank q that this rank's stream is here.
struct ArriveKernel {
  StreamMail* mail[kMaxRanks];
  int rank;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t q) const {
    const std::uint64_t times = ++mail[rank][q].sent;
    exec::atomic_store<exec::Order::release, exec::Scope::system>(mail[q][rank].arrived, times);
  }
};

/// Waits for rank q, or for the team's end.
struct AwaitKernel {
  StreamMail* mine;
  const std::uint32_t* abort_flag;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t q) const {
    constexpr std::uint32_t kLooks = 1024;  // The flag is in the host's memory.
    const std::uint64_t times = ++mine[q].awaited;
    for (std::uint32_t looks = 1;; ++looks) {
      if (exec::atomic_load<exec::Order::acquire, exec::Scope::system>(mine[q].arrived) >= times)
        return;
      if (looks % kLooks == 0 &&
          exec::atomic_load<exec::Order::relaxed, exec::Scope::system>(*abort_flag) != 0)
        return;
    }
  }
};

template <class Backend, class Kernel>
void run_barrier(const exec::Stream& stream, int ranks, const Kernel& kernel) {
  exec::launch<Backend, exec::Thread>(stream, static_cast<std::uint64_t>(ranks), kernel,
                                      {.threads_per_block = 32});
}

#if WARREN_HAS_CUDA
extern template void run_barrier<exec::Cuda>(const exec::Stream&, int, const ArriveKernel&);
extern template void run_barrier<exec::Cuda>(const exec::Stream&, int, const AwaitKernel&);
#endif

}  // namespace warren::team
