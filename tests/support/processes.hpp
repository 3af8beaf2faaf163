// SPDX-License-Identifier: Apache-2.0
// Teams of processes in tests: the ranks are forked off the test, which must have no threads then.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "warren/team/processes.hpp"

namespace warren::testing_support {

/// Statuses that a rank ends with.
inline constexpr int kPassed = 0;
inline constexpr int kFailed = 1;
/// Longer than any rank takes, on a machine that is busy with other things.
inline constexpr std::chrono::seconds kLongest{120};

/// The thread sanitizer knows nothing of other processes, and nothing of memory at the addresses
/// that ranks in processes share: tests of such teams skip under it.
#ifdef WARREN_SANITIZED_THREADS
inline constexpr bool kSeesProcesses = false;
#else
inline constexpr bool kSeesProcesses = true;
#endif

/// A job that no other test has.
inline std::string new_job() {
  static int jobs = 0;
  return "test/" + std::to_string(getpid()) + "/" + std::to_string(++jobs);
}

inline team::ProcessOptions process_options(const std::string& job, int rank, int ranks) {
  team::ProcessOptions options;
  options.launch = {"a test", job, rank, ranks};
  options.program = "test";
  options.command = "the same";
  return options;
}

/// Processes that were forked off, each of which ran body(options of its rank).
class ForkedRanks {
 public:
  template <class Body>
  ForkedRanks(int ranks, Body&& body) {
    const std::string job = new_job();
    (void)std::fflush(nullptr);  // Or each child would write it again.
    for (int rank = 0; rank < ranks; ++rank) {
      const pid_t child = fork();
      if (child == 0) run(body, process_options(job, rank, ranks));
      children_.push_back(child);
    }
  }
  ~ForkedRanks() {
    for (const pid_t child : children_) {
      if (child > 0) (void)kill(child, SIGKILL);
      if (child > 0) (void)waitpid(child, nullptr, 0);
    }
  }
  ForkedRanks(const ForkedRanks&) = delete;
  ForkedRanks& operator=(const ForkedRanks&) = delete;

  void kill_rank(int rank) const { (void)kill(children_[static_cast<std::size_t>(rank)], SIGKILL); }
  /// The rank's exit status, or minus the signal that ended it. It is killed where it takes too
  /// long.
  int wait(int rank) {
    pid_t& child = children_[static_cast<std::size_t>(rank)];
    int status = 0;
    const auto end = std::chrono::steady_clock::now() + kLongest;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) (void)kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    child = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  template <class Body>
  [[noreturn]] static void run(Body& body, const team::ProcessOptions& options) {
    int status = kFailed;
    try {
      body(options);
      status = testing::Test::HasFailure() ? kFailed : kPassed;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", options.launch.rank, error.what());
    }
    (void)std::fflush(nullptr);
    _exit(status);
  }

  std::vector<pid_t> children_;
};

/// Runs body() in as many processes as there are ranks, each of which has joined the others;
/// expects all to pass. What a process expects in vain it prints itself.
template <class Body>
void in_processes(int ranks, Body&& body) {
  ForkedRanks forked(ranks, [&](const team::ProcessOptions& options) {
    const team::Processes processes(options);
    body();
  });
  for (int rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(forked.wait(rank), kPassed) << "rank " << rank << " of " << ranks << " processes";
}

}  // namespace warren::testing_support
