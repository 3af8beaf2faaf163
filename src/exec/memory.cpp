// SPDX-License-Identifier: Apache-2.0
// Raw memory with an account. Large host blocks are anonymous mappings, so that they can shrink,
// with huge pages advised: random access over gigabytes is bound by address translation otherwise.
#include "warren/exec/memory.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/page.hpp"
#include "warren/exec/captured_work.hpp"
#include "warren/exec/dry_run.hpp"
#include "warren/exec/thread_pool.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {
namespace {

constexpr std::uint64_t kMapThreshold = std::uint64_t{4} << 20;
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

/// Who gives device memory now, and who gave what there is. Never destroyed: blocks may outlive
/// what the process destroys at its end.
class Resources {
 public:
  [[nodiscard]] static Resources& all() {
    static auto* resources = new Resources;
    return *resources;
  }
  void set(DeviceKind kind, std::shared_ptr<MemoryResource> resource) {
    const std::scoped_lock lock(mutex_);
    current_[static_cast<std::size_t>(kind)].swap(resource);
    is_used_ = is_used_ || current_[static_cast<std::size_t>(kind)] != nullptr;
  }
  /// Who gives the device memory of this kind: its own resource, or the process's. nullptr: the
  /// driver, or the system.
  [[nodiscard]] std::shared_ptr<MemoryResource> current(const Device& device, MemoryKind kind) {
    if (kind == MemoryKind::host) return nullptr;
    const std::shared_ptr<MemoryResource>& own = device.memory_resource();
    if (own != nullptr && own->gives(kind)) return own;
    if (!is_used_.load()) return nullptr;
    const std::scoped_lock lock(mutex_);
    const auto& resource = current_[static_cast<std::size_t>(device.kind())];
    return resource != nullptr && resource->gives(kind) ? resource : nullptr;
  }
  /// nullptr where it has none.
  [[nodiscard]] void* allocate(const std::shared_ptr<MemoryResource>& giver, const Device& device,
                               MemoryKind kind, std::uint64_t bytes) {
    void* const pointer = is_pinned(device, kind) ? giver->allocate_pinned(device, bytes)
                                                  : giver->allocate(device, bytes);
    if (pointer == nullptr) return nullptr;
    const std::scoped_lock lock(mutex_);
    is_used_ = true;
    givers_.emplace(pointer, giver);
    return pointer;
  }
  /// Whether the block was a resource's, and is given back.
  [[nodiscard]] bool deallocate(const Device& device, MemoryKind kind, void* pointer,
                                std::uint64_t bytes) noexcept {
    if (!is_used_.load() || kind == MemoryKind::host) return false;
    std::shared_ptr<MemoryResource> giver;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = givers_.find(pointer);
      if (found == givers_.end()) return false;
      giver = std::move(found->second);
      givers_.erase(found);
    }
#if WARREN_HAS_CUDA
    // As the driver does: a kernel may still use it. What has failed uses nothing.
    if (device.is_cuda()) cuda::settle_device(device.index());
#endif
    if (is_pinned(device, kind)) {
      giver->deallocate_pinned(device, pointer, bytes);
    } else {
      giver->deallocate(device, pointer, bytes);
    }
    return true;
  }

  /// Whether the block is a resource's.
  [[nodiscard]] bool has(MemoryKind kind, void* pointer) noexcept {
    if (!is_used_.load() || kind == MemoryKind::host) return false;
    const std::scoped_lock lock(mutex_);
    return givers_.contains(pointer);
  }

 private:
  /// On the CPU all kinds are plain memory.
  [[nodiscard]] static bool is_pinned(const Device& device, MemoryKind kind) {
    return kind == MemoryKind::pinned && device.is_cuda();
  }

  std::mutex mutex_;
  std::atomic<bool> is_used_{false};  ///< Some resource was set for the process, or gave a block.
  std::array<std::shared_ptr<MemoryResource>, 2> current_;
  std::unordered_map<void*, std::shared_ptr<MemoryResource>> givers_;
};

std::string place(const Device& device, MemoryKind kind) {
  if (device.is_cuda() && kind == MemoryKind::device) return device.name();
  return kind == MemoryKind::pinned && device.is_cuda() ? "the host (pinned memory)" : "the host";
}

/// Devices of dry runs are CPUs, whatever they are for.
DryRun* dry_run_of(const Device& device) { return device.is_cuda() ? nullptr : DryRun::current(); }

void* allocate_host(std::uint64_t bytes) {
  if (bytes < kMapThreshold) return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  void* pointer = mmap(nullptr, in_pages(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pointer == MAP_FAILED) return nullptr;
  (void)madvise(pointer, in_pages(bytes), MADV_HUGEPAGE);
  return pointer;
}

#if WARREN_HAS_CUDA
/// Pinned blocks from here on are touched by all threads before they are pinned: the driver's own
/// calls touch page after page, on some machines for 3 s each 8 GiB.
constexpr std::uint64_t kTouchThreshold = std::uint64_t{256} << 20;

void* allocate_pinned(std::uint64_t bytes) {
  if (bytes < kTouchThreshold) return cuda::allocate_pinned(bytes);
  void* pointer = allocate_host(bytes);
  if (pointer == nullptr) return nullptr;
  constexpr std::uint64_t kGrain = std::uint64_t{64} << 20;
  auto* const words = static_cast<volatile char*>(pointer);
  try {
    ThreadPool pool(hardware_threads());
    pool.parallel_for(0, bytes, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      const std::uint64_t page = bytes_of_page();
      for (std::uint64_t at = begin / page * page; at < end; at += page) words[at] = 0;
    });
    if (cuda::pin(pointer, bytes)) return pointer;
  } catch (...) {
    (void)munmap(pointer, in_pages(bytes));
    throw;
  }
  (void)munmap(pointer, in_pages(bytes));
  return nullptr;
}

void free_pinned(void* pointer, std::uint64_t bytes) noexcept {
  if (bytes < kTouchThreshold) return cuda::free_pinned(pointer);
  cuda::unpin(pointer);
  (void)munmap(pointer, in_pages(bytes));
}
#endif

/// Of large blocks, after which the call may be ended.
constexpr std::uint64_t kPieceBytes = std::uint64_t{32} << 20;

void free_host(void* pointer, std::uint64_t bytes) noexcept {
  if (bytes < kMapThreshold) {
    std::free(pointer);
  } else {
    (void)munmap(pointer, in_pages(bytes));
  }
}

}  // namespace

void* allocate(const Device& device, MemoryKind kind, std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (DryRun* const run = dry_run_of(device); run != nullptr && kind != MemoryKind::host)
    return run->take(kind, bytes);
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
  const std::shared_ptr<MemoryResource> giver = Resources::all().current(device, kind);
  try {
    if (giver != nullptr) {
      pointer = Resources::all().allocate(giver, device, kind, bytes);
    } else {
#if WARREN_HAS_CUDA
      if (on_card) pointer = cuda::allocate_device(device.index(), bytes);
      if (pinned) pointer = allocate_pinned(bytes);
#endif
      if (!on_card && !pinned) pointer = allocate_host(bytes);
    }
  } catch (...) {
    a.current.fetch_sub(bytes);
    throw;
  }
  if (pointer == nullptr) {
    a.current.fetch_sub(bytes);
    const std::uint64_t free = (on_card ? device : Device::cpu(1)).memory().free;
    if (giver == nullptr) throw MemoryError(place(device, kind), bytes, free);
    throw MemoryError(place(device, kind), bytes, free,
                      giver == device.memory_resource()
                          ? "the memory resource of the session has none to give: empty its cache, "
                            "or make the session without it"
                          : "the allocator that was set has none to give: empty its cache, or "
                            "unset it");
  }
  note_peak(a);
  ++a.changes;
  return pointer;
}

void deallocate(const Device& device, MemoryKind kind, void* pointer, std::uint64_t bytes,
                std::uint64_t held) noexcept {
  if (pointer == nullptr) return;
  if (DryRun::gave(pointer)) {
    if (DryRun* const run = DryRun::current(); run != nullptr) run->give_back(kind, held);
    return;
  }
  Account& a = account(device, kind);
  a.current.fetch_sub(held);
  ++a.changes;
  if (Resources::all().deallocate(device, kind, pointer, bytes)) return;
#if WARREN_HAS_CUDA
  if (device.is_cuda() && kind == MemoryKind::device)
    return cuda::free_device(device.index(), pointer);
  if (device.is_cuda() && kind == MemoryKind::pinned) return free_pinned(pointer, bytes);
#endif
  free_host(pointer, bytes);
}

void shrink(const Device& device, MemoryKind kind, void* pointer, std::uint64_t bytes,
            std::uint64_t held, std::uint64_t kept) noexcept {
  if (pointer == nullptr || kept >= held) return;
  if (DryRun::gave(pointer)) {
    if (DryRun* const run = DryRun::current(); run != nullptr) run->give_back(kind, held - kept);
    return;
  }
  if (device.is_cuda() && kind != MemoryKind::host) return;
  account(device, kind).current.fetch_sub(held - kept);
  // A resource's block may end within a page in which another one begins.
  if (Resources::all().has(kind, pointer)) return;
  if (bytes >= kMapThreshold && in_pages(held) > in_pages(kept)) {
    (void)madvise(static_cast<char*>(pointer) + in_pages(kept), in_pages(held) - in_pages(kept),
                  MADV_DONTNEED);
  }
}

void copy([[maybe_unused]] const Stream& stream, void* target, const void* source,
          std::uint64_t bytes) {
  if (bytes == 0 || dry_run_of(stream.device()) != nullptr) return;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda())
    return cuda::copy(stream.device().index(), stream.native(), target, source, bytes);
#endif
  in_pieces(0, bytes, kPieceBytes, [&](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(static_cast<char*>(target) + begin, static_cast<const char*>(source) + begin,
                end - begin);
  });
}

void fill_bytes([[maybe_unused]] const Stream& stream, void* target, int value,
                std::uint64_t bytes) {
  if (bytes == 0 || dry_run_of(stream.device()) != nullptr) return;
#if WARREN_HAS_CUDA
  if (stream.device().is_cuda())
    return cuda::fill_bytes(stream.device().index(), stream.native(), target, value, bytes);
#endif
  in_pieces(0, bytes, kPieceBytes, [&](std::uint64_t begin, std::uint64_t end) {
    std::memset(static_cast<char*>(target) + begin, value, end - begin);
  });
}

void set_memory_resource(DeviceKind kind, std::shared_ptr<MemoryResource> resource) {
  Resources::all().set(kind, std::move(resource));
}

int gpu_of([[maybe_unused]] const void* pointer) {
#if WARREN_HAS_CUDA
  // Without a driver, or a GPU, nothing can be asked.
  if (cuda_device_count() > 0) return cuda::gpu_of(pointer);
#endif
  return -1;
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
  const std::shared_ptr<MemoryResource> giver =
      Resources::all().current(device, MemoryKind::device);
  const std::uint64_t free =
      device.memory().free + (giver != nullptr ? giver->unused(device) : std::uint64_t{0});
  if (limit == 0) return free;
  const std::uint64_t current = a.current.load();
  const std::uint64_t left = limit > current ? limit - current : 0;
  return left < free ? left : free;
}

void set_memory_limit(const Device& device, std::uint64_t bytes) {
  account(device, MemoryKind::device).limit.store(bytes);
}

}  // namespace warren::exec
