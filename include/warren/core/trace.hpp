// SPDX-License-Identifier: Apache-2.0
// A timeline of the run in the Chrome trace event format (opens in Perfetto), and a wall clock.
// Spans cost one branch while tracing is off. All functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace warren {

/// Seconds of a monotonic clock.
[[nodiscard]] inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Starts recording. Spans opened before are not recorded.
void trace_start();
[[nodiscard]] bool trace_enabled() noexcept;
/// Records a finished span of `rank`, with times in seconds of now_seconds(). `arguments_json` is a
/// JSON object or empty.
void trace_span(std::string_view name, int rank, double begin, double end,
                std::string_view arguments_json = {});
/// Records a counter's value at this moment.
void trace_counter(std::string_view name, int rank, double value);
/// Writes what was recorded to `path`, whole or not at all; a pipe or a device in place. Throws
/// InputError when it cannot be written.
void trace_write(const std::string& path);

/// Records its own lifetime as a span.
class TraceSpan {
 public:
  TraceSpan(std::string_view name, int rank)
      : name_(name), rank_(rank), begin_(trace_enabled() ? now_seconds() : 0.0) {}
  ~TraceSpan() {
    if (begin_ != 0.0 && trace_enabled()) trace_span(name_, rank_, begin_, now_seconds());
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  std::string name_;
  int rank_;
  double begin_;
};

}  // namespace warren
