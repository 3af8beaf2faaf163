// SPDX-License-Identifier: Apache-2.0
// One GPU's stream-ordered pool of memory. Without the CUDA backend it is absent.
#pragma once

#include <cstdint>

namespace warren::exec::cuda {

/// A pool of its own (cudaMemPoolCreate), beside the GPU's default one, so that what it keeps is
/// seen and given back apart from what others take. Functions are called by any thread.
class Pool {
 public:
  /// For GPU `index`; `kept_bytes` is its release threshold. GPUs that can reach its memory get
  /// access to it. Throws UsageError where the driver has no pools for the GPU, DeviceError.
  Pool(int index, std::uint64_t kept_bytes);
  /// Blocks that are still taken keep their memory until they come back.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// A block that any stream may use at once; nullptr where there is too little, also after the
  /// pool has given all that it kept back to the driver.
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  /// Of a block that no stream uses any more.
  void deallocate(void* pointer) noexcept;
  /// Bytes that the pool holds and nobody uses.
  [[nodiscard]] std::uint64_t unused() const noexcept;

 private:
  [[nodiscard]] void* take(std::uint64_t bytes) const;

  int index_;
  void* stream_ = nullptr;  ///< In whose order blocks are taken and given back: its own.
  void* pool_ = nullptr;
};

}  // namespace warren::exec::cuda
