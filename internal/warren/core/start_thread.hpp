// SPDX-License-Identifier: Apache-2.0
// Starting threads, of which a system has only so many.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "warren/core/error.hpp"

namespace warren {

/// A thread that the system does not start: the process has as many as it may, or too little
/// memory for another one's stack.
class ThreadError : public Error {
 public:
  /// `what`: "CPU thread 3 of 8"; `cure`: what to do about it.
  ThreadError(const std::string& what, const std::system_error& error, const std::string& cure);
};

/// Throws ThreadError.
template <class Body>
[[nodiscard]] std::thread start_thread(Body&& body, const std::string& what,
                                       const std::string& cure) {
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    throw ThreadError(what, error, cure);
  }
}

}  // namespace warren
