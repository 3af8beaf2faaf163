// SPDX-License-Identifier: Apache-2.0
// The GPU's workers: tiles of a warp through shuffles, blocks through shared memory.
#pragma once

#if defined(__CUDACC__)

#include <cstring>
#include <type_traits>

#include "warren/exec/tensor_cores.hpp"
#include "warren/exec/worker_serial.hpp"

namespace warren::exec {

namespace detail {

/// use(i, load(i)) for i = lane, lane + lanes, ... below `count`, `Ahead` loads before their uses.
template <std::uint32_t Ahead, class Load, class Use>
__device__ void for_each_ahead(std::uint32_t lane, std::uint32_t lanes, std::uint64_t count,
                               Load&& load, Use&& use) {
  for (std::uint64_t base = lane; base < count; base += std::uint64_t{Ahead} * lanes) {
    decltype(load(base)) held[Ahead];
#pragma unroll
    for (std::uint32_t j = 0; j < Ahead; ++j)
      if (base + j * lanes < count) held[j] = load(base + j * lanes);
#pragma unroll
    for (std::uint32_t j = 0; j < Ahead; ++j)
      if (base + j * lanes < count) use(base + j * lanes, held[j]);
  }
}

}  // namespace detail

template <std::uint32_t N>
class Tile {
  static_assert(N == 4 || N == 8 || N == 16 || N == 32);

 public:
  __device__ explicit Tile(Scratch scratch = {}) : scratch_(scratch) {}

  __host__ __device__ std::uint32_t lane() const {
#if defined(__CUDA_ARCH__)
    return threadIdx.x % N;
#else
    return 0;
#endif
  }
  __host__ __device__ static constexpr std::uint32_t size() { return N; }
  __device__ std::uint32_t mask() const {
    return N == 32 ? 0xffffffffu : ((1u << (N % 32)) - 1u) << (threadIdx.x % 32 / N * N);
  }
  __device__ void sync() const { __syncwarp(mask()); }

  template <class F>
  __device__ void for_each(std::uint64_t count, F&& f) const {
    for (std::uint64_t i = lane(); i < count; i += N) f(i);
  }
  template <std::uint32_t Ahead, class Load, class Use>
  __device__ void for_each_ahead(std::uint64_t count, Load&& load, Use&& use) const {
    detail::for_each_ahead<Ahead>(lane(), N, count, load, use);
  }
  template <class T, class Op>
  __device__ T reduce(T value, Op op) const {
#pragma unroll
    for (std::uint32_t step = N / 2; step > 0; step /= 2)
      value = op(value, __shfl_xor_sync(mask(), value, step, N));
    return value;
  }
  template <class T>
  __device__ T exclusive_scan(T value) const {
    T sum = value;
#pragma unroll
    for (std::uint32_t step = 1; step < N; step *= 2) {
      const T other = __shfl_up_sync(mask(), sum, step, N);
      if (lane() >= step) sum = sum + other;
    }
    const T before = __shfl_up_sync(mask(), sum, 1, N);
    return lane() == 0 ? T{} : before;
  }
  template <class T>
  __device__ T broadcast(T value, std::uint32_t source) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return __shfl_sync(mask(), value, static_cast<int>(source), N);
    } else {
      static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
      std::uint32_t words[sizeof(T) / sizeof(std::uint32_t)];
      std::memcpy(words, &value, sizeof(T));
#pragma unroll
      for (std::uint32_t& word : words)
        word = __shfl_sync(mask(), word, static_cast<int>(source), N);
      std::memcpy(&value, words, sizeof(T));
      return value;
    }
  }
  /// The value of the lane whose number differs in the bits of `step`.
  template <class T>
  __device__ T shuffle_xor(T value, std::uint32_t step) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(step), N);
  }
  /// d += a b on tensor cores (tensor_cores.hpp), by all lanes of a warp.
  template <class T>
  __device__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4],
                               const std::uint32_t (&b)[2]) const {
    static_assert(N == 32);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    if constexpr (std::is_same_v<T, Half>) {
      multiply_add_eight(d, a[0], a[1], b[0]);
      multiply_add_eight(d, a[2], a[3], b[1]);
    } else {
      static_assert(std::is_same_v<T, BFloat16>);
      multiply_add_without(d, a, b);
    }
#else
    if constexpr (std::is_same_v<T, Half>) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
          "{%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
      static_assert(std::is_same_v<T, BFloat16>);
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
          "%7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
#endif
  }
  __device__ bool any(bool flag) const { return __any_sync(mask(), flag); }
  __device__ bool sync_any(bool flag) const {
    sync();  // A vote orders no accesses to memory.
    return any(flag);
  }
  __device__ std::uint32_t count(bool flag) const {
    return __popc(__ballot_sync(mask(), flag) & mask());
  }
  __device__ std::uint32_t count_before(bool flag) const {
    const std::uint32_t before = (1u << (threadIdx.x % 32)) - 1u;
    return __popc(__ballot_sync(mask(), flag) & mask() & before);
  }
  __device__ std::uint32_t last_before(bool flag) const {
    const std::uint32_t before = (1u << (threadIdx.x % 32)) - 1u;
    const std::uint32_t set = __ballot_sync(mask(), flag) & mask() & before;
    return set == 0 ? N : (31u - static_cast<std::uint32_t>(__clz(static_cast<int>(set)))) % N;
  }
  template <class T>
  __device__ T* scratch() const {
    return reinterpret_cast<T*>(scratch_.data);
  }

  template <class F>
  __device__ void expand(std::uint32_t count, F&& f) const {
    const std::uint32_t before = exclusive_scan(count);
    const std::uint32_t total = broadcast(before + count, N - 1);
    for (std::uint32_t base = 0; base < total; base += N) {
      const std::uint32_t item = base + lane();
      // The owner is the last lane whose items start at or before `item`.
      std::uint32_t owner = 0;
#pragma unroll
      for (std::uint32_t step = N / 2; step > 0; step /= 2) {
        const std::uint32_t start = __shfl_sync(mask(), before, static_cast<int>(owner + step), N);
        if (start <= item) owner += step;
      }
      const std::uint32_t first = __shfl_sync(mask(), before, static_cast<int>(owner), N);
      f(item < total, owner, item - first);
    }
  }

 private:
  // What multiply_add() is made of before compute capability 8.0.

  /// Half of it, eight columns of A: the tensor cores of 7.5 take no more.
  __device__ static void multiply_add_eight(float (&d)[4], std::uint32_t a0, std::uint32_t a1,
                                            std::uint32_t b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(b));
  }
  /// All of it without tensor cores, for bfloat16, which those of 7.5 do not know: lane 4 g + t
  /// asks the lanes that have A's row g and row g + 8, and B's columns 2 t and 2 t + 1.
  __device__ static void multiply_add_without(float (&d)[4], const std::uint32_t (&a)[4],
                                              const std::uint32_t (&b)[2]) {
    const std::uint32_t lane = threadIdx.x % 32, group = lane / 4 * 4, column = lane % 4 * 8;
    const auto low = [](std::uint32_t word) { return __uint_as_float(word << 16); };
    const auto high = [](std::uint32_t word) { return __uint_as_float(word & 0xffff0000u); };
#pragma unroll 1
    for (std::uint32_t half = 0; half < 2; ++half) {
#pragma unroll
      for (std::uint32_t t = 0; t < 4; ++t) {
        const auto of = [](std::uint32_t word, std::uint32_t from) {
          return __shfl_sync(0xffffffffu, word, static_cast<int>(from));
        };
        const std::uint32_t upper = of(half == 0 ? a[0] : a[2], group + t);
        const std::uint32_t lower = of(half == 0 ? a[1] : a[3], group + t);
        const std::uint32_t left = of(half == 0 ? b[0] : b[1], column + t);
        const std::uint32_t right = of(half == 0 ? b[0] : b[1], column + 4 + t);
        d[0] = fmaf(high(upper), high(left), fmaf(low(upper), low(left), d[0]));
        d[1] = fmaf(high(upper), high(right), fmaf(low(upper), low(right), d[1]));
        d[2] = fmaf(high(lower), high(left), fmaf(low(lower), low(left), d[2]));
        d[3] = fmaf(high(lower), high(right), fmaf(low(lower), low(right), d[3]));
      }
    }
  }

  Scratch scratch_;
};

class Block {
 public:
  __device__ explicit Block(Scratch scratch = {}) : scratch_(scratch) {}

  __device__ std::uint32_t lane() const { return threadIdx.x; }
  __device__ std::uint32_t size() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }

  template <class F>
  __device__ void for_each(std::uint64_t count, F&& f) const {
    for (std::uint64_t i = lane(); i < count; i += size()) f(i);
  }
  template <std::uint32_t Ahead, class Load, class Use>
  __device__ void for_each_ahead(std::uint64_t count, Load&& load, Use&& use) const {
    detail::for_each_ahead<Ahead>(lane(), size(), count, load, use);
  }
  template <class T, class Op>
  __device__ T reduce(T value, Op op) const {
    __shared__ T partial[32];
    value = Tile<32>().reduce(value, op);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    T result = partial[0];
    for (std::uint32_t w = 1; w < (blockDim.x + 31) / 32; ++w) result = op(result, partial[w]);
    return result;
  }
  template <class T>
  __device__ T exclusive_scan(T value) const {
    __shared__ T partial[32];
    const T inside = Tile<32>().exclusive_scan(value);
    __syncthreads();
    if (threadIdx.x % 32 == 31 || threadIdx.x == blockDim.x - 1)
      partial[threadIdx.x / 32] = inside + value;
    __syncthreads();
    T before{};
    for (std::uint32_t w = 0; w < threadIdx.x / 32; ++w) before += partial[w];
    return before + inside;
  }
  /// `source` is the same in all lanes, unlike a tile's.
  template <class T>
  __device__ T broadcast(T value, std::uint32_t source) const {
    __shared__ T slot;
    __syncthreads();
    if (threadIdx.x == source) slot = value;
    __syncthreads();
    return slot;
  }
  __device__ bool any(bool flag) const { return __syncthreads_or(flag); }
  __device__ bool sync_any(bool flag) const { return any(flag); }
  __device__ std::uint32_t count(bool flag) const {
    return static_cast<std::uint32_t>(__syncthreads_count(flag));
  }
  __device__ std::uint32_t count_before(bool flag) const { return exclusive_scan(flag ? 1u : 0u); }
  __device__ std::uint32_t last_before(bool flag) const {
    __shared__ std::uint32_t ends[32];  // Behind the last lane of each warp whose flag is set.
    const std::uint32_t inside = Tile<32>().last_before(flag);
    const std::uint32_t end_of_warp = Tile<32>().reduce(flag ? threadIdx.x + 1 : 0u, Maximum{});
    __syncthreads();
    if (threadIdx.x % 32 == 0) ends[threadIdx.x / 32] = end_of_warp;
    __syncthreads();
    if (inside < 32) return threadIdx.x / 32 * 32 + inside;
    std::uint32_t end = 0;
    for (std::uint32_t w = 0; w < threadIdx.x / 32; ++w) end = ends[w] > end ? ends[w] : end;
    return end > 0 ? end - 1 : size();
  }
  template <class T>
  __device__ T* scratch() const {
    return reinterpret_cast<T*>(scratch_.data);
  }

  template <class F>
  __device__ void expand(std::uint32_t count, F&& f) const {
    __shared__ std::uint32_t starts[1024];
    const std::uint32_t before = exclusive_scan(count);
    const std::uint32_t total = broadcast(before + count, size() - 1);
    starts[lane()] = before;
    __syncthreads();
    for (std::uint32_t base = 0; base < total; base += size()) {
      const std::uint32_t item = base + lane();
      // The owner is the last lane whose items start at or before `item`.
      std::uint32_t owner = 0;
      for (std::uint32_t step = 512; step > 0; step /= 2) {
        if (owner + step < size() && starts[owner + step] <= item) owner += step;
      }
      f(item < total, owner, item - starts[owner]);
    }
    __syncthreads();
  }

 private:
  Scratch scratch_;
};

}  // namespace warren::exec

#endif
