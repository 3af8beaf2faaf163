// SPDX-License-Identifier: Apache-2.0
// Workers of one thread, and what all workers have in common (worker.hpp).
#pragma once

#include <concepts>

#include "warren/core/types.hpp"

namespace warren::exec {

struct Plus {
  template <class T>
  WARREN_HD T operator()(T a, T b) const {
    return a + b;
  }
};
struct Minimum {
  template <class T>
  WARREN_HD T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  WARREN_HD T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

namespace detail {
struct LoopBody {
  WARREN_HD void operator()(std::uint64_t) const {}
};
}  // namespace detail

/// What a kernel may ask of its worker.
template <class W>
concept Worker = requires(const W worker, std::uint32_t value, std::uint64_t count, bool flag,
                          Plus op, detail::LoopBody body) {
  { worker.lane() } -> std::same_as<std::uint32_t>;
  { worker.size() } -> std::same_as<std::uint32_t>;
  worker.sync();
  worker.for_each(count, body);
  { worker.reduce(value, op) } -> std::same_as<std::uint32_t>;
  { worker.exclusive_scan(value) } -> std::same_as<std::uint32_t>;
  { worker.broadcast(value, 0u) } -> std::same_as<std::uint32_t>;
  { worker.any(flag) } -> std::same_as<bool>;
  { worker.sync_any(flag) } -> std::same_as<bool>;
  { worker.count(flag) } -> std::same_as<std::uint32_t>;
  { worker.last_before(flag) } -> std::same_as<std::uint32_t>;
  { worker.template scratch<int>() } -> std::same_as<int*>;
};

/// Reads what will not be read again soon: on a GPU it leaves the first-level cache to what will.
template <class T>
WARREN_HD T load_streaming(const T* address) {
#if defined(__CUDA_ARCH__)
  return __ldcs(address);
#else
  return *address;
#endif
}

/// Reads one element and brings its whole 128-byte line along into a GPU's second-level cache: for
/// walks whose next reads lie nearby.
template <class T>
WARREN_HD T load_with_line(const T* address) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  const auto global = static_cast<std::uint64_t>(__cvta_generic_to_global(address));
  if constexpr (sizeof(T) == 4) {
    std::uint32_t value;
    asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(value) : "l"(global));
    return static_cast<T>(value);
  } else {
    std::uint64_t value;
    asm volatile("ld.global.L2::128B.u64 %0, [%1];" : "=l"(value) : "l"(global));
    return static_cast<T>(value);
  }
#else
  return *address;
#endif
}

/// Asks for a line that will be read soon.
template <class T>
WARREN_HD void prefetch(const T* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
#else
  __builtin_prefetch(address);
  // GCC takes a function that only prefetches for one without effect, and drops its calls.
  asm volatile("");
#endif
}

/// Memory that the lanes of one worker share, as asked for at the launch. Block-shared memory on a
/// GPU.
struct Scratch {
  unsigned char* data = nullptr;
  std::uint32_t bytes = 0;
};

/// A worker of one thread.
class Serial {
 public:
  WARREN_HD explicit Serial(Scratch scratch = {}) : scratch_(scratch) {}

  WARREN_HD std::uint32_t lane() const { return 0; }
  WARREN_HD std::uint32_t size() const { return 1; }
  WARREN_HD void sync() const {}
  /// f(i) for every i below count, shared out over the lanes.
  template <class F>
  WARREN_HD void for_each(std::uint64_t count, F&& f) const {
    for (std::uint64_t i = 0; i < count; ++i) f(i);
  }
  /// The same in two halves, use(i, load(i)), for memory that is far: on a GPU N loads of a lane
  /// are under way together.
  template <std::uint32_t N, class Load, class Use>
  WARREN_HD void for_each_ahead(std::uint64_t count, Load&& load, Use&& use) const {
    for (std::uint64_t i = 0; i < count; ++i) use(i, load(i));
  }
  template <class T, class Op>
  WARREN_HD T reduce(T value, Op) const {
    return value;
  }
  /// Sum of the values of the lanes before this one.
  template <class T>
  WARREN_HD T exclusive_scan(T) const {
    return T{};
  }
  template <class T>
  WARREN_HD T broadcast(T value, std::uint32_t) const {
    return value;
  }
  WARREN_HD bool any(bool flag) const { return flag; }
  /// any() and sync() in one.
  WARREN_HD bool sync_any(bool flag) const { return flag; }
  WARREN_HD std::uint32_t count(bool flag) const { return flag ? 1u : 0u; }
  /// Lanes before this one whose flag is set.
  WARREN_HD std::uint32_t count_before(bool) const { return 0; }
  /// The last of them; size() if there is none.
  WARREN_HD std::uint32_t last_before(bool) const { return 1; }
  template <class T>
  WARREN_HD T* scratch() const {
    return reinterpret_cast<T*>(scratch_.data);
  }

  /// Balanced nested loop: every lane brings `count` items of its own; the lanes together call
  /// f(active, owner, k) for every item k of every lane `owner`. f is called by all lanes at once,
  /// so it may use collectives; lanes without an item get active = false.
  template <class F>
  WARREN_HD void expand(std::uint32_t count, F&& f) const {
    for (std::uint32_t k = 0; k < count; ++k) f(true, 0u, k);
  }

 private:
  Scratch scratch_;
};

/// A worker of one GPU thread; Serial under the name that launches use.
class Thread : public Serial {
 public:
  using Serial::Serial;
};

static_assert(Worker<Serial>);
static_assert(Worker<Thread>);

/// 4, 8 or 16 neighbouring threads of a warp. The class is complete in CUDA sources
/// (worker_cuda.hpp); elsewhere it is a name.
template <std::uint32_t N>
class Tile;
/// The 32 threads of a warp.
using Warp = Tile<32>;
/// All threads of a block. (Not learn::Block, which is a layer of a sampled batch.)
class Block;  // NOLINT(bugprone-forward-declaration-namespace)

}  // namespace warren::exec
