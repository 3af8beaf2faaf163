// SPDX-License-Identifier: Apache-2.0
// How the process meets the system: descriptors that are closed, signals, files that are cut short
// while they are read.
#pragma once

#include <thread>

namespace warren::app {

/// Made first in main(), before any thread. While it lives, SIGINT, SIGTERM and SIGHUP (unless they
/// were ignored, as under nohup) ask all work to end; what has not ended after a short time, or at
/// a second signal, is left as it is, without the files that are not finished. One at a time.
class Process {
 public:
  Process();
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

 private:
  void watch() const;

  int read_end_ = -1;  ///< Of the pipe through which the signals come.
  std::thread watcher_;
};

/// Ends the process at once, without the files that are not finished. One thread's claim: others
/// that come here wait for the end.
[[noreturn]] void end_process(int status);

/// Of a process that a signal ended: 128 and its number, as shells have it.
[[nodiscard]] int status_of_signal(int signal) noexcept;

}  // namespace warren::app
