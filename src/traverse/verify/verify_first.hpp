// SPDX-License-Identifier: Apache-2.0
// What the checks of results share: looking at every vertex in parallel and reporting the first
// that is wrong, whichever thread met one first.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/traverse/verify.hpp"

namespace warren::traverse {

/// Calls check(v), which returns a message or an empty string, for v < count on the pool's threads.
/// The verdict is that of the smallest v with a message: the same for any number of threads.
template <class Check>
Verdict first_failure(std::uint64_t count, exec::ThreadPool& pool, Check&& check) {
  constexpr std::uint64_t kGrain = 4096;
  std::atomic<std::uint64_t> first{count};
  std::mutex mutex;
  Verdict verdict;
  pool.parallel_for(0, count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end && v < first.load(std::memory_order_relaxed); ++v) {
      std::string message = check(v);
      if (message.empty()) continue;
      const std::scoped_lock lock(mutex);
      if (v < first.load()) {
        first = v;
        verdict = {false, std::move(message)};
      }
      return;
    }
  });
  return verdict;
}

}  // namespace warren::traverse
