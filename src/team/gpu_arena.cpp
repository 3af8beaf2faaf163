// SPDX-License-Identifier: Apache-2.0
#include "team/gpu_arena.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "warren/core/error.hpp"
#include "warren/exec/cuda_check.hpp"

namespace warren::team {
namespace {

/// As large as pages of a GPU: what shares one with a block would be shown with it.
constexpr std::uint64_t kGpuPage = std::uint64_t{2} << 20;
constexpr std::uint64_t kPartAlignment = 256;
/// Smaller blocks are parts of one of kSharedBlock bytes.
constexpr std::uint64_t kSmallBlock = std::uint64_t{1} << 20;
constexpr std::uint64_t kSharedBlock = std::uint64_t{32} << 20;

#if WARREN_HAS_CUDA

void* take_of_gpu(int gpu, std::uint64_t bytes) {
  exec::Device::cuda(gpu).activate();
  void* pointer = nullptr;
  const cudaError_t status = cudaMalloc(&pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  exec::cuda_check(status, "cudaMalloc");
  return pointer;
}

void give_to_gpu(int gpu, void* pointer) noexcept {
  (void)cudaSetDevice(gpu);
  (void)cudaFree(pointer);
}

std::array<std::byte, 64> handle_of(int gpu, void* pointer) {
  static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(std::array<std::byte, 64>));
  exec::Device::cuda(gpu).activate();
  cudaIpcMemHandle_t handle{};
  exec::cuda_check(cudaIpcGetMemHandle(&handle, pointer), "cudaIpcGetMemHandle");
  std::array<std::byte, 64> bytes{};
  std::memcpy(bytes.data(), &handle, sizeof handle);
  return bytes;
}

void* open_handle(const std::array<std::byte, 64>& bytes) {
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, bytes.data(), sizeof handle);
  void* pointer = nullptr;
  exec::cuda_check(cudaIpcOpenMemHandle(&pointer, handle, cudaIpcMemLazyEnablePeerAccess),
                   "cudaIpcOpenMemHandle");
  return pointer;
}

void close_handle(void* pointer) noexcept { (void)cudaIpcCloseMemHandle(pointer); }

bool pin(void* pointer, std::uint64_t bytes) {
  const cudaError_t status =
      cudaHostRegister(pointer, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return false;
  }
  exec::cuda_check(status, "cudaHostRegister");
  return true;
}

void unpin(void* pointer) noexcept { (void)cudaHostUnregister(pointer); }

#else  // No rank of such a build has a GPU.

void* take_of_gpu(int /*gpu*/, std::uint64_t /*bytes*/) { return nullptr; }
void give_to_gpu(int /*gpu*/, void* /*pointer*/) noexcept {}
std::array<std::byte, 64> handle_of(int /*gpu*/, void* /*pointer*/) { return {}; }
void* open_handle(const std::array<std::byte, 64>& /*bytes*/) { return nullptr; }
void close_handle(void* /*pointer*/) noexcept {}
bool pin(void* /*pointer*/, std::uint64_t /*bytes*/) { return false; }
void unpin(void* /*pointer*/) noexcept {}

#endif

}  // namespace

GpuArena::GpuArena(std::shared_ptr<ProcessArena> host, const std::uint32_t* has_ended)
    : host_(std::move(host)), has_ended_(has_ended) {}

void* GpuArena::take(int gpu, std::uint64_t bytes) {
  if (gpu >= 0) return take_of_gpu(gpu, bytes);
  void* const pointer = host_->allocate_pages(bytes);
  try {
    if (pin(pointer, bytes)) return pointer;
  } catch (...) {
    host_->deallocate_pages(pointer, bytes);
    throw;
  }
  host_->deallocate_pages(pointer, bytes);
  return nullptr;
}

void GpuArena::give_back(int gpu, void* pointer, std::uint64_t bytes) noexcept {
  if (gpu >= 0) return give_to_gpu(gpu, pointer);
  unpin(pointer);
  host_->deallocate_pages(pointer, bytes);
}

GpuArena::Blocks::iterator GpuArena::add(int gpu, std::uint64_t bytes) {
  void* const pointer = take(gpu, bytes);
  if (pointer == nullptr) return blocks_.end();
  try {
    Block block;
    block.number = ++last_number_;
    block.bytes = bytes;
    block.gpu = gpu;
    return blocks_.emplace(static_cast<std::byte*>(pointer), std::move(block)).first;
  } catch (...) {
    give_back(gpu, pointer, bytes);
    throw;
  }
}

void GpuArena::drop(Blocks::iterator found) noexcept {
  auto& [base, block] = *found;
  if (block.is_shown) {
    try {
      gone_.push_back(block.number);
      kept_.emplace(block.number, Kept{base, block.bytes, block.gpu});
    } catch (const std::bad_alloc&) {
      // No memory to note it: it stays until the process ends.
    }
  } else {
    give_back(block.gpu, base, block.bytes);
  }
  blocks_.erase(found);
}

GpuArena::Blocks::iterator GpuArena::find(const void* pointer) {
  auto* const byte = static_cast<std::byte*>(const_cast<void*>(pointer));
  const auto after = blocks_.upper_bound(byte);
  if (after == blocks_.begin()) return blocks_.end();
  const auto found = std::prev(after);
  return byte < found->first + found->second.bytes ? found : blocks_.end();
}

void* GpuArena::allocate(const exec::Device& device, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes >= kSmallBlock) {
    if (bytes > ~kGpuPage) return nullptr;  // No device has as much, and it would not be rounded.
    const auto block = add(device.index(), rounded_up(bytes, kGpuPage));
    return block == blocks_.end() ? nullptr : block->first;
  }
  const std::uint64_t size = rounded_up(bytes, kPartAlignment);
  for (auto& [base, block] : blocks_) {
    if (block.parts == nullptr || block.gpu != device.index()) continue;
    if (const auto first = block.parts->take(size, kPartAlignment)) return base + *first;
  }
  auto parts = std::make_unique<AddressGaps>(kSharedBlock);
  const std::uint64_t first = parts->take(size, kPartAlignment).value();
  const auto block = add(device.index(), kSharedBlock);
  if (block == blocks_.end()) return nullptr;
  block->second.parts = std::move(parts);
  return block->first + first;
}

void GpuArena::deallocate(const exec::Device& /*device*/, void* pointer,
                          std::uint64_t bytes) noexcept {
  // Ranks that have not seen the end yet may still be reading.
  if (__atomic_load_n(has_ended_, __ATOMIC_ACQUIRE) != 0) return;
  const std::scoped_lock lock(mutex_);
  const auto found = find(pointer);
  if (found == blocks_.end()) return;
  Block& block = found->second;
  if (block.parts != nullptr) {
    block.parts->give(static_cast<std::uint64_t>(static_cast<std::byte*>(pointer) - found->first),
                      rounded_up(bytes, kPartAlignment));
    return;
  }
  drop(found);
}

void* GpuArena::allocate_pinned(const exec::Device& /*device*/, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto block = add(-1, bytes);
  return block == blocks_.end() ? nullptr : block->first;
}

void GpuArena::deallocate_pinned(const exec::Device& /*device*/, void* pointer,
                                 std::uint64_t /*bytes*/) noexcept {
  if (__atomic_load_n(has_ended_, __ATOMIC_ACQUIRE) != 0) return;
  const std::scoped_lock lock(mutex_);
  const auto found = find(pointer);
  if (found != blocks_.end()) drop(found);
}

ShownBlock GpuArena::show(const void* pointer) {
  const std::scoped_lock lock(mutex_);
  const auto found = find(pointer);
  if (found == blocks_.end()) return {};
  Block& block = found->second;
  if (!block.is_shown && block.gpu >= 0) block.handle = handle_of(block.gpu, found->first);
  block.is_shown = true;
  const auto offset = static_cast<const std::byte*>(pointer) - found->first;
  return {block.number, static_cast<std::uint64_t>(offset), block.bytes,
          block.gpu >= 0 ? nullptr : found->first, block.handle};
}

std::uint64_t GpuArena::next_gone() {
  const std::scoped_lock lock(mutex_);
  if (gone_.empty()) return 0;
  const std::uint64_t number = gone_.front();
  gone_.pop_front();
  return number;
}

void GpuArena::free_gone(std::uint64_t number) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(number);
  if (found == kept_.end()) return;
  give_back(found->second.gpu, found->second.pointer, found->second.bytes);
  kept_.erase(found);
}

OpenedBlocks::~OpenedBlocks() {
  for (const auto& [name, opened] : opened_) close(opened);
}

void* OpenedBlocks::open(const exec::Device& device, int rank, const ShownBlock& shown) {
  const std::pair<int, std::uint64_t> name{rank, shown.number};
  auto found = opened_.find(name);
  if (found == opened_.end()) {
    found = opened_.emplace(name, Opened{shown.host, shown.host != nullptr}).first;
    try {
      device.activate();
      if (shown.host == nullptr) {
        found->second.base = static_cast<std::byte*>(open_handle(shown.handle));
      } else if (!pin(shown.host, shown.bytes)) {
        throw MemoryError("the host (pinned memory)", shown.bytes, 0);
      }
    } catch (...) {
      opened_.erase(found);
      throw;
    }
  }
  return found->second.base + shown.offset;
}

void OpenedBlocks::close(const Opened& opened) noexcept {
  if (opened.is_on_host) {
    unpin(opened.base);
  } else {
    close_handle(opened.base);
  }
}

void OpenedBlocks::close(int rank, std::uint64_t number) noexcept {
  const auto found = opened_.find({rank, number});
  if (found == opened_.end()) return;
  close(found->second);
  opened_.erase(found);
}

}  // namespace warren::team
