// SPDX-License-Identifier: Apache-2.0
// Threads that act as ranks on several hosts: every n-th is on the same one. What a rank shows to
// another host is copied into that host's mirror at once, without waiting for those who may still
// be reading there, and mirrors begin as bytes of 0xff: who reads what was not published, or
// publishes before all have met, finds other numbers.
#pragma once

#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "team/thread_transport.hpp"

namespace warren::testing_support {

/// The hosts' mirrors, which stay to the end.
class PretendMirrors {
 public:
  /// Of the `number`-th window of rank `owner` on `host`.
  std::byte* at(int host, int owner, std::uint64_t number, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    auto& mirror = mirrors_[{host, owner, number}];
    if (mirror.empty()) mirror.assign(bytes + 1, std::byte{0xff});
    return mirror.data();
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<int, int, std::uint64_t>, std::vector<std::byte>> mirrors_;
};

/// The ranks' hubs: of all, and of each host's.
struct PretendHubs {
  PretendHubs(int ranks, int hosts) : all(std::make_shared<team::ThreadHub>(ranks, nullptr)) {
    for (int host = 0; host < hosts; ++host)
      of_hosts.push_back(
          std::make_shared<team::ThreadHub>((ranks - host + hosts - 1) / hosts, nullptr));
  }
  void end(int rank, const std::string& message) const noexcept {
    all->abort(rank, message);  // First: its cause is the one that is told.
    for (const auto& hub : of_hosts) hub->abort(rank, message);
  }

  std::shared_ptr<team::ThreadHub> all;
  std::vector<std::shared_ptr<team::ThreadHub>> of_hosts;
};

/// The team of one host's ranks: processes, whose memory all of them have.
class PretendHost : public team::ThreadTransport {
 public:
  PretendHost(const PretendHubs& hubs, int rank_of_all, int hosts)
      : ThreadTransport(hubs.of_hosts[static_cast<std::size_t>(rank_of_all % hosts)],
                        rank_of_all / hosts, size_of(hubs, rank_of_all, hosts),
                        exec::Device::cpu(1)),
        hubs_(hubs),
        rank_of_all_(rank_of_all) {}

  [[nodiscard]] bool spans_processes() const override { return true; }
  void abort(const std::string& message) noexcept override { hubs_.end(rank_of_all_, message); }

 private:
  static int size_of(const PretendHubs& hubs, int rank_of_all, int hosts) {
    return static_cast<int>(
        hubs.of_hosts[static_cast<std::size_t>(rank_of_all % hosts)]->slots.size());
  }

  const PretendHubs& hubs_;
  int rank_of_all_;
};

class PretendHosts : public team::ThreadTransport {
 public:
  PretendHosts(const PretendHubs& hubs, int rank, int size, int hosts, PretendMirrors& mirrors)
      : ThreadTransport(hubs.all, rank, size, exec::Device::cpu(1)),
        hubs_(hubs),
        hosts_(hosts),
        mirrors_(mirrors) {}

  [[nodiscard]] std::unique_ptr<team::Transport> of_host() override {
    return std::make_unique<PretendHost>(hubs_, rank(), hosts_);
  }
  void abort(const std::string& message) noexcept override { hubs_.end(rank(), message); }

  [[nodiscard]] bool spans_processes() const override { return true; }
  [[nodiscard]] bool spans_hosts() const override { return true; }
  [[nodiscard]] bool needs_windows() const override { return true; }
  [[nodiscard]] int host_of(int rank) const override { return rank % hosts_; }
  [[nodiscard]] std::uint64_t bytes_between_hosts() const override { return bytes_; }

  std::vector<void*> share(void* pointer) override {
    std::vector<void*> table = ThreadTransport::share(pointer);
    for (int q = 0; q < size(); ++q)
      if (host_of(q) != host_of(rank())) table[static_cast<std::size_t>(q)] = nullptr;
    return table;
  }
  team::Windows share_windows(const team::Window& window) override {
    const std::uint64_t number = windows_.size();
    windows_.push_back(window);
    std::vector<std::span<const std::byte>> mine(static_cast<std::size_t>(size()),
                                                 std::as_bytes(std::span(&window.bytes, 1)));
    const auto sizes = exchange(mine);
    team::Windows shown{share(window.data), nullptr};
    for (int q = 0; q < size(); ++q) {
      if (host_of(q) == host_of(rank())) continue;
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, sizes[static_cast<std::size_t>(q)].data(), sizeof bytes);
      shown.of[static_cast<std::size_t>(q)] = mirrors_.at(host_of(rank()), q, number, bytes);
    }
    return shown;
  }
  void publish(std::span<const team::Shown> shown, bool /*is_later*/) override {
    for (const team::Shown& one : shown) {
      for (int host = 0; host < hosts_; ++host) {
        const bool is_for_it = one.to < 0 || host_of(one.to) == host;
        if (is_for_it && host != host_of(rank()) && one.bytes != 0) copy_to(host, one);
      }
    }
    barrier();
  }

 private:
  void copy_to(int host, const team::Shown& shown) {
    const auto* data = static_cast<const std::byte*>(shown.data);
    for (std::uint64_t i = windows_.size(); i-- > 0;) {
      const auto* base = static_cast<const std::byte*>(windows_[i].data);
      if (data < base || data + shown.bytes > base + windows_[i].bytes) continue;
      std::memcpy(mirrors_.at(host, rank(), i, windows_[i].bytes) + (data - base), data,
                  shown.bytes);
      bytes_ += shown.bytes;
      return;
    }
    throw UsageError("what is published lies in no window");
  }

  const PretendHubs& hubs_;
  int hosts_;
  PretendMirrors& mirrors_;
  std::vector<team::Window> windows_;  // In the order in which all ranks share them.
  std::uint64_t bytes_ = 0;
};

/// work(team) on each of `ranks` threads, rank q of which is on host q % `hosts`. Throws what the
/// rank that failed first has thrown.
inline void run_on_hosts(int ranks, int hosts, const std::function<void(team::Team&)>& work) {
  const PretendHubs hubs(ranks, hosts);
  PretendMirrors mirrors;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      team::Team team(std::make_unique<PretendHosts>(hubs, rank, ranks, hosts, mirrors),
                      exec::Device::cpu(1), false, 1);
      try {
        work(team);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        team.abort(error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int failed = hubs.all->failed_rank();
  if (failed >= 0) std::rethrow_exception(errors[static_cast<std::size_t>(failed)]);
}

}  // namespace warren::testing_support
