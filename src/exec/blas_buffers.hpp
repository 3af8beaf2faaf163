// SPDX-License-Identifier: Apache-2.0
// The memory that OpenBLAS works in. It takes a buffer for each thread that calls it at a time, and
// where the system has none it tries for ever: so that they are had before it is called.
#pragma once

#include <cstdint>

namespace warren::exec {

/// Lets so many threads call OpenBLAS at a time while it lives, besides those of others of its
/// kind.
class BlasBuffers {
 public:
  /// Throws MemoryError where the process has no address space for their buffers.
  explicit BlasBuffers(std::uint64_t threads);
  ~BlasBuffers();
  BlasBuffers(const BlasBuffers&) = delete;
  BlasBuffers& operator=(const BlasBuffers&) = delete;

 private:
  std::uint64_t threads_;
};

}  // namespace warren::exec
