// SPDX-License-Identifier: Apache-2.0
// An ordered sequence of work on one device. On the CPU the work is done when the call returns.
#pragma once

#include <memory>

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

  [[nodiscard]] const Device& device() const noexcept { return device_; }
  /// cudaStream_t as a void pointer; nullptr on the CPU.
  [[nodiscard]] void* native() const noexcept { return handle_.get(); }
  /// Waits for the work so far. Throws DeviceError if any of it failed.
  void synchronize() const;
  /// Later work waits until `event` has passed.
  void wait(const Event& event) const;

 private:
  Device device_;
  std::shared_ptr<void> handle_;
};

/// A point in a stream's work, with its time.
class Event {
 public:
  explicit Event(const Device& device);
  void record(const Stream& stream);
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
