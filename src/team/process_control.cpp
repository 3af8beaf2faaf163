// SPDX-License-Identifier: Apache-2.0
#include "team/process_control.hpp"

#include <algorithm>
#include <ctime>
#include <thread>

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "warren/core/error.hpp"

namespace warren::team {
namespace {

/// Until woken, or the word is another one, or a short time has passed.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  constexpr timespec kLongest{0, 100'000'000};
  (void)syscall(SYS_futex, &word, FUTEX_WAIT, value, &kLongest, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  constexpr int kAll = 0x7fffffff;
  (void)syscall(SYS_futex, &word, FUTEX_WAKE, kAll, nullptr, nullptr, 0);
}

}  // namespace

bool ProcessControl::end(int rank, const std::string& message, int by) noexcept {
  std::uint32_t nobody = 0;
  const bool is_cause = is_caused.compare_exchange_strong(nobody, 1);
  if (is_cause) {
    failed_rank = rank;
    ended_by.store(by < 0 ? host : by);
    cause_length = static_cast<std::uint32_t>(std::min(message.size(), cause.size()));
    std::copy_n(message.begin(), cause_length, cause.begin());
    std::atomic_ref(has_ended).store(1, std::memory_order_release);
  }
  wake_all();
  return is_cause;
}

bool ProcessControl::is_over() const noexcept {
  return __atomic_load_n(&has_ended, __ATOMIC_ACQUIRE) != 0;
}

std::string ProcessControl::text() const {
  if (!is_over()) return {};
  return {cause.data(), std::min<std::size_t>(cause_length, cause.size())};
}

void ProcessControl::check() const {
  if (is_over()) throw TeamError(text());
}

void ProcessControl::wake_all() noexcept { futex_wake_all(generation); }

void ProcessControl::barrier(int rank) {
  check();
  const std::uint32_t passed = generation.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(ranks)) {
    arrived.store(0, std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_acq_rel);
    wake_all();
    return;
  }
  constexpr int kSpins = 500;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (generation.load(std::memory_order_acquire) != passed) return;
    std::this_thread::yield();
  }
  while (generation.load(std::memory_order_acquire) == passed) {
    check();
    for (int other = 0; other < ranks; ++other) {
      // It may have left after this barrier, which it has then passed.
      if (of(other).has_left.load(std::memory_order_acquire) == 0 ||
          generation.load(std::memory_order_acquire) != passed)
        continue;
      end(of(other).rank,
          fmt::format("rank {} of {} has ended, and rank {} waits for it: the ranks did not "
                      "make the same calls",
                      of(other).rank, all_ranks, of(rank).rank));
    }
    futex_wait(generation, passed);
  }
}

}  // namespace warren::team
