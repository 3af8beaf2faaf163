// SPDX-License-Identifier: Apache-2.0
// A worker of several CPU threads, for tests: kernels that synchronise within a worker meet real
// concurrency without a GPU.
#pragma once

#include <vector>

#include "warren/exec/launch.hpp"
#include "warren/exec/tensor_cores.hpp"

namespace warren::exec {

/// Lanes are threads of a pool; collectives go through a barrier and a slot per lane.
class CpuBlock {
 public:
  struct Shared {
    explicit Shared(int lanes) : barrier(lanes), slots(static_cast<std::size_t>(lanes)) {}
    ThreadBarrier barrier;
    struct Slot {
      std::uint64_t words[2];
    };
    std::vector<Slot> slots;
    std::uint32_t a[32][4], b[32][2];  ///< Of a product.
  };

  CpuBlock(Shared& shared, std::uint32_t lane, Scratch scratch)
      : shared_(&shared), lane_(lane), scratch_(scratch) {}

  std::uint32_t lane() const { return lane_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(shared_->slots.size()); }
  void sync() const { shared_->barrier.wait(); }
  template <class F>
  void for_each(std::uint64_t count, F&& f) const {
    for (std::uint64_t i = lane_; i < count; i += size()) f(i);
  }
  template <std::uint32_t N, class Load, class Use>
  void for_each_ahead(std::uint64_t count, Load&& load, Use&& use) const {
    for_each(count, [&](std::uint64_t i) { use(i, load(i)); });
  }
  template <class T, class Op>
  T reduce(T value, Op op) const {
    return gather(value, [&](auto at) {
      T result = at(0);
      for (std::uint32_t i = 1; i < size(); ++i) result = op(result, at(i));
      return result;
    });
  }
  template <class T>
  T exclusive_scan(T value) const {
    return gather(value, [&](auto at) {
      T sum{};
      for (std::uint32_t i = 0; i < lane_; ++i) sum = sum + at(i);
      return sum;
    });
  }
  /// The source is taken modulo the lanes, as a warp does.
  template <class T>
  T broadcast(T value, std::uint32_t source) const {
    return gather(value, [&](auto at) { return at(source % size()); });
  }
  template <class T>
  T shuffle_xor(T value, std::uint32_t step) const {
    return broadcast(value, lane_ ^ step);
  }
  /// Every lane's value.
  template <class T, std::size_t N>
  void gather_all(T value, T (&values)[N]) const {
    gather(value, [&](auto at) {
      for (std::uint32_t i = 0; i < size(); ++i) values[i] = at(i);
      return value;
    });
  }
  /// d += a b as tensor cores have it (tensor_cores.hpp), by 32 lanes; sums in the order of A's
  /// columns.
  template <class T>
  void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) const {
    __builtin_memcpy(shared_->a[lane_], a, sizeof a);
    __builtin_memcpy(shared_->b[lane_], b, sizeof b);
    sync();
    const auto half = [](std::uint32_t word, std::uint32_t which) {
      return to_float(T{static_cast<std::uint16_t>(word >> which * 16)});
    };
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t row = lane_ / 4 + i / 2 * 8, column = lane_ % 4 * 2 + i % 2;
      for (std::uint32_t k = 0; k < 16; ++k) {
        const std::uint32_t of_row = shared_->a[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2];
        const std::uint32_t of_column = shared_->b[column * 4 + k % 8 / 2][k / 8];
        d[i] += half(of_row, k % 2) * half(of_column, k % 2);
      }
    }
    sync();
  }
  bool any(bool flag) const { return count(flag) != 0; }
  bool sync_any(bool flag) const { return any(flag); }
  std::uint32_t count(bool flag) const { return reduce(flag ? 1u : 0u, Plus{}); }
  std::uint32_t count_before(bool flag) const { return exclusive_scan(flag ? 1u : 0u); }
  std::uint32_t last_before(bool flag) const {
    return gather(flag ? 1u : 0u, [&](auto at) {
      std::uint32_t last = size();
      for (std::uint32_t i = 0; i < lane_; ++i) last = at(i) != 0 ? i : last;
      return last;
    });
  }
  template <class T>
  T* scratch() const {
    return reinterpret_cast<T*>(scratch_.data);
  }
  template <class F>
  void expand(std::uint32_t count, F&& f) const {
    const std::uint32_t before = exclusive_scan(count);
    const std::uint32_t total = broadcast(before + count, size() - 1);
    for (std::uint32_t base = 0; base < total; base += size()) {
      const std::uint32_t item = base + lane_;
      std::uint32_t owner = 0;
      std::uint32_t first = 0;
      for (std::uint32_t i = 0; i < size(); ++i) {
        const std::uint32_t start = broadcast(before, i);
        if (start <= item) {
          owner = i;
          first = start;
        }
      }
      f(item < total, owner, item - first);
    }
  }

 private:
  template <class T, class Read>
  T gather(T value, Read&& read) const {
    static_assert(sizeof(T) <= sizeof(Shared::Slot) && std::is_trivially_copyable_v<T>);
    __builtin_memcpy(&shared_->slots[lane_], &value, sizeof(T));
    sync();
    const T result = read([&](std::uint32_t i) {
      T other;
      __builtin_memcpy(&other, &shared_->slots[i], sizeof(T));
      return other;
    });
    sync();
    return result;
  }

  Shared* shared_;
  std::uint32_t lane_;
  Scratch scratch_;
};

static_assert(Worker<CpuBlock>);

/// Runs kernel(worker, task) for every task, all of `pool`'s threads being the lanes of one worker.
template <class Kernel>
void launch_cpu_block(ThreadPool& pool, std::uint64_t tasks, const Kernel& kernel,
                      std::uint32_t scratch_bytes = 0) {
  CpuBlock::Shared shared(pool.size());
  detail::CpuScratch scratch(scratch_bytes);
  pool.run([&](int lane) {
    const CpuBlock worker(shared, static_cast<std::uint32_t>(lane), scratch.get());
    for (std::uint64_t task = 0; task < tasks; ++task) kernel(worker, task);
  });
}

}  // namespace warren::exec
