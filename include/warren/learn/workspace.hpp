// SPDX-License-Identifier: Apache-2.0
// Memory that a layer's pass needs only while it is being enqueued: taken by a name in a scope, and
// given back at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "warren/learn/numbers.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::learn {

/// Blocks of a device's memory, lent out by scopes of one host thread for work of one stream. Each
/// take gets the first block that nobody has, which grows to what is asked for: the same takes in
/// the same order get the same addresses from the second time on, as captured work needs, and
/// allocate nothing. What another stream does with a block must have been waited for by the one
/// stream before the block is given back.
class Workspace {
  struct Slot {
    memory::Buffer<std::byte> memory;
    bool is_taken = false;
  };

 public:
  /// A block until the end of this object. Moves, never copies.
  class Block {
   public:
    Block() = default;
    explicit Block(Slot& slot) : slot_(&slot) {}
    ~Block() { give_back(); }
    Block(Block&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Block& operator=(Block&& other) noexcept {
      if (this == &other) return *this;
      give_back();
      slot_ = std::exchange(other.slot_, nullptr);
      return *this;
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    [[nodiscard]] void* data() const noexcept {
      return slot_ == nullptr ? nullptr : slot_->memory.data();
    }

   private:
    void give_back() noexcept {
      if (slot_ != nullptr) slot_->is_taken = false;
    }
    Slot* slot_ = nullptr;
  };

  /// Room for elements of a type, not initialised; used as a pointer to them, while it has a name.
  template <class T>
  class Taken {
   public:
    Taken() = default;
    explicit Taken(Block block) : block_(std::move(block)) {}
    [[nodiscard]] T* data() const& noexcept { return static_cast<T*>(block_.data()); }
    [[nodiscard]] T* data() const&& = delete;
    operator T*() const& noexcept { return data(); }
    operator T*() const&& = delete;

   private:
    Block block_;
  };

  explicit Workspace(const exec::Device& device) : device_(device) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() = default;

  /// `bytes` at an address that is a multiple of 256. Throws MemoryError.
  [[nodiscard]] Block take_bytes(std::uint64_t bytes) {
    Slot& slot = free_slot();
    if (slot.memory.size() < bytes) {
      slot.memory.reset();
      slot.memory = memory::Buffer<std::byte>(device_, grown(bytes));
    }
    slot.is_taken = true;
    return Block(slot);
  }
  template <class T>
  [[nodiscard]] Taken<T> take(std::uint64_t size) {
    return Taken<T>(take_bytes(exec::bytes_of(size, sizeof(T))));
  }
  /// Blocks that grow get an eighth more than is asked for: sizes change from batch to batch.
  void grow_by_more() { grows_by_more_ = true; }

  /// Bytes of all blocks.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const Slot& slot : slots_) sum += slot.memory.bytes();
    return sum;
  }

 private:
  /// The largest number, which no device has, where the sum is larger.
  [[nodiscard]] std::uint64_t grown(std::uint64_t bytes) const noexcept {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(bytes, grows_by_more_ ? bytes / 8 : 0, &sum) ? ~std::uint64_t{0}
                                                                               : sum;
  }
  Slot& free_slot() {
    for (Slot& slot : slots_) {
      if (!slot.is_taken) return slot;
    }
    return slots_.emplace_back();
  }

  exec::Device device_;
  bool grows_by_more_ = false;
  std::deque<Slot> slots_;  // Addresses stay.
};

/// Memory of rows that its owner does not need during a call, which may write it.
struct SpareRows {
  Numbers memory;
  std::uint64_t size = 0;  ///< In numbers.
};

/// Room for numbers of rows: a block of a workspace, or spare memory.
class TakenRows {
 public:
  TakenRows(Workspace::Block block, NumberType type)
      : block_(std::move(block)), rows_(block_.data(), type) {}
  explicit TakenRows(Numbers spare) : rows_(spare) {}
  [[nodiscard]] Numbers data() const& noexcept { return rows_; }
  [[nodiscard]] Numbers data() const&& = delete;
  operator Numbers() const& noexcept { return rows_; }
  operator Numbers() const&& = delete;
  operator ConstNumbers() const& noexcept { return rows_; }
  operator ConstNumbers() const&& = delete;

 private:
  Workspace::Block block_;
  Numbers rows_;
};

}  // namespace warren::learn
