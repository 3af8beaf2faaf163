// SPDX-License-Identifier: Apache-2.0
// Kernels that exercise every function of a worker, for all kinds of workers.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/half.hpp"
#include "warren/exec/launch.hpp"
#include "warren/exec/staged_tiles.hpp"

#include "reference/worker.hpp"

namespace warren::exec {

/// A lane's value in task `task`.
WARREN_HD inline std::uint32_t lane_value(std::uint64_t task, std::uint32_t lane) {
  return static_cast<std::uint32_t>((task * 977 + lane * 131 + 5) % 1013);
}

/// Calls all collectives, twice in a row, with a scratch of one word for each lane.
struct WorkerKernel {
  reference::LaneResults* results;  // One for each task and lane.
  std::uint32_t* loops;             // How often index i was visited, by two loops of each task.
  std::uint64_t loop_count;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint32_t lane = worker.lane();
    std::uint32_t* words = worker.template scratch<std::uint32_t>();
    reference::LaneResults mine{};
    for (int turn = 0; turn < 2; ++turn) {
      const std::uint32_t value = lane_value(task, lane);
      words[lane] = value;
      worker.sync();
      mine.lane = lane;
      mine.size = worker.size();
      mine.sum = worker.reduce(value, Plus{});
      mine.minimum = worker.reduce(words[worker.size() - 1 - lane], Minimum{});
      mine.maximum = worker.reduce(value, Maximum{});
      mine.before = worker.exclusive_scan(value);
      mine.float_before = worker.exclusive_scan(static_cast<float>(value) * 0.25f);
      mine.third = worker.broadcast(value, 2 % worker.size());
      mine.pair = worker.broadcast(reference::LaneResults::Pair{value, std::uint64_t{0} - value},
                                   1 % worker.size());
      mine.any = worker.any(value % 7 == 0) ? 1u : 0u;
      mine.count = worker.count(value % 3 == 0);
      mine.last_before = worker.last_before(value % 3 == 0);
      mine.wide_sum = worker.reduce(std::uint64_t{value} << 30, Plus{});
      // A barrier, too: what the next lane has written is seen.
      words[lane] = value / 7 * 7;
      const bool any_of_seven = worker.sync_any(value % 7 == 0);
      const std::uint32_t next = (lane + 1) % worker.size();
      if (words[next] != lane_value(task, next) / 7 * 7 || any_of_seven != (mine.any != 0))
        mine.any = 2;
      worker.sync();
    }
    results[task * worker.size() + lane] = mine;
    worker.for_each(loop_count, [&](std::uint64_t i) { atomic_add(loops[i], 1u); });
    worker.template for_each_ahead<3>(
        loop_count, [](std::uint64_t i) { return 3 * i + 1; },
        [&](std::uint64_t i, std::uint64_t loaded) {
          if (loaded == 3 * i + 1) atomic_add(loops[i], 1u);
        });
  }
};

/// Lane l of task t brings expand_count(t, l) items; every item must come exactly once, with all
/// lanes in step.
WARREN_HD inline std::uint32_t expand_count(std::uint64_t task, std::uint32_t lane) {
  const auto mixed = static_cast<std::uint32_t>((task * 31 + lane * 17) % 23);
  return mixed < 10 ? 0u : mixed == 22 ? 300u : mixed - 9;  // Many have none, few have many.
}

struct ExpandKernel {
  static constexpr std::uint32_t kMostItems = 512;
  std::uint32_t* visits;      // [task][owner][item]
  std::uint32_t* mismatches;  // Lanes that were not in step, or items that do not exist.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    worker.expand(expand_count(task, worker.lane()),
                  [&](bool is_active, std::uint32_t owner, std::uint32_t item) {
                    // A collective inside: hangs or miscounts unless all lanes are here.
                    const std::uint32_t active = worker.count(is_active);
                    if (active == 0) atomic_add(*mismatches, 1u);
                    if (!is_active) return;
                    if (owner >= worker.size() || item >= expand_count(task, owner)) {
                      atomic_add(*mismatches, 1u);
                      return;
                    }
                    atomic_add(visits[(task * worker.size() + owner) * kMostItems + item], 1u);
                  });
  }
};

/// What a lane has of one product's matrices by rows, b 16 x 8 and d 16 x 8.
template <class T>
struct ProductLane {
  std::uint32_t g, t;
  const T* b;
  float* to;

  template <class W>
  WARREN_HD ProductLane(const W& worker, const T* b_, float* d)
      : g(worker.lane() / 4), t(worker.lane() % 4), b(b_), to(d + g * 8 + 2 * t) {}
  [[nodiscard]] WARREN_HD std::uint32_t of_b(std::uint32_t row) const {
    const T* at = b + row * 8 + g;
    return at[0].bits | std::uint32_t{at[8].bits} << 16;
  }
  WARREN_HD void load_b(std::uint32_t (&words)[2]) const {
    words[0] = of_b(2 * t);
    words[1] = of_b(2 * t + 8);
  }
  WARREN_HD void load(float (&sums)[4]) const {
    for (std::uint32_t i = 0; i < 4; ++i) sums[i] = to[i / 2 * 64 + i % 2];
  }
  WARREN_HD void store(const float (&sums)[4]) const {
    for (std::uint32_t i = 0; i < 4; ++i) to[i / 2 * 64 + i % 2] = sums[i];
  }
};

/// d += a b twice, of matrices by rows, a 16 x 16, b 16 x 8, d 16 x 8; tasks have them one after
/// the other.
template <class T>
struct ProductKernel {
  const T* a;
  const T* b;
  float* d;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const ProductLane<T> mine(worker, b + task * 128, d + task * 128);
    const std::uint32_t g = mine.g, t = mine.t;
    const auto of_a = [&](std::uint32_t row, std::uint32_t column) {
      const T* at = a + task * 256 + row * 16 + column;
      return at[0].bits | std::uint32_t{at[1].bits} << 16;
    };
    const std::uint32_t left[4] = {of_a(g, 2 * t), of_a(g + 8, 2 * t), of_a(g, 2 * t + 8),
                                   of_a(g + 8, 2 * t + 8)};
    std::uint32_t right[2];
    mine.load_b(right);
    float sums[4];
    mine.load(sums);
    for (int turn = 0; turn < 2; ++turn) worker.template multiply_add<T>(sums, left, right);
    mine.store(sums);
  }
};

/// The same with a brought to shared memory behind other work: once as it is, in pieces of 16 and
/// of 8 bytes, and once transposed.
template <class T>
struct StagedProductKernel {
  static constexpr std::uint32_t kRowBytes = 48;  ///< Two pieces of 16 bytes and one between rows.
  struct Shared {
    alignas(16) unsigned char rows[16 * kRowBytes];
    alignas(16) unsigned char columns[16 * kRowBytes];
  };
  const T* a;
  const T* b;
  float* d;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const ProductLane<T> mine(worker, b + task * 128, d + task * 128);
    auto& shared = *worker.template scratch<Shared>();
    const SharedPlace rows(shared.rows), columns(shared.columns);
    const T* const of_task = a + task * 256;
    worker.sync();
    {
      const std::uint32_t row = worker.lane() / 2, half = worker.lane() % 2;
      const T* const from = of_task + row * 16 + half * 8;
      const SharedPlace to = rows + (row * kRowBytes + half * 16);
      if (half == 0) {
        copy_behind<16>(to, from);
      } else {
        copy_behind<8>(to, from);
        copy_or_clear<8>(to + 8, from + 4, true);
        copy_or_clear<8>(to + 16, from, false);
      }
      end_copies();
    }
    worker.for_each(256, [&](std::uint64_t i) {
      reinterpret_cast<T*>(shared.columns + i % 16 * kRowBytes)[i / 16] = of_task[i];
    });
    wait_for_copies<0>();
    worker.sync();
    std::uint32_t right[2];
    mine.load_b(right);
    float sums[4];
    mine.load(sums);
    const std::uint32_t matrix = worker.lane() / 8, r = worker.lane() % 8;
    std::uint32_t left[4];
    load_tiles<false>(worker, rows + ((matrix % 2 * 8 + r) * kRowBytes + matrix / 2 * 16), left);
    worker.template multiply_add<T>(sums, left, right);
    load_tiles<true>(worker, columns + ((matrix / 2 * 8 + r) * kRowBytes + matrix % 2 * 16), left);
    worker.template multiply_add<T>(sums, left, right);
    sums[0] += static_cast<float>(shared.rows[mine.g * kRowBytes + 32 + mine.t]);  // Cleared.
    mine.store(sums);
  }
};

/// Small whole numbers, whose products are exact.
template <class T>
struct Products {
  static constexpr std::uint64_t kTasks = 9;

  [[nodiscard]] static T of_a(std::uint64_t i) {
    return from_float<T>(static_cast<float>(i * 7 % 13) - 6.0f);
  }
  [[nodiscard]] static T of_b(std::uint64_t i) {
    return from_float<T>(static_cast<float>(i * 5 % 11) - 5.0f);
  }
  [[nodiscard]] static float before(std::uint64_t i) { return static_cast<float>(i % 17); }
  [[nodiscard]] static float expected(std::uint64_t i) {
    const std::uint64_t task = i / 128, row = i % 128 / 8, column = i % 8;
    float sum = before(i);
    for (std::uint64_t k = 0; k < 16; ++k) {
      sum += 2.0f * to_float(of_a(task * 256 + row * 16 + k)) *
             to_float(of_b(task * 128 + k * 8 + column));
    }
    return sum;
  }
};

}  // namespace warren::exec
