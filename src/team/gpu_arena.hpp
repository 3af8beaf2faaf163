// SPDX-License-Identifier: Apache-2.0
// The memory of GPUs of a rank that is a process: blocks that the other processes can open, and
// host memory that GPUs read and write which lies where all processes have it.
//
// Another process opens a whole block, by the handle that CUDA makes of it, at an address of its
// own. Small blocks are therefore parts of larger ones, which are opened once and never given back.
// A large one that others may have opened is kept until they have closed it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "warren/exec/memory.hpp"

#include "team/address_gaps.hpp"
#include "team/process_arena.hpp"

namespace warren::team {

/// Memory as another process finds it.
struct ShownBlock {
  std::uint64_t number = 0;   ///< Of the rank's blocks, from 1; 0: memory that cannot be shown.
  std::uint64_t offset = 0;   ///< In the block.
  std::uint64_t bytes = 0;    ///< Of the block.
  std::byte* host = nullptr;  ///< Where it lies in all processes; nullptr: on a GPU.
  std::array<std::byte, 64> handle{};
};

class GpuArena : public exec::MemoryResource {
 public:
  /// `host`: where pinned memory is taken. `has_ended`: once it is not 0 nothing is given back.
  GpuArena(std::shared_ptr<ProcessArena> host, const std::uint32_t* has_ended);

  [[nodiscard]] bool gives(exec::MemoryKind kind) const override {
    return kind != exec::MemoryKind::host;
  }
  [[nodiscard]] void* allocate(const exec::Device& device, std::uint64_t bytes) override;
  void deallocate(const exec::Device& device, void* pointer, std::uint64_t bytes) noexcept override;
  [[nodiscard]] void* allocate_pinned(const exec::Device& device, std::uint64_t bytes) override;
  void deallocate_pinned(const exec::Device& device, void* pointer,
                         std::uint64_t bytes) noexcept override;

  /// The block that `pointer` lies in. Throws DeviceError where CUDA makes no handle.
  [[nodiscard]] ShownBlock show(const void* pointer);
  /// The number of a block that was shown and is wanted no more; 0: none is.
  [[nodiscard]] std::uint64_t next_gone();
  /// All others have closed it.
  void free_gone(std::uint64_t number) noexcept;

 private:
  struct Block {
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    int gpu = 0;  ///< -1: pinned memory of the host.
    bool is_shown = false;
    std::array<std::byte, 64> handle{};
    std::unique_ptr<AddressGaps> parts;  ///< Of a block of small ones.
  };
  using Blocks = std::map<std::byte*, Block>;

  /// Memory of a GPU or, for -1, pinned; nullptr where there is no room.
  [[nodiscard]] void* take(int gpu, std::uint64_t bytes);
  void give_back(int gpu, void* pointer, std::uint64_t bytes) noexcept;
  /// With the lock: a new block; the end where there is no room.
  [[nodiscard]] Blocks::iterator add(int gpu, std::uint64_t bytes);
  /// With the lock: frees the block, or keeps it while others may read it.
  void drop(Blocks::iterator found) noexcept;
  /// With the lock: the block that the pointer lies in, or the end.
  [[nodiscard]] Blocks::iterator find(const void* pointer);

  const std::shared_ptr<ProcessArena> host_;
  const std::uint32_t* has_ended_;
  std::mutex mutex_;
  Blocks blocks_;
  std::uint64_t last_number_ = 0;
  std::deque<std::uint64_t> gone_;  ///< Nobody has been told yet.
  struct Kept {
    void* pointer;
    std::uint64_t bytes;
    int gpu;
  };
  std::map<std::uint64_t, Kept> kept_;  ///< By number: what others may have open.
};

/// Blocks of other ranks that this process has opened.
class OpenedBlocks {
 public:
  OpenedBlocks() = default;
  ~OpenedBlocks();
  OpenedBlocks(const OpenedBlocks&) = delete;
  OpenedBlocks& operator=(const OpenedBlocks&) = delete;

  /// What the rank shows, as this process's GPU has it. Throws DeviceError.
  [[nodiscard]] void* open(const exec::Device& device, int rank, const ShownBlock& shown);
  /// Does nothing where it is not open.
  void close(int rank, std::uint64_t number) noexcept;

 private:
  struct Opened {
    std::byte* base = nullptr;
    bool is_on_host = false;
  };
  static void close(const Opened& opened) noexcept;

  std::map<std::pair<int, std::uint64_t>, Opened> opened_;
};

}  // namespace warren::team
