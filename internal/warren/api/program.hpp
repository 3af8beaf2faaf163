// SPDX-License-Identifier: Apache-2.0
// A program around the library, as the command line is one: how it meets the system (descriptors
// that are closed, signals, files that are cut short while they are read), how it is one of several
// processes that a launcher (mpirun, srun, torchrun) started, and how it says why it ends. Not for
// libraries and interpreters, which have signals of their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "warren/team/launcher.hpp"

namespace warren {

/// The statuses that a program exits with. Everything that fails in between is an exception.
enum class ExitStatus : int {
  done = 0,
  internal_failure = 1,
  unusable = 2,  ///< Wrong usage or unusable input.
  not_enough_memory = 3,
  not_verified = 4  ///< A result that a check found to be wrong.
};

/// Made first in main(), before any thread. While it lives, SIGINT, SIGTERM and SIGHUP (unless they
/// were ignored, as under nohup) ask all work to end; what has not ended after a short time, or at
/// a second signal, is left as it is, without the files that are not finished. A program that has
/// one ends by an exception that nobody catches with a line that says so. One at a time.
class ProgramSignals {
 public:
  ProgramSignals();
  ~ProgramSignals();
  ProgramSignals(const ProgramSignals&) = delete;
  ProgramSignals& operator=(const ProgramSignals&) = delete;

 private:
  void watch() const;

  int read_end_ = -1;  ///< Of the pipe through which the signals come.
  std::thread watcher_;
};

/// The other ranks, from the start of the work to its end. Made once. All do the same; rank 0 alone
/// prints and writes what comes of it, logs, and one of them says why a run fails.
class ProgramRanks {
 public:
  /// `program`: its name and version, `command`: what it was started to do, the same in all ranks.
  /// Throws UsageError where ranks differ; team::RefusedError where another rank tells the user
  /// why.
  ProgramRanks(const team::Launch& launch, const std::string& program, const std::string& command);
  /// Leaves them.
  ~ProgramRanks();
  ProgramRanks(const ProgramRanks&) = delete;
  ProgramRanks& operator=(const ProgramRanks&) = delete;
};

/// Whether this process is one rank of several.
[[nodiscard]] bool is_one_of_several() noexcept;
/// Whether this process prints and writes results: rank 0, or the only one.
[[nodiscard]] bool is_first_process() noexcept;

/// "warren: error: " and the message, on a line of standard error. Of several processes the first
/// one prints it: they all found the same.
void print_error(const std::string& message) noexcept;

/// Whether the command's kernels run until a search is over, on lists of neighbours.
[[nodiscard]] bool traverses(std::string_view command);
/// Which option of the command would make it fit where memory is short: what stands behind the
/// error's message; empty where that names one itself.
[[nodiscard]] std::string memory_cure(const std::string& command, const std::string& message);
/// In a handler of what ends the program (`catch (...)`): ends the other ranks, says why on
/// standard error, and returns the status to exit with. `cure`: where memory is short, what stands
/// behind the message and would help.
[[nodiscard]] int report_failure(
    const std::function<std::string(const std::string& message)>& cure = {});
/// The same of a failure that all ranks have met.
[[nodiscard]] int report_failure(ExitStatus status, const std::string& message);

}  // namespace warren
