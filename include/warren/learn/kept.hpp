// SPDX-License-Identifier: Apache-2.0
// What the parts of a layer keep of a forward pass for its backward pass, beside the layer's input
// and output. Each has memory of its own for it, or layers share memory, which the next one's pass
// takes from the one before: what a layer kept is then made again from its input before its
// backward pass (recomputation: Chen et al., "Training Deep Nets with Sublinear Memory Cost",
// 2016, with every layer's input kept).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "warren/learn/context.hpp"

namespace warren::learn {

enum class KeptSlot : std::uint8_t {
  aggregated,  ///< Rows: of sums over neighbours.
  hidden,      ///< Rows: another such, or of a layer within the layer.
  normal,      ///< Rows: a norm's input, or that normalised.
  deviations,  ///< 1 / deviation of rows.
  statistics,  ///< Of attention.
  shares,
  logits,
  vertices  ///< Which one an element is of.
};
inline constexpr std::size_t kKeptSlots = 8;

class Kept;

/// The memory, on a device: a block for each slot. It grows, and never shrinks.
class KeptMemory {
 private:
  friend class Kept;
  struct Slot {
    memory::Buffer<std::byte> bytes;
    const Kept* holder = nullptr;  // Whose contents it has.
  };
  std::array<Slot, kKeptSlots> slots_;
};

/// One part's slots in a memory. Not copied: others' slots are told apart by its address.
class Kept {
 public:
  /// Memory of its own.
  Kept() : Kept(std::make_shared<KeptMemory>()) {}
  /// Memory that others have, too.
  explicit Kept(std::shared_ptr<KeptMemory> memory) : memory_(std::move(memory)) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  /// Room for `size` numbers of the context's type, until another one takes the slot; what was in
  /// it is lost where it must grow. Throws MemoryError.
  [[nodiscard]] Numbers take(Context& context, KeptSlot slot, std::uint64_t size) {
    type_ = context.type();
    return {take_bytes(context, slot, exec::bytes_of(size, size_of(type_))), type_};
  }
  /// The same for elements of a type.
  template <class T>
  [[nodiscard]] T* take_array(Context& context, KeptSlot slot, std::uint64_t size) {
    return static_cast<T*>(take_bytes(context, slot, exec::bytes_of(size, sizeof(T))));
  }
  /// What was taken last.
  [[nodiscard]] Numbers rows(KeptSlot slot) const { return {bytes(slot), type_}; }
  template <class T>
  [[nodiscard]] T* array(KeptSlot slot) const {
    return static_cast<T*>(bytes(slot));
  }

  /// Bytes of its memory, those of slots that others have there included.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const KeptMemory::Slot& slot : memory_->slots_) sum += slot.bytes.bytes();
    return sum;
  }

  /// Whether nobody else has taken a slot since this one took it.
  [[nodiscard]] bool is_intact() const {
    for (std::size_t s = 0; s < kKeptSlots; ++s) {
      if (taken_.at(s) && memory_->slots_.at(s).holder != this) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] KeptMemory::Slot& at(KeptSlot slot) const {
    return memory_->slots_.at(static_cast<std::size_t>(slot));
  }
  [[nodiscard]] void* bytes(KeptSlot slot) const { return at(slot).bytes.data(); }
  void* take_bytes(Context& context, KeptSlot slot, std::uint64_t size) {
    context.keep(at(slot).bytes, size);
    at(slot).holder = this;
    taken_.at(static_cast<std::size_t>(slot)) = true;
    return bytes(slot);
  }

  std::shared_ptr<KeptMemory> memory_;
  std::array<bool, kKeptSlots> taken_{};
  NumberType type_ = NumberType::float32;
};

/// `kept`, or one with memory of its own for nullptr.
[[nodiscard]] inline std::shared_ptr<Kept> or_own(std::shared_ptr<Kept> kept) {
  return kept != nullptr ? std::move(kept) : std::make_shared<Kept>();
}

}  // namespace warren::learn
