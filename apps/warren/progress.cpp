// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "warren/core/printable.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/trace.hpp"

namespace warren::app {

Progress::Progress(bool is_wanted, std::string what) : what_(std::move(what)) {
  if (!is_wanted || isatty(STDERR_FILENO) == 0) return;
  try {
    thread_ = std::thread([this] {
      try {
        show();
      } catch (const std::bad_alloc&) {
        // Work goes on without being shown.
      }
    });
  } catch (const std::system_error&) {
    // The same.
  }
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Progress::show() {
  using namespace std::chrono_literals;
  const double begin = now_seconds();
  bool has_shown = false;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, 500ms, [this] { return has_ended_; })) {
    write_standard_error(
        fmt::format("\r\033[K{} ... {:.0f} s", printable(what_), now_seconds() - begin));
    has_shown = true;
  }
  if (has_shown) write_standard_error("\r\033[K");
}

}  // namespace warren::app
