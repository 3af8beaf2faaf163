// SPDX-License-Identifier: Apache-2.0
// The recorder behind the trace: events in one vector under a mutex, written as one JSON document.
#include "warren/core/trace.hpp"

#include <atomic>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "warren/core/output_file.hpp"

namespace warren {
namespace {

constexpr std::size_t kWrittenAtOnce = std::size_t{1} << 20;

struct Event {
  std::string name;
  std::string arguments;
  char phase;
  int rank;
  double begin;
  double duration;
};

struct Recorder {
  std::atomic<bool> enabled{false};
  std::mutex mutex;
  std::vector<Event> events;
  double origin = 0.0;
};

Recorder& recorder() {
  static Recorder instance;
  return instance;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void trace_start() {
  Recorder& r = recorder();
  const std::scoped_lock lock(r.mutex);
  r.events.clear();
  r.origin = now_seconds();
  r.enabled = true;
}

bool trace_enabled() noexcept { return recorder().enabled.load(std::memory_order_relaxed); }

void trace_span(std::string_view name, int rank, double begin, double end,
                std::string_view arguments_json) {
  Recorder& r = recorder();
  if (!trace_enabled()) return;
  const std::scoped_lock lock(r.mutex);
  r.events.push_back(
      {std::string(name), std::string(arguments_json), 'X', rank, begin, end - begin});
}

void trace_counter(std::string_view name, int rank, double value) {
  Recorder& r = recorder();
  if (!trace_enabled()) return;
  const std::scoped_lock lock(r.mutex);
  r.events.push_back(
      {std::string(name), fmt::format("{{\"value\":{}}}", value), 'C', rank, now_seconds(), 0.0});
}

void trace_write(const std::string& path) {
  Recorder& r = recorder();
  const std::scoped_lock lock(r.mutex);
  OutputFile out(path, OutputFile::Special::in_place);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  const char* separator = "\n";
  for (const Event& e : r.events) {
    text += separator;
    text += fmt::format(R"({{"name":"{}","ph":"{}","pid":0,"tid":{},"ts":{:.3f})", escaped(e.name),
                        e.phase, e.rank, (e.begin - r.origin) * 1e6);
    if (e.phase == 'X') text += fmt::format(",\"dur\":{:.3f}", e.duration * 1e6);
    if (!e.arguments.empty()) text += ",\"args\":" + e.arguments;
    text += '}';
    separator = ",\n";
    if (text.size() < kWrittenAtOnce) continue;
    out.write(text);
    text.clear();
  }
  out.write(text + "\n]}\n");
  (void)out.commit();
}

}  // namespace warren
