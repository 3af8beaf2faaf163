// SPDX-License-Identifier: Apache-2.0
// Raw memory with an account. Large host blocks are anonymous mappings, so that they can shrink,
// with huge pages advised: random access over gigabytes is bound by address translation otherwise.
#include "warren/exec/memory.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "warren/core/error.hpp"
#include "warren/exec/captured_work.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {
namespace {

constexpr std::uint64_t kMapThreshold = std::uint64_t{4} << 20;
constexpr std::uint64_t kPage = 4096;
constexpr int kAccounts = 65;  // The host's, then one for each GPU.

struct Account {
  std::atomic<std::uint64_t> current{0};
  std::atomic<std::uint64_t> peak{0};
  std::atomic<std::uint64_t> limit{0};
  std::atomic<std::uint64_t> changes{0};
};

Account& account(const Device& device, MemoryKind kind) {
  static std::array<Account, kAccounts> accounts;
  const bool on_card = device.is_cuda() && kind == MemoryKind::device;
  return accounts[on_card ? static_cast<std::size_t>(device.index()) + 1 : 0];
}

/// Enters `bytes` in the account. Throws MemoryError where they would pass the limit.
void take(Account& a, std::uint64_t bytes, const std::string& where) {
  const std::uint64_t before = a.current.fetch_add(bytes);
  const std::uint64_t limit = a.limit.load();
  if (limit != 0 && (bytes > limit || before > limit - bytes)) {
    a.current.fetch_sub(bytes);
    throw MemoryError(where, bytes, limit > before ? limit - before : 0, "raise the memory limit");
  }
}

void note_peak(Account& a) {
  const std::uint64_t now = a.current.load();
  std::uint64_t peak = a.peak.load();
  while (now > peak && !a.peak.compare_exchange_weak(peak, now)) {
  }
}

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::string place(const Device& device, MemoryKind kind) {
  if (device.is_cuda() && kind == MemoryKind::device) return device.name();
  return kind == MemoryKind::pinned && device.is_cuda() ? "the host (pinned memory)" : "the host";
}

void* allocate_host(std::uint64_t bytes) {
  if (bytes < kMapThreshold) return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  void* pointer = mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pointer == MAP_FAILED) return nullptr;
  (void)madvise(pointer, rounded(bytes), MADV_HUGEPAGE);
  return pointer;
}

void free_host(void* pointer, std::uint64_t bytes) noexcept {
  if (bytes < kMapThreshold) {
    std::free(pointer);
  } else {
    (void)munmap(pointer, rounded(bytes));
  }
}

}  // namespace

void* allocate(const Device& device, MemoryKind kind, std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  Account& a = account(device, kind);
  const bool on_card = device.is_cuda() && kind == MemoryKind::device;
  const bool pinned = device.is_cuda() && kind == MemoryKind::pinned;
  if (!on_card && bytes > kMapThreshold) {
    // The system promises more than it has: look before the pages are touched.
    const std::uint64_t free = Device::cpu(1).memory().free;
    if (free != 0 && bytes > free) throw MemoryError(place(device, kind), bytes, free);
  }
  take(a, bytes, place(device, kind));
  void* pointer = nullptr;
  try {
#if WARREN_HAS_CUDA
    if (on_card) pointer = cuda::allocate_device(device.index(), bytes);
    if (pinned) pointer = cuda::allocate_pinned(bytes);
#endif
    if (!on_card && !pinned) pointer = allocate_host(bytes);
  } catch (...) {
    a.current.fetch_sub(bytes);
    throw;
  }
  if (pointer == nullptr) {
    a.current.fetch_sub(bytes);
    throw MemoryError(place(device, kind), bytes,
                      (on_card ? device : Device::cpu(1)).memory().free);
  }
  note_peak(a);
  ++a.changes;
  return pointer;
}

void deallocate(const Device& device, MemoryKind kind, void* pointer, std::uint64_t bytes,
                std::uint64_t held) noexcept {
  if (pointer == nullptr) return;
  Account& a = account(device, kind);
  a.current.fetch_sub(held);
  ++a.changes;
#if WARREN_HAS_CUDA
  if (device.is_cuda() && kind == MemoryKind::device)
    return cuda::free_device(device.index(), pointer);
  if (device.is_cuda() && kind == MemoryKind::pinned) return cuda::free_pinned(pointer);
#endif
  free_host(pointer, bytes);
}

void shrink(const Device& device, MemoryKind kind, void* pointer, std::uint64_t bytes,
            std::uint64_t held, std::uint64_t kept) noexcept {
  if (pointer == nullptr || kept >= held) return;
  if (device.is_cuda() && kind != MemoryKind::host) return;
  account(device, kind).current.fetch_sub(held - kept);
  if (bytes >= kMapThreshold && rounded(held) > rounded(kept)) {
    (void)madvise(static_cast<char*>(pointer) + rounded(kept), rounded(held) - rounded(kept),
                  MADV_DONTNEED);
  }
}

void copy([[maybe_unused]] const Stream& stream, void* target, const void* source,
          std::uint64_t bytes) {
  if (bytes == 0) return;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda())
    return cuda::copy(stream.device().index(), stream.native(), target, source, bytes);
#endif
  std::memcpy(target, source, bytes);
}

void fill_bytes([[maybe_unused]] const Stream& stream, void* target, int value,
                std::uint64_t bytes) {
  if (bytes == 0) return;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda())
    return cuda::fill_bytes(stream.device().index(), stream.native(), target, value, bytes);
#endif
  std::memset(target, value, bytes);
}

std::uint64_t memory_changes(const Device& device) {
  return account(device, MemoryKind::device).changes.load();
}

MemoryUse memory_use(const Device& device) {
  const Account& a = account(device, MemoryKind::device);
  return {a.current.load(), a.peak.load()};
}

void reset_peak(const Device& device) {
  Account& a = account(device, MemoryKind::device);
  a.peak.store(a.current.load());
}

std::uint64_t total_memory(const Device& device) {
  const std::uint64_t limit = account(device, MemoryKind::device).limit.load();
  const std::uint64_t total = device.memory().total;
  return limit != 0 && limit < total ? limit : total;
}

std::uint64_t free_memory(const Device& device) {
  const Account& a = account(device, MemoryKind::device);
  const std::uint64_t limit = a.limit.load();
  const std::uint64_t free = device.memory().free;
  if (limit == 0) return free;
  const std::uint64_t current = a.current.load();
  const std::uint64_t left = limit > current ? limit - current : 0;
  return left < free ? left : free;
}

void set_memory_limit(const Device& device, std::uint64_t bytes) {
  account(device, MemoryKind::device).limit.store(bytes);
}

}  // namespace warren::exec
