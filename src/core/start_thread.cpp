// SPDX-License-Identifier: Apache-2.0
#include "warren/core/start_thread.hpp"

#include <fmt/format.h>

namespace warren {

ThreadError::ThreadError(const std::string& what, const std::system_error& error,
                         const std::string& cure)
    : Error(fmt::format("{} cannot be started: {}; {}", what, error.code().message(), cure)) {}

}  // namespace warren
