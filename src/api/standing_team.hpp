// SPDX-License-Identifier: Apache-2.0
// A team whose ranks wait for work: a call costs the time to wake them, not that of starting a
// team. Jobs run one after the other, each on all ranks. A rank that throws ends the team, as it
// ends any; whoever owns this starts another one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "warren/core/progress.hpp"
#include "warren/team/team.hpp"

namespace warren::api {

/// What one rank keeps between jobs, by owner and kind. All ranks of a team have the same keys.
class RankStore {
 public:
  /// Owner (a graph's number), and which of its things.
  using Key = std::pair<std::uint64_t, int>;

  [[nodiscard]] std::shared_ptr<void>& operator[](const Key& key) { return kept_[key]; }
  void forget(std::uint64_t owner) {
    constexpr int kFirst = std::numeric_limits<int>::min();
    kept_.erase(kept_.lower_bound({owner, kFirst}), kept_.lower_bound({owner + 1, kFirst}));
  }

 private:
  std::map<Key, std::shared_ptr<void>> kept_;
};

class StandingTeam {
 public:
  using Job = std::function<void(team::Team&, RankStore&)>;

  /// Starts the ranks. Throws UsageError, ThreadError.
  explicit StandingTeam(const team::TeamOptions& options);
  /// Waits for the jobs that have begun, and ends the ranks; what they keep goes first.
  ~StandingTeam();
  StandingTeam(const StandingTeam&) = delete;
  StandingTeam& operator=(const StandingTeam&) = delete;

  /// Runs `job` on every rank, after those that were there first. False, and nothing was run, where
  /// the team has ended before. Throws what the rank that failed first threw; Interrupted; what
  /// TellProgress of this thread threw; in a rank of this team UsageError.
  [[nodiscard]] bool run(const Job& job);
  /// Leaves `job` to the ranks, which do it when they come to it.
  void post(Job job);
  [[nodiscard]] bool has_ended() const;

 private:
  struct Task {
    Job job;
    int unfinished = 0;  ///< Ranks of this process.
    std::atomic<bool> is_done{false};
    std::exception_ptr error;
    ProgressCount progress;
  };

  void serve(team::Team& team);
  /// With the lock: tells the ranks that there is something at the front.
  void show_front();
  /// The job with this number, once it is its turn; nullptr at the end.
  [[nodiscard]] std::shared_ptr<Task> wait_for(std::uint64_t number);
  void finish(Task& task);
  /// Of a rank that throws: those that wait for the next job end as well.
  void leave_jobs();
  /// After the last rank.
  void end(std::exception_ptr error);
  /// With the lock.
  void interrupt(const std::shared_ptr<Task>& task);

  const int ranks_;  ///< In this process.
  /// For which callers and ranks look for each other before they sleep: to be woken takes longer
  /// than a small call. A GPU's work takes none of the processors that this takes; the CPU's would.
  const std::chrono::microseconds patience_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;      ///< Of ranks.
  std::condition_variable finished_;  ///< Of callers.
  std::deque<std::shared_ptr<Task>> tasks_;
  std::uint64_t turn_ = 0;               ///< Number of the front task.
  std::atomic<std::uint64_t> shown_{0};  ///< Tasks that have come to the front.
  bool is_closing_ = false;              ///< What is there is still done.
  bool is_over_ = false;                 ///< Nothing more is begun.
  team::Team* first_rank_ = nullptr;     ///< Of this process, while it serves.
  std::thread thread_;                   ///< That rank's; run_team() starts the others.
};

}  // namespace warren::api
