// SPDX-License-Identifier: Apache-2.0
// Launching kernels. A kernel is a named functor, trivially copyable, called as kernel(worker,
// task) for every task below a count.
//
// The same source serves both backends: a function templated on the backend (Cpu or Cuda) is
// instantiated for the CPU by the host compiler and for GPUs by nvcc, and with_backend() chooses
// between the two once, where the data's device is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "warren/exec/stream.hpp"
#include "warren/exec/worker.hpp"

#if defined(__CUDACC__)
#include "warren/exec/cuda_check.hpp"
#include "warren/exec/kernel_fit.hpp"
#endif

namespace warren::exec {

struct Cpu {};
struct Cuda {};

/// Calls f(Cpu{}) or f(Cuda{}) for the device's kind. In a build without CUDA no code for Cuda is
/// instantiated.
template <class F>
decltype(auto) with_backend([[maybe_unused]] const Device& device, F&& f) {
#if WARREN_HAS_CUDA
  if (device.is_cuda()) return f(Cuda{});
#endif
  return f(Cpu{});
}

struct LaunchOptions {
  std::uint32_t scratch_bytes = 0;        ///< Shared memory for each worker.
  std::uint32_t threads_per_block = 256;  ///< GPUs only.
  std::uint64_t grain = 0;                ///< CPU only: tasks taken at a time; 0 chooses.
};

namespace detail {

/// Whether this thread's launches for the CPU do nothing (dry_run.hpp).
[[nodiscard]] bool is_dry() noexcept;

inline std::uint64_t cpu_grain(std::uint64_t tasks, int threads, std::uint64_t asked) {
  if (asked != 0) return asked;
  return std::clamp<std::uint64_t>(tasks / (static_cast<std::uint64_t>(threads) * 64), 1, 4096);
}

/// Scratch of one CPU thread, aligned as on a GPU; empty when nothing was asked for.
class CpuScratch {
 public:
  explicit CpuScratch(std::uint32_t bytes) : words_((bytes + 15) / 16 * 2), bytes_(bytes) {}
  Scratch get() { return {reinterpret_cast<unsigned char*>(words_.data()), bytes_}; }

 private:
  std::vector<std::uint64_t> words_;
  std::uint32_t bytes_;
};

/// Tasks [begin, end) in the widest SIMD instructions of the machine: the kernel's code is compiled
/// anew for each width, with all that it calls.
template <class Kernel>
void run_tasks(const Kernel& kernel, const Serial& worker, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t task = begin; task < end; ++task) kernel(worker, task);
}
// WARREN_ONE_WIDTH: builds with sanitizers, which look at the same code whatever its width.
#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(WARREN_ONE_WIDTH)
template <class Kernel>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"), gnu::flatten]] void
run_tasks_avx512(const Kernel& kernel, const Serial& worker, std::uint64_t begin,
                 std::uint64_t end) {
  for (std::uint64_t task = begin; task < end; ++task) kernel(worker, task);
}
template <class Kernel>
[[gnu::target("avx2,fma,f16c"), gnu::flatten]] void run_tasks_avx2(const Kernel& kernel,
                                                                   const Serial& worker,
                                                                   std::uint64_t begin,
                                                                   std::uint64_t end) {
  for (std::uint64_t task = begin; task < end; ++task) kernel(worker, task);
}
template <class Kernel>
[[nodiscard]] auto widest_run_tasks() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return &run_tasks_avx512<Kernel>;
  }
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has_avx2 ? &run_tasks_avx2<Kernel> : &run_tasks<Kernel>;
}
#else
template <class Kernel>
[[nodiscard]] auto widest_run_tasks() {
  return &run_tasks<Kernel>;
}
#endif

#if defined(__CUDACC__)
template <class W>
struct WorkerShape {
  static __device__ std::uint32_t per_block() { return blockDim.x / W::size(); }
  static __device__ std::uint32_t index() { return threadIdx.x / W::size(); }
};
template <>
struct WorkerShape<Thread> {
  static __device__ std::uint32_t per_block() { return blockDim.x; }
  static __device__ std::uint32_t index() { return threadIdx.x; }
};
template <>
struct WorkerShape<Block> {
  static __device__ std::uint32_t per_block() { return 1; }
  static __device__ std::uint32_t index() { return 0; }
};
template <class W>
inline constexpr std::uint32_t kLanes = W::size();
template <>
inline constexpr std::uint32_t kLanes<Thread> = 1;
template <>
inline constexpr std::uint32_t kLanes<Block> = 0;

template <class W, class Kernel>
__device__ void run_tasks_on_gpu(const Kernel& kernel, std::uint64_t tasks,
                                 std::uint32_t scratch_bytes) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::uint32_t workers = WorkerShape<W>::per_block();
  const std::uint32_t mine = WorkerShape<W>::index();
  const W worker(Scratch{shared + std::uint64_t{mine} * scratch_bytes, scratch_bytes});
  for (std::uint64_t task = std::uint64_t{blockIdx.x} * workers + mine; task < tasks;
       task += std::uint64_t{gridDim.x} * workers) {
    kernel(worker, task);
  }
}
template <class W, class Kernel>
__global__ void task_kernel(const __grid_constant__ Kernel kernel, std::uint64_t tasks,
                            std::uint32_t scratch_bytes) {
  run_tasks_on_gpu<W>(kernel, tasks, scratch_bytes);
}
/// The same with few enough registers for Kernel::kMostThreads threads of a block.
template <class W, class Kernel>
__global__ void __launch_bounds__(Kernel::kMostThreads)
    task_kernel_of_many(const __grid_constant__ Kernel kernel, std::uint64_t tasks,
                        std::uint32_t scratch_bytes) {
  run_tasks_on_gpu<W>(kernel, tasks, scratch_bytes);
}
template <class W, class Kernel>
[[nodiscard]] auto choose_task_kernel() {
  if constexpr (requires { Kernel::kMostThreads; }) {
    return &task_kernel_of_many<W, Kernel>;
  } else {
    return &task_kernel<W, Kernel>;
  }
}
#endif

}  // namespace detail

/// Runs kernel(worker, task) for task = 0 .. tasks - 1 in the stream's order, with workers of type
/// W on a GPU and Serial on the CPU. Workers stride over the tasks. Throws DeviceError when the
/// launch fails, UsageError where the GPU has less shared memory than a block takes; a failing
/// kernel shows at the next synchronisation.
template <class Backend, class W, class Kernel>
void launch(const Stream& stream, std::uint64_t tasks, const Kernel& kernel,
            const LaunchOptions& options = {}) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  if (tasks == 0) return;
  if constexpr (std::is_same_v<Backend, Cpu>) {
    if (detail::is_dry()) return;
    ThreadPool& pool = stream.device().pool();
    pool.parallel_for(0, tasks, detail::cpu_grain(tasks, pool.size(), options.grain),
                      [&](std::uint64_t begin, std::uint64_t end) {
                        detail::CpuScratch scratch(options.scratch_bytes);
                        const Serial worker(scratch.get());
                        for (std::uint64_t task = begin; task < end; ++task) kernel(worker, task);
                      });
  } else {
#if defined(__CUDACC__)
    stream.device().activate();
    const std::uint32_t lanes =
        detail::kLanes<W> == 0 ? options.threads_per_block : detail::kLanes<W>;
    const std::uint64_t workers = options.threads_per_block / lanes;
    const std::uint64_t shared = workers * options.scratch_bytes;
    auto* function = detail::choose_task_kernel<W, Kernel>();
    if (shared > 48 * 1024) {
      check_shared_memory(stream.device(), shared);
      cuda_check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(shared)),
                 "cudaFuncSetAttribute");
    }
    const std::uint64_t wanted = (tasks + workers - 1) / workers;
    const auto most = static_cast<std::uint64_t>(stream.device().processors()) * 64;
    function<<<static_cast<unsigned>(std::min(wanted, most)), options.threads_per_block, shared,
               static_cast<cudaStream_t>(stream.native())>>>(kernel, tasks, options.scratch_bytes);
    cuda_check(cudaGetLastError(), "kernel launch");
#else
    static_assert(std::is_same_v<Backend, Cpu>, "launches on GPUs are compiled by nvcc");
#endif
  }
}

/// The same, for kernels over FloatPack: on the CPU in the widest SIMD instructions that the
/// machine has, so that the last bits of float results may differ between machines (never between
/// runs).
template <class Backend, class W, class Kernel>
void launch_wide(const Stream& stream, std::uint64_t tasks, const Kernel& kernel,
                 const LaunchOptions& options = {}) {
  if constexpr (std::is_same_v<Backend, Cpu>) {
    if (tasks == 0 || detail::is_dry()) return;
    const auto run = detail::widest_run_tasks<Kernel>();
    ThreadPool& pool = stream.device().pool();
    pool.parallel_for(0, tasks, detail::cpu_grain(tasks, pool.size(), options.grain),
                      [&](std::uint64_t begin, std::uint64_t end) {
                        detail::CpuScratch scratch(options.scratch_bytes);
                        run(kernel, Serial(scratch.get()), begin, end);
                      });
  } else {
    launch<Backend, W>(stream, tasks, kernel, options);
  }
}

}  // namespace warren::exec
