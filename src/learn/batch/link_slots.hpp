// SPDX-License-Identifier: Apache-2.0
// The places on a device that batches of links are brought to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "learn/batch/batch_parts.hpp"
#include "learn/batch/link_batch.hpp"

namespace warren::learn {

/// Two batches of pairs on the device: one is brought while the other one is used.
class LinkSlots {
 public:
  LinkSlots(const exec::Device& device, std::uint64_t most_words)
      : slots_{Slot(device, most_words), Slot(device, most_words)} {}

  /// Draws the links at places [begin, begin + count) and puts them on the way along `stream`.
  /// Waits for whoever used the batch before the last one.
  const Vertex* bring(const exec::Stream& stream, LinkDrawer& drawer, std::uint64_t begin,
                      std::uint64_t count) {
    Slot& slot = slots_[brought_++ % slots_.size()];
    if (slot.is_used) slot.used.synchronize();
    drawer.make(begin, count, slot.batch);
    upload(stream, slot.words, slot.batch.words);
    return slot.words.data();
  }
  [[nodiscard]] std::uint64_t seeds_brought() const {
    return slots_[(brought_ - 1) % slots_.size()].batch.seeds;
  }
  /// The batch brought first that was not taken yet.
  [[nodiscard]] LinkPairs take() {
    const Slot& slot = slots_[taken_++ % slots_.size()];
    return slot.batch.at(slot.words.data());
  }
  /// What uses the batch last taken has been put on `stream`.
  void release(const exec::Stream& stream) {
    Slot& slot = slots_[(taken_ - 1) % slots_.size()];
    slot.used.record(stream);
    slot.is_used = true;
  }

 private:
  struct Slot {
    Slot(const exec::Device& device, std::uint64_t most_words)
        : words(device, most_words), used(device) {}
    LinkBatch batch;
    memory::Buffer<std::uint32_t> words;
    exec::Event used;
    bool is_used = false;
  };
  std::array<Slot, 2> slots_;
  std::size_t brought_ = 0, taken_ = 0;
};

}  // namespace warren::learn
