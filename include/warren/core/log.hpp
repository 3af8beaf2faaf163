// SPDX-License-Identifier: Apache-2.0
// Messages to the user, on standard error. The library is silent below `warning` unless asked.
#pragma once

#include <string_view>

namespace warren {

enum class LogLevel { quiet, warning, info, debug };

void set_log_level(LogLevel level);
void log_warning(std::string_view message);
void log_info(std::string_view message);
void log_debug(std::string_view message);

}  // namespace warren
