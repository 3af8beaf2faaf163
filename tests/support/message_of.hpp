// SPDX-License-Identifier: Apache-2.0
// What a call says that is refused.
#pragma once

#include <string>
#include <utility>

#include "warren/core/error.hpp"

namespace warren::testing_support {

/// The message of the E that `call` throws; "nothing was thrown" where it returns. Other exceptions
/// go on.
template <class E = Error, class Call>
[[nodiscard]] std::string message_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace warren::testing_support
