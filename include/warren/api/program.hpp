// SPDX-License-Identifier: Apache-2.0
// A program around the library, as the command line is one: how it meets the system (descriptors
// that are closed, signals, files that are cut short while they are read), how it is one of several
// processes that a launcher (mpirun, srun, torchrun) started, and how it says why it ends. Not for
// libraries and interpreters, which have signals of their own.
#pragma once

#include <functional>
#include <string>
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

/// Ends the process at once, without the files that are not finished. One thread's claim: others
/// that come here wait for the end.
[[noreturn]] void end_process(int status);

/// Of a process that a signal ended: 128 and its number, as shells have it.
[[nodiscard]] int status_of_signal(int signal) noexcept;

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
/// Whether this process may say why the run ends: one of all ranks may, and once. It then calls
/// has_told_end(), for which the other ranks wait: launchers end all when the first one has failed.
/// For signal handlers, too.
[[nodiscard]] bool may_tell_end() noexcept;
void has_told_end(int status) noexcept;
/// Ends the other ranks, for a failure of this one.
void end_other_ranks(const std::string& message) noexcept;
/// The status that this rank ends with where another one failed first. That one says why, or, where
/// it cannot any more, this one does.
[[nodiscard]] int status_of_other_rank();
/// " (rank 2 of 4)", or nothing.
[[nodiscard]] std::string this_rank();
/// Why the run was ended before its time: a signal, or a rank that the signal came of.
[[nodiscard]] std::string interruption(int signal);

/// "warren: error: " and the message, on a line of standard error. Of several processes the first
/// one prints it: they all found the same.
void print_error(const std::string& message) noexcept;
/// The same of why the process ends, with this exit status: of several one prints it, whichever
/// comes first.
void print_last_error(const std::string& message, int status) noexcept;

/// In a handler of what ends the program (`catch (...)`): ends the other ranks, says why on
/// standard error, and returns the status to exit with. `cure`: where memory is short, what stands
/// behind the message and would help.
[[nodiscard]] int report_failure(
    const std::function<std::string(const std::string& message)>& cure = {});
/// The same of a failure that all ranks have met.
[[nodiscard]] int report_failure(ExitStatus status, const std::string& message);

}  // namespace warren
