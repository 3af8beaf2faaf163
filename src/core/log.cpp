// SPDX-License-Identifier: Apache-2.0
// Logging through spdlog, kept in this one file: the header-only library is slow to compile.
#include "warren/core/log.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "warren/core/printable.hpp"

namespace warren {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("warren",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("warren: %l: %v");
    made->set_level(spdlog::level::warn);
    return made;
  }();
  return *instance;
}

struct Sink {
  std::mutex mutex;
  std::shared_ptr<const LogSink> function;
};

/// Never freed: threads may still have messages when the process ends.
Sink& sink() {
  static auto* instance = new Sink;
  return *instance;
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::quiet:
      return spdlog::level::err;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::debug:
      break;
  }
  return spdlog::level::debug;
}

void log(LogLevel level, std::string_view message) {
  if (!is_logged(level)) return;
  std::shared_ptr<const LogSink> function;
  {
    const std::scoped_lock lock(sink().mutex);
    function = sink().function;
  }
  const std::string text = printable(message);
  if (function == nullptr) return logger().log(level_of(level), text);
  (*function)(level, text);
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(level_of(level)); }
bool is_logged(LogLevel level) { return logger().should_log(level_of(level)); }
void log_warning(std::string_view message) { log(LogLevel::warning, message); }
void log_info(std::string_view message) { log(LogLevel::info, message); }
void log_debug(std::string_view message) { log(LogLevel::debug, message); }

void set_log_sink(LogSink function) {
  auto kept = function ? std::make_shared<const LogSink>(std::move(function)) : nullptr;
  const std::scoped_lock lock(sink().mutex);
  sink().function.swap(kept);
}

}  // namespace warren
