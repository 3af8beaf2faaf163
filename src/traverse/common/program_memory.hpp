// SPDX-License-Identifier: Apache-2.0
// Taking the memory that a BSP program's fields point to.
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

/// The windows of a program's arrays, which must last as long as its tables are used.
class ProgramWindows {
 public:
  /// The same of what the program shows before other ranks read it: elements [first, end) of each
  /// other rank's `mine`, as far as there are so many.
  template <class T>
  void share(team::Team& team, const memory::Buffer<T>& mine, const T** table,
             std::uint64_t first = 0, std::uint64_t end = ~std::uint64_t{0} / sizeof(T)) {
    team::Windows& made =
        windows_.emplace_back(team.share_windows({.data = const_cast<T*>(mine.data()),
                                                  .bytes = mine.bytes(),
                                                  .first = first * sizeof(T),
                                                  .end = end * sizeof(T)}));
    for (std::size_t q = 0; q < made.of.size(); ++q) table[q] = static_cast<const T*>(made.of[q]);
  }

 private:
  std::vector<team::Windows> windows_;
};

}  // namespace warren::traverse
