// SPDX-License-Identifier: Apache-2.0
// What the parts of a layer keep of a forward pass for its backward pass, beside the layer's input
// and output. Each has memory of its own for it, or layers share memory, which the next one's pass
// takes from the one before: what a layer kept is then made again from its input before its
// backward pass (recomputation: Chen et al., "Training Deep Nets with Sublinear Memory Cost",
// 2016, with every layer's input kept).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "warren/learn/context.hpp"

namespace warren::learn {

class Kept;

/// The memory, on a device: a block for each array that a layer keeps, by its place in the layer's
/// state. Blocks grow, and never shrink.
class KeptMemory {
 private:
  friend class Kept;
  friend class KeptBlock;
  struct Block {
    memory::Buffer<std::byte> bytes;
    const Kept* holder = nullptr;  // Whose contents it has.
  };
  std::deque<Block> blocks_;  // Addresses stay.
};

/// What one layer keeps, in a memory. Its arrays are members of the layer's parts (KeptRows,
/// KeptArray).
class Kept {
 public:
  /// Memory of its own.
  Kept() : Kept(std::make_shared<KeptMemory>()) {}
  /// Memory that others have, too.
  explicit Kept(std::shared_ptr<KeptMemory> memory) : memory_(std::move(memory)) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  /// Bytes of its memory, with the blocks that others alone have there.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const KeptMemory::Block& block : memory_->blocks_) sum += block.bytes.bytes();
    return sum;
  }
  /// Whether nobody else has taken a block since one of its arrays took it.
  [[nodiscard]] bool is_intact() const {
    for (std::size_t i = 0; i < is_taken_.size(); ++i) {
      if (is_taken_[i] && memory_->blocks_[i].holder != this) return false;
    }
    return true;
  }

 private:
  friend class KeptBlock;
  std::shared_ptr<KeptMemory> memory_;
  std::vector<bool> is_taken_;  // By block.
};

/// `kept`, or one with memory of its own for nullptr.
[[nodiscard]] inline std::shared_ptr<Kept> or_own(std::shared_ptr<Kept> kept) {
  return kept != nullptr ? std::move(kept) : std::make_shared<Kept>();
}

/// A block of a layer's memory, from the layer's first array to its last in the order in which they
/// are made: the arrays at one place of several layers may have one block.
class KeptBlock {
 public:
  explicit KeptBlock(std::shared_ptr<Kept> layer)
      : layer_(std::move(layer)), place_(layer_->is_taken_.size()) {
    layer_->is_taken_.push_back(false);
    if (layer_->memory_->blocks_.size() == place_) layer_->memory_->blocks_.emplace_back();
  }
  /// The block is nobody's then.
  ~KeptBlock() {
    layer_->is_taken_[place_] = false;
    if (block().holder == layer_.get()) block().holder = nullptr;
  }
  KeptBlock(const KeptBlock&) = delete;
  KeptBlock& operator=(const KeptBlock&) = delete;

 protected:
  void* take_bytes(Context& context, std::uint64_t size) {
    context.keep(block().bytes, size);
    block().holder = layer_.get();
    layer_->is_taken_[place_] = true;
    return block().bytes.data();
  }
  [[nodiscard]] void* bytes() const { return block().bytes.data(); }

 private:
  [[nodiscard]] KeptMemory::Block& block() const { return layer_->memory_->blocks_[place_]; }

  std::shared_ptr<Kept> layer_;
  std::size_t place_;
};

/// Numbers of the context's type that a layer keeps.
class KeptRows : public KeptBlock {
 public:
  using KeptBlock::KeptBlock;
  /// Room for `size` numbers, until another layer takes the block; what was in it is lost where it
  /// must grow. Throws MemoryError.
  Numbers take(Context& context, std::uint64_t size) {
    type_ = context.type();
    take_bytes(context, exec::bytes_of(size, size_of(type_)));
    return data();
  }
  /// What was taken last.
  [[nodiscard]] Numbers data() const { return {bytes(), type_}; }

 private:
  NumberType type_ = NumberType::float32;
};

/// Elements of a type that a layer keeps: as KeptRows.
template <class T>
class KeptArray : public KeptBlock {
 public:
  using KeptBlock::KeptBlock;
  T* take(Context& context, std::uint64_t size) {
    return static_cast<T*>(take_bytes(context, exec::bytes_of(size, sizeof(T))));
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(bytes()); }
};

}  // namespace warren::learn
