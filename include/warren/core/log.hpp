// SPDX-License-Identifier: Apache-2.0
// Messages to the user, on standard error or wherever a program wants them. The library is silent
// below `warning` unless asked.
#pragma once

#include <functional>
#include <string_view>

namespace warren {

enum class LogLevel { quiet, warning, info, debug };

void set_log_level(LogLevel level);
/// Whether messages of this level are told: for those that take time to make.
[[nodiscard]] bool is_logged(LogLevel level);
void log_warning(std::string_view message);
void log_info(std::string_view message);
void log_debug(std::string_view message);

/// Who is told messages in place of standard error, in the thread that has them, several at a time.
/// It must not throw or log. Empty: standard error. For the whole process.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;
void set_log_sink(LogSink function);

}  // namespace warren
