// SPDX-License-Identifier: Apache-2.0
// Work of a stream that is put down once and run again by one call (a CUDA graph): the host then no
// longer asks for every kernel by itself, which is what short kernels wait for.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "warren/exec/stream.hpp"

namespace warren::exec {

/// What kernels were called with is fixed: addresses, sizes, numbers. What changes from run to run
/// they have to read from memory, and the memory that they were given has to stay where it is: see
/// memory_changes().
class CapturedWork {
 public:
  CapturedWork() = default;

  /// Puts down what work() puts on `stream`, and on streams that wait for it and that it waits for
  /// again, without running any of it. work() must not take or give back device memory, nor wait
  /// for the device. What it throws is thrown on, and the stream is then as it was before. For
  /// GPUs; throws DeviceError, UsageError.
  template <class F>
  [[nodiscard]] static CapturedWork capture(const Stream& stream, F&& work) {
    begin(stream);
    try {
      std::forward<F>(work)();
    } catch (...) {
      abandon(stream);
      throw;
    }
    return end(stream);
  }
  /// Runs it in the stream's order, which may be another one of the device. Asynchronous.
  void run(const Stream& stream) const;

  /// False of one that holds nothing.
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  static void begin(const Stream& stream);
  static void abandon(const Stream& stream) noexcept;
  static CapturedWork end(const Stream& stream);

  std::shared_ptr<void> handle_;
};

/// Records the event for its time alone: also each time that captured work passes it. Nothing can
/// wait for it within that work.
void record_time(Event& event, const Stream& stream);

/// How often memory of the device has been taken or given back. As long as that stands still, no
/// address has changed hands.
[[nodiscard]] std::uint64_t memory_changes(const Device& device);

}  // namespace warren::exec
