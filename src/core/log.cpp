// SPDX-License-Identifier: Apache-2.0
// Logging through spdlog, kept in this one file: the header-only library is slow to compile.
#include "warren/core/log.hpp"

#include <memory>

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

}  // namespace

void set_log_level(LogLevel level) {
  switch (level) {
    case LogLevel::quiet:
      logger().set_level(spdlog::level::err);
      break;
    case LogLevel::warning:
      logger().set_level(spdlog::level::warn);
      break;
    case LogLevel::info:
      logger().set_level(spdlog::level::info);
      break;
    case LogLevel::debug:
      logger().set_level(spdlog::level::debug);
      break;
  }
}
void log_warning(std::string_view message) { logger().warn(printable(message)); }
void log_info(std::string_view message) { logger().info(printable(message)); }
void log_debug(std::string_view message) { logger().debug(printable(message)); }

}  // namespace warren
