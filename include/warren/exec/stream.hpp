// SPDX-License-Identifier: Apache-2.0
// An ordered sequence of work on one device. On the CPU the work is done when the call returns.
#pragma once

#include <memory>
#include <utility>

#include "warren/exec/device.hpp"

namespace warren::exec {

class Event;

/// Whose blocks of threads a GPU starts first where several streams' are waiting. Copies beside a
/// large kernel need it: its blocks, in line before theirs, would keep them waiting to its end.
enum class Priority { normal, high };

class Stream {
 public:
  /// A new stream on `device`, independent of all others.
  explicit Stream(const Device& device, Priority priority = Priority::normal);

  /// A stream that somebody else made and keeps alive: of a GPU, its cudaStream_t, nullptr being
  /// the default one.
  [[nodiscard]] static Stream borrow(const Device& device, void* native);

  [[nodiscard]] const Device& device() const noexcept { return device_; }
  /// cudaStream_t as a void pointer; nullptr on the CPU.
  [[nodiscard]] void* native() const noexcept { return handle_.get(); }
  /// Waits for the work so far. Throws DeviceError if any of it failed.
  void synchronize() const;
  /// Later work waits until `event` has passed.
  void wait(const Event& event) const;
  /// Later work waits for what has been put on another library's stream of GPU `index` so far: a
  /// cudaStream_t, nullptr for the default one. Nothing on the CPU. Throws UsageError while that
  /// stream is captured, DeviceError.
  void wait(int index, void* native_stream) const;

 private:
  Stream(const Device& device, std::shared_ptr<void> handle)
      : device_(device), handle_(std::move(handle)) {}

  Device device_;
  std::shared_ptr<void> handle_;
};

/// A point in a stream's work, with its time.
class Event {
 public:
  explicit Event(const Device& device);
  void record(const Stream& stream);
  /// Of another library's stream of the device: a cudaStream_t, nullptr for the default one.
  void record_on(void* native_stream);
  /// Waits until the point has passed.
  void synchronize() const;
  /// Seconds from `earlier` to this event. Both must have passed.
  [[nodiscard]] double seconds_since(const Event& earlier) const;
  [[nodiscard]] void* native() const noexcept { return handle_.get(); }

 private:
  Device device_;
  std::shared_ptr<void> handle_;
  double cpu_time_ = 0.0;
};

}  // namespace warren::exec
