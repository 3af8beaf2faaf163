// SPDX-License-Identifier: Apache-2.0
// A pass over the whole graph, whose shapes are the same in every epoch.
#pragma once

#include "warren/learn/context.hpp"

namespace warren::learn {

/// Runs pass() time and again: kernel by kernel until all memory that it takes has been taken, then
/// captured once and started by one call. pass() reads what changes between runs from the device,
/// and leaves nothing on the host but what each run leaves alike.
class RepeatedPass {
 public:
  /// `captures`: whether it may capture, on every rank the same. `is_alone`: whether ranks do so
  /// each by itself, since the pass exchanges nothing.
  explicit RepeatedPass(bool captures, bool is_alone = false)
      : captures_(captures), is_alone_(is_alone) {}

  /// Whether it ran as captured work the last time.
  [[nodiscard]] bool is_captured() const { return static_cast<bool>(work_); }
  /// Collective, but of a pass that is alone: all ranks capture, or none does. Asynchronous where
  /// captured work is run.
  template <class F>
  void run(Context& context, F&& pass) {
    const exec::Stream& stream = context.stream();
    if (!is_ready(context)) {
      work_ = {};
      const std::size_t spans = context.spans();
      pass();
      spans_ = context.spans() - spans;
      return;
    }
    const std::size_t spans = context.spans();
    if (!work_) work_ = exec::CapturedWork::capture(stream, pass);
    context.set_spans(spans + spans_);
    work_.run(stream);
  }

 private:
  /// Whether the pass can be captured, and no memory has changed hands since it ran last.
  [[nodiscard]] bool is_ready(Context& context);

  bool captures_, is_alone_;
  exec::CapturedWork work_;
  std::size_t spans_ = 0;
  std::uint64_t changes_ = 0;
  bool has_run_ = false;
};

}  // namespace warren::learn
