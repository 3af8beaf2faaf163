// SPDX-License-Identifier: Apache-2.0
#include "api/standing_team.hpp"

#include <chrono>
#include <utility>

#include "warren/api/session.hpp"
#include "warren/core/error.hpp"
#include "warren/core/start_thread.hpp"
#include "warren/team/processes.hpp"

#include "api/interrupt.hpp"
#include "api/progress.hpp"

namespace warren::api {
namespace {

/// Waits a little for what mostly comes at once: to be woken takes longer. Gives the core to others
/// first, of which one may be the thread that is waited for; then it looks for microseconds before
/// it does so again, as what comes while the system is at that is seen late.
template <class Condition>
void wait_shortly(std::chrono::microseconds longest, Condition&& condition) {
  constexpr int kLooks = 1000;
  const auto begin = std::chrono::steady_clock::now();
  if (condition()) return;
  do {
    std::this_thread::yield();
    for (int look = 0; look < kLooks; ++look) {
      if (condition()) return;
    }
  } while (std::chrono::steady_clock::now() - begin < longest);
}

/// Ranks of a team that run in this process.
int ranks_here(const team::TeamOptions& options) {
  return team::Processes::current() != nullptr ? 1 : options.ranks;
}

/// What ends the call that waits: an interrupt, or what whoever is told of its progress throws.
std::exception_ptr why_ended(const ProgressCount& progress) {
  try {
    if (should_interrupt()) throw Interrupted("the call was interrupted");
    tell_progress(progress);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// The team that this thread is a rank of.
thread_local const StandingTeam* serving = nullptr;

}  // namespace

StandingTeam::StandingTeam(const team::TeamOptions& options)
    : ranks_(ranks_here(options)), patience_(options.kind == exec::DeviceKind::cuda ? 1000 : 50) {
  team::validate(options);
  thread_ = start_thread(
      [this, options] {
        std::exception_ptr error;
        try {
          team::run_team(options, [this](team::Team& team) { serve(team); });
        } catch (...) {
          error = std::current_exception();
        }
        end(std::move(error));
      },
      "the first rank", "give fewer threads");
}

StandingTeam::~StandingTeam() {
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool StandingTeam::has_ended() const {
  const std::scoped_lock lock(mutex_);
  return is_over_;
}

bool StandingTeam::run(const Job& job) {
  require(serving != this,
          "a call from within another one of the same session would wait for it for ever: make it "
          "afterwards, or in a session of its own");
  constexpr std::chrono::milliseconds kPeriod{50};
  const auto task = std::make_shared<Task>();
  task->job = std::cref(job);  // Which outlives it: this returns when it is done.
  task->unfinished = ranks_;
  std::unique_lock lock(mutex_);
  if (is_over_ || is_closing_) return false;
  tasks_.push_back(task);
  show_front();
  lock.unlock();
  const auto is_done = [&] { return task->is_done.load(std::memory_order_acquire); };
  const auto sleep_until_done = [&] {
    std::exception_ptr why;
    lock.lock();
    while (!finished_.wait_for(lock, kPeriod, is_done)) {
      if (why != nullptr) continue;
      lock.unlock();
      why = why_ended(task->progress);
      lock.lock();
      if (why != nullptr && !is_done()) interrupt(task);
    }
    lock.unlock();
    if (why != nullptr) std::rethrow_exception(why);
  };
  wait_shortly(patience_, is_done);
  if (!is_done()) sleep_until_done();
  // Nobody writes to a task that is done: it is read without the lock.
  if (task->error != nullptr) std::rethrow_exception(task->error);
  if (task->unfinished == 0) tell_progress(task->progress);
  return task->unfinished == 0;
}

void StandingTeam::post(Job job) {
  auto task = std::make_shared<Task>();
  task->job = std::move(job);
  task->unfinished = ranks_;
  const std::scoped_lock lock(mutex_);
  if (is_over_ || is_closing_) return;
  tasks_.push_back(std::move(task));
  show_front();
}

void StandingTeam::show_front() {
  if (tasks_.empty() || shown_.load() == turn_ + 1) return;
  shown_.store(turn_ + 1, std::memory_order_release);
  wake_.notify_all();
}

void StandingTeam::serve(team::Team& team) {
  RankStore store;
  serving = this;
  const bool is_first = team.reports();
  // Several ranks of the CPU would wait in each other's way.
  const bool spins = team.device().is_cuda() || ranks_ == 1;
  const auto tell = [&](team::Team* first) {
    const std::scoped_lock lock(mutex_);
    if (is_first) first_rank_ = first;
  };
  tell(&team);
  try {
    for (std::uint64_t number = 0;; ++number) {
      if (spins)
        wait_shortly(patience_, [&] { return shown_.load(std::memory_order_acquire) > number; });
      const std::shared_ptr<Task> task = wait_for(number);
      if (task == nullptr) break;
      const CountsProgress counts(&task->progress);
      task->job(team, store);
      finish(*task);
    }
  } catch (...) {
    tell(nullptr);
    leave_jobs();
    throw;
  }
  tell(nullptr);
}

std::shared_ptr<StandingTeam::Task> StandingTeam::wait_for(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  wake_.wait(lock,
             [&] { return is_over_ || (turn_ == number && (!tasks_.empty() || is_closing_)); });
  return is_over_ || tasks_.empty() ? nullptr : tasks_.front();
}

void StandingTeam::finish(Task& task) {
  const std::scoped_lock lock(mutex_);
  if (--task.unfinished > 0 || is_over_) return;
  tasks_.pop_front();
  ++turn_;
  show_front();
  if (is_closing_) wake_.notify_all();
  task.is_done.store(true, std::memory_order_release);
  finished_.notify_all();
}

void StandingTeam::leave_jobs() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_all();
}

void StandingTeam::end(std::exception_ptr error) {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    // The front one is what the ranks were at. The caller alone holds the exception then, so that
    // it is freed by the thread that reads it.
    if (!tasks_.empty()) tasks_.front()->error = std::move(error);
    for (const auto& task : tasks_) task->is_done = true;
    tasks_.clear();
  }
  finished_.notify_all();
}

void StandingTeam::interrupt(const std::shared_ptr<Task>& task) {
  if (tasks_.front() != task) {
    std::erase(tasks_, task);
    task->is_done = true;
    return;
  }
  is_over_ = true;
  if (first_rank_ != nullptr) first_rank_->abort("the call was interrupted");
  wake_.notify_all();
}

}  // namespace warren::api
