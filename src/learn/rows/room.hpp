// SPDX-License-Identifier: Apache-2.0
// Room that is taken once and used by one batch after the other.
#pragma once

#include <cstdint>

#include "warren/learn/numbers.hpp"

namespace warren::learn {

/// Room for `size` elements, and some more: the next batch's size differs.
template <class T>
void keep_more(const exec::Device& device, memory::Buffer<T>& buffer, std::uint64_t size) {
  if (buffer.size() >= size) return;
  buffer.reset();
  buffer = memory::Buffer<T>(device, size + size / 8);
}
inline void keep_more(const exec::Device& device, NumberBuffer& buffer, NumberType type,
                      std::uint64_t size) {
  if (buffer.size() >= size && buffer.type() == type) return;
  buffer.reset();
  buffer = NumberBuffer(device, type, size + size / 8);
}

}  // namespace warren::learn
