// SPDX-License-Identifier: Apache-2.0
// Managed memory with an account for each card, which keeps it far from what the card has.
#include "warren/exec/managed.hpp"

#include <array>
#include <atomic>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"

#include "exec/cuda/runtime.hpp"

namespace warren::exec {
namespace {

constexpr std::size_t kMostDevices = 64;

std::atomic<std::uint64_t>& account(const Device& device) {
  static std::array<std::atomic<std::uint64_t>, kMostDevices> accounts{};
  return accounts.at(device.is_cuda() ? static_cast<std::size_t>(device.index()) : 0);
}

bool has_managed_memory([[maybe_unused]] const Device& device) {
#if WARREN_HAS_CUDA
  return device.is_cuda() && cuda::has_managed_memory(device.index());
#else
  return false;
#endif
}

}  // namespace

std::uint64_t managed_use(const Device& device) { return account(device).load(); }

std::uint64_t managed_room(const Device& device) {
  if (!has_managed_memory(device)) return 0;
  const std::uint64_t most = free_memory(device) / 2;
  const std::uint64_t used = managed_use(device);
  return most > used ? most - used : 0;
}

void* allocate_managed(const Device& device, std::uint64_t bytes) {
  require(has_managed_memory(device), device.name() + " has no managed memory that its kernels " +
                                          "can wait for: place the data in pinned host memory");
  if (bytes == 0) return nullptr;
  std::atomic<std::uint64_t>& used = account(device);
  const std::uint64_t most = free_memory(device) / 2;
  const auto refuse = [&](std::uint64_t held) {
    throw MemoryError(device.name() + " (managed memory)", bytes, most > held ? most - held : 0,
                      "no more than half of a card's free memory is managed");
  };
  std::uint64_t before = used.load();
  do {
    if (before > most || bytes > most - before) refuse(before);
  } while (!used.compare_exchange_weak(before, before + bytes));
  void* pointer = nullptr;
  try {
#if WARREN_HAS_CUDA
    pointer = cuda::allocate_managed(device.index(), bytes);
#endif
    if (pointer == nullptr) refuse(before);
  } catch (...) {
    used.fetch_sub(bytes);
    throw;
  }
  return pointer;
}

void deallocate_managed(const Device& device, void* pointer, std::uint64_t bytes) noexcept {
  if (pointer == nullptr) return;
  account(device).fetch_sub(bytes);
#if WARREN_HAS_CUDA
  cuda::free_device(device.index(), pointer);
#endif
}

void copy_pages_on_read([[maybe_unused]] const Device& device, [[maybe_unused]] void* pointer,
                        std::uint64_t bytes) {
  if (bytes == 0) return;
#if WARREN_HAS_CUDA
  cuda::advise_read_mostly(device.index(), pointer, bytes, true);
#endif
}

void return_to_host(const Stream& stream, [[maybe_unused]] void* pointer, std::uint64_t bytes) {
  stream.synchronize();
  if (bytes == 0) return;
#if WARREN_HAS_CUDA
  // Copies stay where they are as long as the advice holds.
  const int index = stream.device().index();
  cuda::advise_read_mostly(index, pointer, bytes, false);
  cuda::prefetch_to_host(index, stream.native(), pointer, bytes);
#endif
  stream.synchronize();
}

}  // namespace warren::exec
