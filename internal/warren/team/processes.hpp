// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes, of one host or several. A process that has joined its fellows is one
// rank of them for as long as it lives: run_team() then runs one rank here, and the others in
// theirs, with the same algorithms. All processes make the same calls in the same order, and each
// gets the whole result. Ranks on GPUs are on one host.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "warren/team/launcher.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

struct ProcessOptions {
  Launch launch;
  std::string program;  ///< Its name and version: the same in all ranks.
  std::string command;  ///< What it was started to do: the same in all ranks.
  /// How long ranks wait for each other to start.
  std::chrono::milliseconds patience{30'000};
  /// Called by a thread of the library where the team has ended and this process has not left it
  /// one and a half seconds later: it should end the process.
  std::function<void()> on_end;
};

/// Rank 0 has told this rank that they do not start, and tells the user why.
class RefusedError : public Error {
 public:
  using Error::Error;
};

class Processes {
 public:
  /// Meets the other ranks. From here on arrays of CPU devices lie in memory that all ranks have at
  /// the same addresses; of ranks on several hosts, in memory of which each host has a mirror at
  /// these (Team::publish()). Throws UsageError where ranks differ, do not all come, one was here
  /// before in this process, or ranks are on several hosts and there is no MPI; RefusedError in all
  /// ranks but the one that tells the user; Error where the system refuses what is needed.
  explicit Processes(const ProcessOptions& options);
  /// Leaves the team; rank 0 as the last one. What waits for a rank that has left fails.
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// This process's, or nullptr.
  [[nodiscard]] static Processes* current() noexcept;

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] int hosts() const noexcept;
  [[nodiscard]] const std::string& launcher() const noexcept;
  /// This rank's share of `threads` CPU threads in all; 0: of all that the ranks may use, where
  /// ranks that are bound to processors of their own have those. At least 1.
  [[nodiscard]] int threads(int threads) const noexcept;
  /// Processors that one rank or another may use.
  [[nodiscard]] int all_threads() const noexcept;

  /// Ends the team in all processes. The first one's message is the cause.
  void end(const std::string& message) noexcept;
  [[nodiscard]] bool has_ended() const noexcept;
  /// Why; empty before the end. First looks whether a process has gone that nobody misses yet.
  [[nodiscard]] std::string cause() noexcept;
  /// The rank that ended the team, by itself or by being lost; -1 before the end.
  [[nodiscard]] int failed_rank() const noexcept;
  /// Whether the rank that ended the team is a process that has gone without a word.
  [[nodiscard]] bool is_lost() const noexcept;
  /// True in one process, once: which tells the user why the run ends, and then calls has_told().
  [[nodiscard]] bool may_tell() noexcept;
  /// With the status that it exits with.
  void has_told(int status) noexcept;
  /// That status, once it is known; -1: nobody has told within this time.
  [[nodiscard]] int wait_for_told(std::chrono::milliseconds longest) const noexcept;

  /// For run_team(): this rank's side of a team of the CPU.
  [[nodiscard]] std::unique_ptr<Transport> transport();
  /// The same of a team of GPUs. `reaches`: by rank, whether `device` reaches its GPU's memory.
  /// From the first one on, memory of GPUs is taken where the other processes can open it.
  [[nodiscard]] std::unique_ptr<Transport> transport_on_gpu(const exec::Device& device,
                                                            std::vector<bool> reaches);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warren::team
