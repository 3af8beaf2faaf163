// SPDX-License-Identifier: Apache-2.0
#include "warren/core/stop.hpp"

#include <atomic>
#include <csignal>
#include <string>

#include "warren/core/error.hpp"

namespace warren {
namespace {

std::atomic<int> asked_by{0};

/// Never destroyed: a signal may come while the process ends.
std::stop_source& source() {
  static auto* const instance = new std::stop_source;
  return *instance;
}

}  // namespace

void request_stop(int signal) {
  int none = 0;
  (void)asked_by.compare_exchange_strong(none, signal);
  (void)source().request_stop();
}

std::stop_token stop_token() { return source().get_token(); }

int stop_signal() noexcept { return asked_by.load(std::memory_order_relaxed); }

const char* signal_name(int signal) noexcept {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

void check_stop() {
  if (const int signal = stop_signal(); signal != 0)
    throw Error(std::string("interrupted by ") + signal_name(signal));
}

}  // namespace warren
