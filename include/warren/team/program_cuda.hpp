// SPDX-License-Identifier: Apache-2.0
// BSP programs on GPUs: one persistent kernel with a barrier across blocks and devices inside, or
// one kernel per step.
//
// The barrier: threads of a block meet, one of them counts the block in; the last block to arrive
// carries the team's part: its first warp sends the device's counters to every peer, waits for the
// message of every peer, adds up and releases its own device. Spinning blocks read their own
// device's memory only. An ended team is noticed by the block that waits for the message.
//
// Where kernels may not run for as long as they like (Team::slice_nanoseconds()), a device whose
// time is over says so with its counters, and after that barrier the kernels of all ranks leave:
// they are started again from the state that they left.
#pragma once

#if defined(__CUDACC__)

#include <cooperative_groups.h>

#include "warren/exec/kernel_fit.hpp"
#include "warren/exec/memory.hpp"
#include "warren/exec/wait.hpp"
#include "warren/team/program_cpu.hpp"

namespace warren::team {

/// One block's part in a BSP program on a GPU.
class CudaGrid {
 public:
  using Warp = exec::Warp;
  static constexpr std::uint32_t kWarpLanes = 32;

  /// What a block shares beside the program's scratch.
  struct Shared {
    std::uint64_t sums[kSums];
    std::uint32_t claimed;  ///< Tasks of for_each_claimed().
  };

  __device__ CudaGrid(Shared& shared, std::uint64_t* tickets, exec::Scratch scratch)
      : shared_(shared), tickets_(tickets), scratch_(scratch) {}

  __device__ std::uint32_t block() const { return blockIdx.x; }
  __device__ std::uint32_t blocks() const { return gridDim.x; }
  template <class W>
  __device__ std::uint64_t workers() const {
    return std::uint64_t{gridDim.x} * exec::detail::WorkerShape<W>::per_block();
  }
  __device__ exec::Block block_worker() const { return exec::Block(scratch_); }

  template <class W, class F>
  __device__ void for_each(std::uint64_t count, F&& f, std::uint64_t = 0) {
    using Shape = exec::detail::WorkerShape<W>;
    const W worker;
    // Consecutive tasks go to different blocks' workers last: neighbouring tasks share a block, and
    // so its cache.
    const std::uint64_t stride = std::uint64_t{gridDim.x} * Shape::per_block();
    for (std::uint64_t task = std::uint64_t{blockIdx.x} * Shape::per_block() + Shape::index();
         task < count; task += stride)
      f(worker, task);
  }

  template <class W, class F>
  __device__ void for_each_claimed(std::uint64_t count, F&& f, std::uint64_t loose = 0,
                                   std::uint64_t = 0) {
    __syncthreads();
    if (threadIdx.x == 0) shared_.claimed = 0;
    __syncthreads();
    // A step may have more loops than there are tickets: the later ones have no loose tasks.
    if (loop_ == kTickets) loose = 0;
    const W worker;
    // One loop for both kinds of tasks: what is called is there once.
    std::uint64_t* ticket = nullptr;
    for (;;) {
      std::uint64_t task = 0;
      if (ticket == nullptr) {
        std::uint32_t claimed = 0;
        if (worker.lane() == 0)
          claimed = exec::atomic_add<exec::Order::relaxed, exec::Scope::block>(shared_.claimed, 1u);
        task = blockIdx.x + std::uint64_t{gridDim.x} * worker.broadcast(claimed, 0);
        if (task >= count - loose) {
          if (loose == 0) return;
          ticket = &tickets_[loop_++];
        }
      }
      if (ticket != nullptr) {
        if (worker.lane() == 0) task = count - loose + exec::atomic_add(*ticket, std::uint64_t{1});
        task = worker.broadcast(task, 0);
        if (task >= count) return;
      }
      f(worker, task);
    }
  }
  __device__ void begin_step() { loop_ = 0; }

  template <class W, class Load, class Use>
  __device__ void for_each_ahead(std::uint64_t count, Load&& load, Use&& use, std::uint64_t = 0) {
    using Shape = exec::detail::WorkerShape<W>;
    const W worker;
    const std::uint64_t stride = std::uint64_t{gridDim.x} * Shape::per_block();
    std::uint64_t task = std::uint64_t{blockIdx.x} * Shape::per_block() + Shape::index();
    if (task >= count) return;
    auto held = load(worker, task);
    while (task < count) {
      const std::uint64_t next = task + stride;
      auto coming = held;
      if (next < count) coming = load(worker, next);
      use(worker, task, held);
      held = coming;
      task = next;
    }
  }

  template <class W, class F>
  __device__ void block_for_each(std::uint64_t count, F&& f) const {
    using Shape = exec::detail::WorkerShape<W>;
    const W worker;
    for (std::uint64_t task = Shape::index(); task < count; task += Shape::per_block())
      f(worker, task);
  }

  // Before compute capability 9.0 there are no clusters: a block by itself.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __device__ std::uint32_t cluster_blocks() const {
    return cooperative_groups::this_cluster().num_blocks();
  }
  __device__ std::uint32_t cluster_rank() const {
    return cooperative_groups::this_cluster().block_rank();
  }
  /// The block meets first, so that one warp's release covers what all its threads wrote: a fence
  /// of every warp costs more than the barrier itself.
  __device__ void cluster_sync() const {
    __syncthreads();
    cluster_sync_after_block();
  }
  /// The same where the block has met, and since then only its first warp has written.
  __device__ void cluster_sync_after_block() const {
    if (threadIdx.x < 32) {
      asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    } else {
      asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    }
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  template <class T>
  __device__ T* cluster_peer(T* mine, std::uint32_t rank) const {
    return cooperative_groups::this_cluster().map_shared_rank(mine, rank);
  }
#else
  __device__ std::uint32_t cluster_blocks() const { return 1; }
  __device__ std::uint32_t cluster_rank() const { return 0; }
  __device__ void cluster_sync() const { __syncthreads(); }
  __device__ void cluster_sync_after_block() const { __syncthreads(); }
  template <class T>
  __device__ T* cluster_peer(T* mine, std::uint32_t) const {
    return mine;
  }
#endif

  __device__ void sum(std::uint32_t slot, std::uint64_t value) {
    value = exec::Warp().reduce(value, exec::Plus{});
    if (threadIdx.x % 32 == 0 && value != 0)
      exec::atomic_add<exec::Order::relaxed, exec::Scope::block>(shared_.sums[slot], value);
  }

 private:
  Shared& shared_;
  std::uint64_t* tickets_;
  std::uint32_t loop_ = 0;  ///< Tickets that the step has used.
  exec::Scratch scratch_;
};

namespace detail {

__device__ inline void publish_sums(BarrierState& state, std::uint64_t* block_sums) {
  if (threadIdx.x < kSums) {
    if (block_sums[threadIdx.x] != 0)
      exec::atomic_add(state.sums[threadIdx.x], block_sums[threadIdx.x]);
    block_sums[threadIdx.x] = 0;
  }
}

/// Steps after which a rank that was not kept waiting looks whether the team has ended.
inline constexpr std::uint64_t kStepsBetweenLooks = 64;
/// Of the message, behind the counters: whether the sender's slice of time is over.
inline constexpr std::uint32_t kSliceSlot = kSums;

/// What the blocks do behind a barrier.
enum class After : std::uint32_t {
  next,   ///< The next step.
  leave,  ///< The kernel ends, and is started again.
  ended   ///< The team has.
};

/// Links that have carried nothing for some fifty milliseconds sleep, and take a tenth of a
/// millisecond each to wake. They wake together here, while the first step runs. By one block.
__device__ inline void wake_links(const BarrierView& view) {
  for (int q = 0; q < view.ranks; ++q) {
    if (q == view.rank) continue;
    for (std::uint32_t i = threadIdx.x; i < BarrierState::kDoorLines; i += blockDim.x)
      exec::atomic_store<exec::Order::relaxed, exec::Scope::system>(view.states[q]->door[i].word,
                                                                    1u);
  }
}

__device__ inline void send_sum(SumMessage& to, std::uint64_t value, std::uint64_t step) {
  asm volatile(
      "{ .reg .b128 both;\n"
      "  mov.b128 both, {%1, %2};\n"
      "  st.relaxed.sys.global.b128 [%0], both; }"
      :
      : "l"(__cvta_generic_to_global(&to)), "l"(value), "l"(step)
      : "memory");
}
__device__ inline SumMessage look_for_sum(const SumMessage& in) {
  SumMessage found;
  asm volatile(
      "{ .reg .b128 both;\n"
      "  ld.relaxed.sys.global.b128 both, [%2];\n"
      "  mov.b128 {%0, %1}, both; }"
      : "=l"(found.value), "=l"(found.step)
      : "l"(__cvta_generic_to_global(&in))
      : "memory");
  return found;
}

/// Sends all peers this device's counters and adds theirs to them: `sum` is the lane's, of the slot
/// lane % StepMessage::kSlots, the same in all lanes of a slot. By one full warp. False if the team
/// has ended.
__device__ inline bool exchange_sums(const BarrierView& view, std::uint64_t& sum) {
  constexpr std::uint32_t kAtOnce = 32 / StepMessage::kSlots;  // Ranks.
  BarrierState& mine = view.mine();
  const std::uint32_t lane = threadIdx.x % 32, slot = lane % StepMessage::kSlots;
  const auto ranks = static_cast<std::uint32_t>(view.ranks);
  const auto is_sent = [&](std::uint32_t q) {
    const bool is_used = slot < kSums || (slot == kSliceSlot && view.slice_nanoseconds != 0);
    return is_used && q != static_cast<std::uint32_t>(view.rank);
  };
  const std::uint64_t step = mine.steps + 1;
  const std::uint64_t parity = step % 2;
  // Who sees the message sees what all blocks of this device have written, and the other way
  // around.
  cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_system);
  __syncwarp();
  for (std::uint32_t q = lane / StepMessage::kSlots; q < ranks; q += kAtOnce)
    if (is_sent(q)) send_sum(view.states[q]->messages[parity][view.rank].sums[slot], sum, step);
  bool alive = true;
  std::uint32_t polls = 0;
  if (lane >= StepMessage::kSlots) sum = 0;  // The device's own count once.
  for (std::uint32_t q = lane / StepMessage::kSlots; q < ranks && alive; q += kAtOnce) {
    if (!is_sent(q)) continue;
    SumMessage found;
    while ((found = look_for_sum(mine.messages[parity][q].sums[slot])).step != step) {
      if (++polls % 4096 == 0 &&
          *static_cast<const volatile std::uint32_t*>(view.abort_flag) != 0) {
        alive = false;
        break;
      }
    }
    sum += found.value;
  }
  __syncwarp();
  cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_system);
  for (std::uint32_t apart = StepMessage::kSlots; apart < 32; apart *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  return alive;
}

/// The team's part of the barrier, by one full warp of the device's last block. False if the team
/// has ended.
__device__ inline bool exchange_messages(const BarrierView& view) {
  BarrierState& mine = view.mine();
  const std::uint32_t lane = threadIdx.x % 32, slot = lane % StepMessage::kSlots;
  std::uint64_t sum = slot < kSums ? exec::atomic_load(mine.sums[slot]) : 0;
  if (view.slice_nanoseconds != 0 && slot == kSliceSlot)
    sum = exec::clock_nanoseconds() >= mine.slice_end ? 1 : 0;
  bool alive = view.ranks == 1 || exchange_sums(view, sum);
  // Ranks that never wait for long must hear of an end, too, and those that wait for nobody of one
  // from outside; the flag is in host memory, a microsecond away.
  const std::uint64_t step = mine.steps + 1;
  if (lane == 0 && step % kStepsBetweenLooks == 0)
    alive = alive && *static_cast<const volatile std::uint32_t*>(view.abort_flag) == 0;
  alive = __all_sync(0xffffffffu, alive);
  if (lane == 0) mine.steps = step;
  if (lane < kSums) {
    exec::atomic_store(mine.totals[lane], sum);
    exec::atomic_store(mine.sums[lane], std::uint64_t{0});
  }
  if (view.slice_nanoseconds != 0 && lane == kSliceSlot)
    exec::atomic_store(mine.is_over, sum != 0 ? 1u : 0u);
  __syncwarp();
  return alive;
}

/// The barrier of all blocks of all ranks.
__device__ inline After team_barrier(const BarrierView& view, std::uint64_t* block_sums,
                                     Sums& totals) {
  __shared__ After after;
  __shared__ std::uint64_t shared_totals[kSums];
  BarrierState& mine = view.mine();
  __syncthreads();
  if (threadIdx.x < 32) {
    publish_sums(mine, block_sums);
    __syncwarp();
    std::uint32_t generation = 0;
    std::uint32_t last = 0;
    if (threadIdx.x == 0) {
      generation = exec::atomic_load(mine.generation);
      last = exec::atomic_add<exec::Order::acq_rel>(mine.arrived, 1u) == gridDim.x - 1 ? 1u : 0u;
    }
    last = __shfl_sync(0xffffffffu, last, 0);
    __syncwarp();  // A shuffle orders no memory: the other lanes read what thread 0 acquired.
    bool alive = true;
    if (last != 0) {
      alive = exchange_messages(view);
      if (threadIdx.x == 0) {
        exec::atomic_store(mine.arrived, 0u);
        for (std::uint64_t& ticket : mine.tickets) exec::atomic_store(ticket, std::uint64_t{0});
        exec::atomic_store<exec::Order::release>(mine.generation,
                                                 alive ? generation + 1 : BarrierState::kAborted);
      }
    } else if (threadIdx.x == 0) {
      std::uint32_t now = generation;
      while ((now = exec::atomic_load<exec::Order::acquire>(mine.generation)) == generation) {
      }
      alive = now != BarrierState::kAborted;
    }
    __syncwarp();
    if (threadIdx.x == 0) {
      after = alive ? After::next : After::ended;
      if (alive && view.slice_nanoseconds != 0 && exec::atomic_load(mine.is_over) != 0)
        after = After::leave;
    }
    if (threadIdx.x < kSums)
      shared_totals[threadIdx.x] = exec::atomic_load(mine.totals[threadIdx.x]);
  }
  __syncthreads();
  for (std::uint32_t i = 0; i < kSums; ++i) totals.value[i] = shared_totals[i];
  return after;
}

template <class Program>
__global__ void __launch_bounds__(Program::kThreadsPerBlock, Program::kBlocksPerProcessor)
    persistent_kernel(const __grid_constant__ Program program,
                      const __grid_constant__ BarrierView view,
                      const typename Program::State initial) {
  __shared__ CudaGrid::Shared shared;
  if (threadIdx.x < kSums) shared.sums[threadIdx.x] = 0;
  __syncthreads();
  extern __shared__ __align__(16) unsigned char program_scratch[];
  CudaGrid grid(shared, view.mine().tickets, {program_scratch, Program::kScratchBytes});
  if (view.ranks > 1 && blockIdx.x == gridDim.x - 1) wake_links(view);
  // The last block to arrive at a barrier has synchronised with this one.
  if (view.slice_nanoseconds != 0 && blockIdx.x == 0 && threadIdx.x == 0)
    exec::atomic_store(view.mine().slice_end, exec::clock_nanoseconds() + view.slice_nanoseconds);
  typename Program::State state = initial;
  while (!Program::finished(state)) {
    grid.begin_step();
    program.step(grid, state);
    Sums totals;
    const After after = team_barrier(view, shared.sums, totals);
    if (after == After::ended) return;
    state = Program::next(state, totals);
    if (after == After::leave) break;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *static_cast<typename Program::State*>(view.result) = state;
}

template <class Program>
__global__ void __launch_bounds__(Program::kThreadsPerBlock, Program::kBlocksPerProcessor)
    step_kernel(const __grid_constant__ Program program, BarrierState* barrier,
                const typename Program::State state) {
  __shared__ CudaGrid::Shared shared;
  if (threadIdx.x < kSums) shared.sums[threadIdx.x] = 0;
  __syncthreads();
  extern __shared__ __align__(16) unsigned char program_scratch[];
  CudaGrid grid(shared, barrier->tickets, {program_scratch, Program::kScratchBytes});
  program.step(grid, state);
  __syncthreads();
  publish_sums(*barrier, shared.sums);
}

/// Launches a program's kernel with blocks in clusters (thread block clusters, where the GPU and
/// the kernel's code have them; else a block is a cluster by itself) and, where `cooperative`, all
/// resident at once.
template <class Program>
class ProgramLaunch {
  // Beside the scratch a kernel has the grid's counters, and what its workers' collectives use.
  static constexpr std::uint64_t kBeside = 4096;
  static constexpr bool may_not_fit() {
    if constexpr (requires { Program::kMayNotFit; }) {
      return Program::kMayNotFit;
    } else {
      return false;
    }
  }
  static_assert(Program::kScratchBytes + kBeside <= exec::kLeastSharedBytes || may_not_fit(),
                "a program's block must fit every GPU, or be chosen by who looks whether it does");

 public:
  /// `kernels`: kernels that wait for each other on one device, of which each takes a part. Throws
  /// UsageError where the GPU cannot hold one block of the program.
  ProgramLaunch(const exec::Stream& stream, const void* kernel, bool cooperative, int kernels)
      : kernel_(kernel), kernels_(static_cast<std::uint32_t>(kernels)) {
    const exec::Device& device = stream.device();
    if (Program::kClusterBlocks > 1 &&
        exec::features_of(exec::code_capability(device, kernel)).has_clusters)
      cluster_blocks_ = Program::kClusterBlocks;
    if (cluster_blocks_ > 1) {
      cudaLaunchAttribute& cluster = attributes_[config_.numAttrs++];
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = cluster_blocks_;
      cluster.val.clusterDim.y = 1;
      cluster.val.clusterDim.z = 1;
    }
    config_.blockDim = dim3(Program::kThreadsPerBlock);
    config_.dynamicSmemBytes = Program::kScratchBytes;
    config_.stream = static_cast<cudaStream_t>(stream.native());
    config_.attrs = attributes_;
    config_.gridDim = dim3(cluster_blocks_);
    config_.gridDim = dim3(exec::known_blocks(device, kernel, kernels_, [&] {
      if (Program::kScratchBytes > 0) allow_scratch(device);
      return resident_blocks(device);
    }));
    if (!cooperative) return;
    cudaLaunchAttribute& together = attributes_[config_.numAttrs++];
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
  }
  ProgramLaunch(const ProgramLaunch&) = delete;
  ProgramLaunch& operator=(const ProgramLaunch&) = delete;

  void operator()(void** arguments) const {
    exec::cuda_check(cudaLaunchKernelExC(&config_, kernel_, arguments), "cudaLaunchKernelExC");
  }

 private:
  void allow_scratch(const exec::Device& device) const {
    exec::check_shared_memory(device, Program::kScratchBytes);
    exec::cuda_check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(Program::kScratchBytes)),
                     "cudaFuncSetAttribute");
  }
  std::uint32_t resident_blocks(const exec::Device& device) {
    int blocks = 0;
    exec::cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                         &blocks, kernel_, Program::kThreadsPerBlock, Program::kScratchBytes),
                     "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const std::uint32_t per_processor = blocks < static_cast<int>(Program::kBlocksPerProcessor)
                                            ? static_cast<std::uint32_t>(blocks)
                                            : Program::kBlocksPerProcessor;
    const std::uint32_t most =
        per_processor * static_cast<std::uint32_t>(device.processors()) / kernels_;
    if (most == 0) exec::refuse_block(device, Program::kThreadsPerBlock, Program::kScratchBytes);
    if (cluster_blocks_ == 1) return most;
    // A cluster stays within one of the GPU's processing clusters (GPCs), which leaves some SMs
    // without.
    int clusters = 0;
    exec::cuda_check(cudaOccupancyMaxActiveClusters(&clusters, kernel_, &config_),
                     "cudaOccupancyMaxActiveClusters");
    const std::uint32_t fitting = static_cast<std::uint32_t>(clusters) / kernels_ * cluster_blocks_;
    return fitting < most ? fitting : most / cluster_blocks_ * cluster_blocks_;
  }

  const void* kernel_;
  std::uint32_t kernels_;
  std::uint32_t cluster_blocks_ = 1;
  cudaLaunchAttribute attributes_[2] = {};
  cudaLaunchConfig_t config_ = {};
};

/// show() of a GPU's program: the step before is over, and the stream has nothing left to do.
class CudaShow : public ShowList {
 public:
  explicit CudaShow(const exec::Stream& stream) : stream_(stream) {}

  template <class T>
  [[nodiscard]] std::vector<T> read(const T* data, std::uint64_t count) const {
    std::vector<T> values(count);
    exec::copy(stream_, values.data(), data, count * sizeof(T));
    stream_.synchronize();
    return values;
  }
  template <class Kernel>
  void run(std::uint64_t count, const Kernel& kernel) {
    exec::launch<exec::Cuda, exec::Thread>(stream_, count, kernel);
    has_run_ = true;
  }
  void publish(Team& team) {
    if (has_run_) stream_.synchronize();
    ShowList::publish(team);
  }

 private:
  const exec::Stream& stream_;
  bool has_run_ = false;
};

template <class Program>
typename Program::State run_on_cuda(Team& team, const exec::Stream& stream, const Program& program,
                                    typename Program::State state) {
  using State = typename Program::State;
  team.device().activate();
  const BarrierView& view = team.barrier_view();
  static_assert(sizeof(State) <= BarrierView::kResultBytes);
  if (team.kernels_may_wait()) {
    // What is launched as cooperative may have the device to itself; parts of it fit anyway.
    const int kernels = team.ranks_on_device();
    const ProgramLaunch<Program> launch(
        stream, reinterpret_cast<const void*>(&persistent_kernel<Program>), kernels == 1, kernels);
    // Once a peer's kernel waits for this rank's, nothing may stand before the launch: taking or
    // freeing memory waits for all devices, and would wait for the peer's kernel. A rank alone has
    // its stream's order.
    if (team.size() > 1) stream.synchronize();
    team.barrier();
    Program copy = program;
    BarrierView view_copy = view;
    do {
      State first = state;
      void* arguments[] = {&copy, &view_copy, &first};
      launch(arguments);
      stream.synchronize();
      team.check();
      state = *static_cast<const State*>(view.result);
    } while (!Program::finished(state));  // Only a kernel that runs in slices leaves before.
    return state;
  }
  BarrierState* mine = view.states[view.rank];
  const ProgramLaunch<Program> launch(stream, reinterpret_cast<const void*>(&step_kernel<Program>),
                                      false, 1);
  stream.synchronize();
  team.barrier();
  show_step<CudaShow>(team, program, state, stream);
  while (!Program::finished(state)) {
    Program copy = program;
    void* arguments[] = {&copy, &mine, &state};
    launch(arguments);
    Sums totals;
    exec::copy(stream, totals.value, mine->sums, sizeof totals.value);
    exec::fill_bytes(stream, mine->sums, 0, sizeof totals.value);
    exec::fill_bytes(stream, mine->tickets, 0, sizeof mine->tickets);
    stream.synchronize();
    team.sum(totals.value);
    state = Program::next(state, totals);
    show_step<CudaShow>(team, program, state, stream);
  }
  return state;
}

}  // namespace detail
}  // namespace warren::team

#endif
