// SPDX-License-Identifier: Apache-2.0
// What a session is made of: its teams, by kind and number of ranks, and threads of the host for
// what is done before the ranks have their parts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include <sys/types.h>

#include "warren/api/session.hpp"
#include "warren/exec/device.hpp"

#include "api/session_memory.hpp"
#include "api/standing_team.hpp"

namespace warren::api {

/// Of one call: what runs it.
struct Place {
  DeviceKind kind = DeviceKind::cpu;
  int ranks = 1;
  int gpu = 0;  ///< Rank 0's.
  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.kind, a.ranks, a.gpu) < std::tie(b.kind, b.ranks, b.gpu);
  }
};

/// The session that a call names, or the standard one.
[[nodiscard]] inline Session session_of(const std::optional<Session>& named) {
  return named ? *named : Session::standard();
}

/// A number for what ranks keep (RankStore::Key): of nothing else in this process.
[[nodiscard]] std::uint64_t next_owner();

class Teams {
 public:
  explicit Teams(const SessionOptions& options);
  ~Teams();
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  [[nodiscard]] const SessionOptions& options() const { return options_; }
  [[nodiscard]] bool is_closed() const;
  void close();

  /// The session's kind, or the one that the call names.
  [[nodiscard]] DeviceKind kind(const std::optional<DeviceKind>& asked) const;
  /// Where ranks on such devices take their memory; nullptr: where the process does.
  [[nodiscard]] std::shared_ptr<exec::MemoryResource> memory(DeviceKind kind) const;
  /// CPU threads of a call, in all.
  [[nodiscard]] int threads() const;
  /// Ranks that a call has where nobody says; as many as there are processes, where this one is
  /// their rank.
  [[nodiscard]] int devices() const;

  /// Runs `job` on every rank of the team of `place`, which is started where there is none. Where a
  /// rank has too little memory and the team holds what `owner` does not need, the team is started
  /// anew, and the job runs once more. Throws as StandingTeam::run(); UsageError for a session that
  /// is closed, and in a process that was forked off.
  void run(const Place& place, std::uint64_t owner, const StandingTeam::Job& job);
  /// Frees what all ranks keep of `owner`, when they come to it.
  void forget(std::uint64_t owner);

  /// Does `work` with the host's threads. One call at a time, in which another may be made.
  void on_host(const std::function<void(exec::ThreadPool&)>& work);
  /// The same, told the CPU with all of them.
  void on_device(const std::function<void(const exec::Device&)>& work);

 private:
  struct Standing {
    std::shared_ptr<StandingTeam> team;
    bool has_others = false;  ///< It has worked for more than one owner.
    std::uint64_t owner = 0;  ///< The last one.
  };

  /// CPU threads that are this process's.
  [[nodiscard]] int own_threads() const;
  /// With the lock. Throws UsageError.
  void check_open() const;
  /// Before any lock, which a thread of the parent may have held. Throws UsageError.
  void check_process() const;
  [[nodiscard]] std::shared_ptr<StandingTeam> team_of(const Place& place, std::uint64_t owner);
  /// Ends the team, unless another one stands there by now. True if it held what is not `owner`'s.
  bool drop(const Place& place, const std::shared_ptr<StandingTeam>& team);

  const SessionOptions options_;
  const DeviceKind kind_;  ///< Asked once: without a driver the runtime looks for it each time.
  const std::shared_ptr<SessionMemory> memory_;  ///< nullptr: the session was given none.
  const pid_t process_;
  mutable std::mutex mutex_;
  /// Set with the lock. is_closed() takes none, as a fork may have copied it locked.
  std::atomic<bool> is_closed_{false};
  std::map<Place, Standing> teams_;
  std::mutex host_mutex_;
  std::unique_ptr<exec::Device> host_;
};

}  // namespace warren::api
