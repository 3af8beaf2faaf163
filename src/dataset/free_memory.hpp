// SPDX-License-Identifier: Apache-2.0
// Memory that a file asks for, compared with what is free before it is taken: the system promises
// more than it has, and ends the process when pages are touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace warren::learn {

/// Throws MemoryError, naming the file, where `bytes` more are not free.
void check_free_memory(const std::string& path, std::uint64_t bytes);

/// Capacity for one more element: doubled where it is used up, if that much memory is free.
template <class T>
void ensure_capacity(const std::string& path, std::vector<T>& values) {
  if (values.size() < values.capacity()) return;
  const std::size_t capacity = std::max<std::size_t>(2 * values.capacity(), 1 << 14);
  check_free_memory(path, capacity * sizeof(T));
  values.reserve(capacity);
}

}  // namespace warren::learn
