// SPDX-License-Identifier: Apache-2.0
// A memory resource for tests: gives memory of the system, counts, and has as much as it is told.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "warren/exec/memory.hpp"

namespace warren::testing_support {

/// Functions may be called by any thread.
class CountingResource : public exec::MemoryResource {
 public:
  /// `most`: bytes of the largest block that it gives.
  explicit CountingResource(std::uint64_t most = ~std::uint64_t{0}) : most_(most) {}

  [[nodiscard]] void* allocate(const exec::Device& /*device*/, std::uint64_t bytes) override {
    if (bytes > most_) return nullptr;
    ++given;
    held += bytes;
    return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  }
  void deallocate(const exec::Device& /*device*/, void* pointer,
                  std::uint64_t bytes) noexcept override {
    ++back;
    held -= bytes;
    last = bytes;
    std::free(pointer);
  }

  std::atomic<int> given{0}, back{0};
  std::atomic<std::uint64_t> held{0};  ///< Bytes that have not come back.
  std::atomic<std::uint64_t> last{0};  ///< Bytes of the last block that has.
  void set_most(std::uint64_t bytes) { most_ = bytes; }

 private:
  std::atomic<std::uint64_t> most_;
};

}  // namespace warren::testing_support
