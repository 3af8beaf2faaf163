// SPDX-License-Identifier: Apache-2.0
// Taking the memory that a step program's fields point to.
#pragma once

#include <vector>

#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

/// Makes `buffer` anew on the device. Throws MemoryError.
template <class T>
T* take(const exec::Device& device, memory::Buffer<T>& buffer, std::uint64_t size) {
  buffer = memory::Buffer<T>(device, size);
  return buffer.data();
}

/// Fills a program's table with every rank's array, as this rank's device addresses it. Collective.
/// Throws UsageError where it cannot.
template <class T>
void share(team::Team& team, T* mine, const T** table) {
  const std::vector<void*> shared = team.share_with_all(mine);
  for (std::size_t q = 0; q < shared.size(); ++q) table[q] = static_cast<const T*>(shared[q]);
}

/// The same of what the program shows before other ranks read it.
template <class T>
void share_windows(team::Team& team, T* mine, const T** table) {
  const std::vector<void*> shared = team.share_windows(mine);
  for (std::size_t q = 0; q < shared.size(); ++q) table[q] = static_cast<const T*>(shared[q]);
}

}  // namespace warren::traverse
