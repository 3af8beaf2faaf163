// SPDX-License-Identifier: Apache-2.0
// The ranks of a job that are on several hosts, and MPI between them. Which ranks are on one host
// MPI says, or the test that makes one machine act as several. No call waits in MPI: requests are
// tested until they are done, and between two tests the caller looks whether the team has ended.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/team/launcher.hpp"

#include "team/mpi_functions.hpp"
#include "team/started_as.hpp"

namespace warren::team {

class Hosts {
 public:
  /// Throws where the team has ended, or nothing may be waited for any longer.
  using Look = std::function<void()>;

  /// Collective over the job's ranks: opens the library and starts it. Throws UsageError where
  /// there is none, or where it knows of other ranks than the launcher.
  explicit Hosts(const Launch& launch);
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int count() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] int host() const { return host_of(rank_); }
  [[nodiscard]] int host_of(int rank) const { return host_of_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool is_here(int rank) const { return host_of(rank) == host(); }
  /// In ascending order; hosts are numbered in the order of their first ranks.
  [[nodiscard]] const std::vector<int>& ranks_of(int host) const {
    return ranks_[static_cast<std::size_t>(host)];
  }
  [[nodiscard]] const std::vector<int>& here() const { return ranks_of(host()); }
  [[nodiscard]] int local_rank() const { return local_rank_; }
  [[nodiscard]] std::string library() const { return functions_.library(); }

  /// By the first rank of each host, which tells why its host's ranks are no team, or nothing. Why
  /// the hosts are none, the same on all; empty: they are one.
  [[nodiscard]] std::string refusal(const StartedAs& started, const std::string& of_host,
                                    const Look& look);
  /// By the first rank of each host: the least of the hosts' values.
  [[nodiscard]] std::uint64_t least(std::uint64_t value, const Look& look);

  /// By all ranks.
  void barrier(const Look& look);
  void sum(std::span<std::uint64_t> values, const Look& look);

  /// Starts to send or to receive, in pieces of at most 1 GiB. What `data` points to must stay
  /// until the requests are done, or for ever: see keep().
  void send(std::span<const std::byte> data, int to, std::vector<MpiRequest>& requests);
  void receive(std::span<std::byte> data, int from, std::vector<MpiRequest>& requests);
  /// Whether all are done.
  [[nodiscard]] bool are_done(std::vector<MpiRequest>& requests);
  /// Calls step() until it says that nothing is left to be done.
  void poll(const std::function<bool()>& step, const Look& look);

  /// A message of a fixed size that no rank waits for. `bytes` stay for ever. Does nothing where
  /// MPI is at something else and does not come back.
  void notify(std::span<const std::byte> bytes, int to) noexcept;
  /// One that has come, and from whom; -1: none, or MPI is at something else.
  [[nodiscard]] int hear(std::span<std::byte> bytes) noexcept;

  /// What a request that is not done may still read or write stays until the process ends.
  void keep(std::shared_ptr<void> memory);

  /// Counts what goes to other hosts.
  void count_bytes(std::uint64_t bytes) { bytes_ += bytes; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(); }

  /// Collective: where all ranks are done.
  void finish();

 private:
  void check(MpiCode code) const;
  void find_hosts(const Launch& launch);
  /// Between the first ranks of hosts: each tells the first host's, which answers.
  template <class Said, class Answer, class Decide>
  Answer ask_first(const Said& said, const Look& look, Decide&& decide);

  const MpiFunctions& functions_;
  std::timed_mutex mutex_;  ///< Around each call.
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  std::vector<int> host_of_;
  std::vector<std::vector<int>> ranks_;
  std::atomic<std::uint64_t> bytes_{0};
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace warren::team
