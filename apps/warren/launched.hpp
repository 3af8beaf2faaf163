// SPDX-License-Identifier: Apache-2.0
// The program as one of several processes that a launcher (mpirun, srun, torchrun) started: all do
// the same, rank 0 alone prints and writes what comes of it, and one of them says why a run fails.
#pragma once

#include <string>

namespace warren::app {

/// Joins the other ranks, if a launcher started some; its end leaves them. Made once, before the
/// work, and destroyed after it.
class Launched {
 public:
  /// Throws UsageError where `command` has no ranks that are processes, and where ranks differ;
  /// team::RefusedError where another rank tells the user why.
  Launched(const std::string& command, int argc, const char* const* argv);
  ~Launched();
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;
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

}  // namespace warren::app
