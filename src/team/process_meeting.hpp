// SPDX-License-Identifier: Apache-2.0
// How the processes of one start find each other on a host: rank 0 listens on a socket whose name
// (of Linux's abstract ones, which are in no file system) is made of the user and the job; the
// others connect, and are handed the memory that all share. The ranks agree on where it lies in
// all of them, and on what they were started as. Of ranks on several hosts, those of each host meet
// so, and the hosts' first ranks agree by MPI.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sched.h>

#include "warren/team/launcher.hpp"
#include "warren/team/processes.hpp"

#include "team/descriptor.hpp"
#include "team/hosts.hpp"
#include "team/shared_segment.hpp"

namespace warren::team {

/// What must be the same in all ranks.
struct MeetingRules {
  std::string program;  ///< With its version.
  std::string command;
  std::uint64_t control_bytes = 0;  ///< Of the segment.
  std::chrono::milliseconds patience{};
  int ranks = 1;  ///< On all hosts.
  /// Of ranks on several hosts; nullptr where all are on this one.
  Hosts* hosts = nullptr;
  Hosts::Look look = [] {};  ///< While other hosts are waited for.

  /// The number that a rank of this host has in the team.
  [[nodiscard]] int name(int rank) const {
    return hosts == nullptr ? rank : hosts->here()[static_cast<std::size_t>(rank)];
  }
};

/// What a rank says of its process.
struct Member {
  std::int32_t process = 0;
  cpu_set_t cpus{};  ///< Which it may use.
};

struct Meeting {
  SharedSegment segment;
  std::vector<Member> members;  ///< By rank; rank 0 knows them.
  /// By rank; they become readable when that rank's process has ended. A pidfd (pidfd_open(2)), or
  /// where the system has none the socket to it, of which rank 0 has all, and the others rank 0's.
  std::vector<Descriptor> processes;
  std::vector<Descriptor> sockets;  ///< Kept open while the ranks work.
};

/// Collective. `launch`: of this host's ranks alone, numbered from 0. Throws UsageError where ranks
/// differ, or do not all come in time; RefusedError in the ranks that rank 0 tells so; Error where
/// the system refuses what is needed.
[[nodiscard]] Meeting meet(const Launch& launch, const MeetingRules& rules);

/// Where the first rank has gone before the ranks could tell each other more: the next tells the
/// user (Error), the others are quiet (RefusedError).
[[noreturn]] void throw_lost_first(const Launch& launch, const MeetingRules& rules);

}  // namespace warren::team
