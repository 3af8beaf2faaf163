// SPDX-License-Identifier: Apache-2.0
// OpenBLAS keeps what it once took: the buffers are asked of it together, after as much has been
// had of the system and given back, and are free for its calls from then on.
#include "exec/blas_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>

#include "warren/core/error.hpp"
#include "warren/core/page.hpp"
#include "warren/exec/device.hpp"

// Of OpenBLAS, for its own parts; other libraries of the same interface have none of them.
extern "C" {
[[gnu::weak]] void* blas_memory_alloc(int);
[[gnu::weak]] void blas_memory_free(void*);
}

namespace warren::exec {
namespace {

/// Of one buffer: 128 MiB on all processors of 64 bits, and what it is aligned by.
constexpr std::uint64_t kBufferBytes = (std::uint64_t{128} << 20) + (std::uint64_t{1} << 16);
/// OpenBLAS itself ends the process where it is asked for many more.
constexpr std::uint64_t kMostBuffers = 64;

std::atomic<std::uint64_t> buffers_in_use{0};
std::atomic<std::uint64_t> buffers_held{0};

std::uint64_t free_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return Device::cpu(1).memory().free;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t used = pages * bytes_of_page();
  return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

void check_one() {
  void* trial =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED) {
    throw MemoryError("the host (address space for a buffer of OpenBLAS)", kBufferBytes,
                      free_address_space(),
                      "each thread needs one: give fewer threads, or raise ulimit -v");
  }
  (void)munmap(trial, kBufferBytes);
}

void hold(std::uint64_t count) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (buffers_held.load() >= count) return;
  std::vector<void*> taken;
  const auto give_back = [&taken] {
    for (void* buffer : taken) blas_memory_free(buffer);
  };
  taken.reserve(count);
  try {
    while (taken.size() < count) {
      check_one();
      taken.push_back(blas_memory_alloc(0));
    }
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
  buffers_held.store(count);
}

}  // namespace

BlasBuffers::BlasBuffers(std::uint64_t threads) : threads_(threads) {
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return;
  const std::uint64_t wanted = std::min(buffers_in_use.fetch_add(threads) + threads, kMostBuffers);
  if (wanted <= buffers_held.load(std::memory_order_acquire)) return;
  try {
    hold(wanted);
  } catch (...) {
    buffers_in_use.fetch_sub(threads);
    throw;
  }
}

BlasBuffers::~BlasBuffers() {
  if (blas_memory_alloc != nullptr && blas_memory_free != nullptr)
    buffers_in_use.fetch_sub(threads_);
}

}  // namespace warren::exec
