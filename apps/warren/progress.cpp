// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "warren/core/printable.hpp"
#include "warren/core/trace.hpp"

namespace warren::app {

Progress::Progress(bool is_wanted, std::string what) : what_(std::move(what)) {
  if (is_wanted && isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { show(); });
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
    fmt::print(stderr, "\r\033[K{} ... {:.0f} s", printable(what_), now_seconds() - begin);
    (void)std::fflush(stderr);
    has_shown = true;
  }
  if (has_shown) fmt::print(stderr, "\r\033[K");
}

}  // namespace warren::app
