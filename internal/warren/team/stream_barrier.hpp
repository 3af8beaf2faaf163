// SPDX-License-Identifier: Apache-2.0
// Barriers of the ranks' streams, for which the host does not wait.
#pragma once

#include <cstdint>
#include <memory>

#include "warren/team/team.hpp"

namespace warren::team {

struct StreamMail;

/// Where ranks read each other's memory in the order of their streams: a rank says that its stream
/// has come somewhere, and lets work wait until all ranks' have. Each rank calls arrive() and
/// wait() in turn, as all others do; the streams may differ from call to call if those of one rank
/// follow each other. Kernels of one warp carry it where kernels may wait for each other
/// (Team::kernels_may_wait()) and each rank has a device of its own, so that it can be captured;
/// else the host waits for the stream, and on the CPU, where a stream's work is done when the call
/// returns, for the other ranks.
class StreamBarrier {
 public:
  /// Collective. Throws MemoryError.
  explicit StreamBarrier(Team& team);
  /// Of a team that has ended the memory stays until all ranks have stopped.
  ~StreamBarrier();
  StreamBarrier(const StreamBarrier&) = delete;
  StreamBarrier& operator=(const StreamBarrier&) = delete;

  /// What was put on the stream so far will be done, and seen by all ranks' work behind wait().
  /// Throws TeamError where the team has ended.
  void arrive(const exec::Stream& stream);
  /// Later work on the stream begins when every rank's arrive() has been reached. Collective.
  void wait(const exec::Stream& stream);

 private:
  /// On the device. Other ranks write to it.
  class Memory;

  Team& team_;
  std::unique_ptr<Memory> memory_;    ///< nullptr where the host waits.
  int exceptions_;                    ///< Under way when it was made.
  StreamMail* mail_[kMaxRanks] = {};  ///< Every rank's counters, as this device has them.
};

}  // namespace warren::team
