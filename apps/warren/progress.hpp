// SPDX-License-Identifier: Apache-2.0
// One line on standard error that says what takes so long, where a person watches.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace warren::app {

/// Shows "what ... N s" on standard error while it lives, once that is more than a moment, and
/// wipes it out at its end. Does nothing where standard error is no terminal.
class Progress {
 public:
  Progress(bool is_wanted, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace warren::app
