// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process: values pass through a table of pointers between two barriers,
// and every wait also ends when the team is ended.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "warren/team/team.hpp"

#include "team/mirrors.hpp"

namespace warren::team {

/// Which memory of others a team's ranks reach.
enum class Reach { all, some, none };

/// What the ranks of one team share.
class ThreadHub {
 public:
  /// `pinned_on`: a GPU whose kernels must be able to read the flag that says the team has ended;
  /// nullptr for CPU teams.
  ThreadHub(int ranks, const exec::Device* pinned_on);
  ~ThreadHub();
  ThreadHub(const ThreadHub&) = delete;
  ThreadHub& operator=(const ThreadHub&) = delete;

  void barrier();
  void abort(int rank, const std::string& message) noexcept;
  /// Ends the team: no rank of it has failed, but the process is asked to end.
  void stop() noexcept;
  void check() const;
  /// The rank that ended the team, or -1.
  [[nodiscard]] int failed_rank() const;

  struct alignas(64) Slot {
    std::atomic<int> accessing{0};  ///< Depth of begin_access().
    const void* pointer = nullptr;
    std::vector<std::uint64_t> values;
    std::vector<Posted> posted;  ///< From one publish() to the barrier before the next one.
  };
  std::vector<Slot> slots;
  std::uint32_t* abort_flag;
  const std::shared_ptr<DeferredFree> deferred_free = std::make_shared<DeferredFree>();

 private:
  void throw_aborted() const;
  void end(int rank, std::string message) noexcept;

  const int ranks_;
  std::unique_ptr<exec::Device> pinned_on_;
  mutable std::mutex mutex_;
  std::condition_variable passed_;
  int arrived_ = 0;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<bool> aborted_{false};
  int failed_rank_ = -1;
  std::string message_;  ///< Empty: there was no memory for one.
  /// The last member: its callback uses the others.
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(std::shared_ptr<ThreadHub> hub, int rank, int size, const exec::Device& device,
                  Reach reach = Reach::all)
      : hub_(std::move(hub)), rank_(rank), size_(size), device_(device), reach_(reach) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void barrier() override { hub_->barrier(); }
  std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::span<const std::byte>>& outgoing) override;
  void sum(std::span<std::uint64_t> values) override;
  std::vector<void*> share(void* pointer) override;
  Windows share_windows(const Window& window) override;
  void publish(std::span<const Shown> shown, bool is_later) override;
  [[nodiscard]] bool needs_windows() const override { return reach_ != Reach::all; }
  [[nodiscard]] const std::shared_ptr<DeferredFree>& deferred_free() const override {
    return hub_->deferred_free;
  }
  void begin_access() noexcept override;
  void end_access(bool has_failed) noexcept override;
  void abort(const std::string& message) noexcept override { hub_->abort(rank_, message); }
  void check() const override { hub_->check(); }
  [[nodiscard]] const std::uint32_t* abort_flag() const override { return hub_->abort_flag; }

 private:
  /// Lends `value` to the other ranks while all of them run read(): the hub's slots point to the
  /// ranks' values.
  template <class T, class Read>
  void lend(const T& value, Read&& read);
  /// f() runs while other ranks use this one's memory, or this one theirs.
  template <class F>
  void with_access(F&& f);

  std::shared_ptr<ThreadHub> hub_;
  int rank_;
  int size_;
  exec::Device device_;
  Reach reach_;
  std::optional<Mirrors> mirrors_;  ///< Made by the first share_windows() that needs them.
};

}  // namespace warren::team
