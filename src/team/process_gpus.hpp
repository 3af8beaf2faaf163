// SPDX-License-Identifier: Apache-2.0
// GPUs of a team of processes: which rank has which, and their memory as the other ranks reach it.
#pragma once

#include <memory>
#include <vector>

#include "warren/exec/device.hpp"
#include "warren/team/team.hpp"

#include "team/gpu_arena.hpp"
#include "team/process_control.hpp"

namespace warren::team {

/// Where a rank runs.
struct GpuPlace {
  exec::Device device;
  bool kernels_may_wait = false;  ///< Each rank has a GPU of its own, and reaches the others'.
  std::vector<bool> reaches;      ///< By rank: its memory.
};

/// Chooses this rank's GPU. Where all ranks see the same GPUs each takes the next one, from
/// options.first_gpu; else each the first of those that it sees. Collective. Throws UsageError on
/// all ranks: one sees no GPU, or there are fewer than ranks and options.sharing does not say that
/// these take turns.
[[nodiscard]] GpuPlace place_on_gpu(Transport& transport, const TeamOptions& options);

/// From the first team on GPUs to the end of the process's membership: memory of GPUs, and pinned
/// memory, is taken where other ranks can open it, and kernels see the team's end.
class ProcessGpus {
 public:
  ProcessGpus(ProcessControl& control, int rank, std::shared_ptr<ProcessArena> host);
  ~ProcessGpus();
  ProcessGpus(const ProcessGpus&) = delete;
  ProcessGpus& operator=(const ProcessGpus&) = delete;

  [[nodiscard]] ShownBlock show(const void* pointer) { return arena_->show(pointer); }
  [[nodiscard]] void* open(const exec::Device& device, int rank, const ShownBlock& shown) {
    return opened_.open(device, rank, shown);
  }
  /// Closes what others want no more, and frees what they have closed.
  void tend() noexcept;

 private:
  ProcessControl& control_;
  const int rank_;
  const std::shared_ptr<GpuArena> arena_;
  OpenedBlocks opened_;
  std::uint64_t freed_ = 0;  ///< Of this rank's that others were told of.
};

}  // namespace warren::team
