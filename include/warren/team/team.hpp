// SPDX-License-Identifier: Apache-2.0
// Teams: ranks that work together on one job, each with one device and one shard of the data. The
// ranks of run_team() are threads of this process, or, where it is one rank of several processes
// (processes.hpp), this rank alone; an algorithm sees only the Team it is handed.
//
// Every function that is not const is collective: all ranks call it, in the same order. A rank that
// throws ends the team: the others' pending and later calls throw TeamError with that rank's
// message, kernels included.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/core/types.hpp"
#include "warren/exec/stream.hpp"
#include "warren/team/barrier_view.hpp"

namespace warren::team {

enum class ReduceOp { sum, minimum, maximum };
enum class DataType { int32, uint32, int64, uint64, float32, float64 };

/// The deferred-free list of a team: where a failing rank leaves memory that other ranks may still
/// be using. It is given back when all ranks have stopped.
class DeferredFree {
 public:
  /// Frees `memory` now, or keeps it: where the team has ended, or an exception beyond the
  /// `exceptions` of old is on its way.
  template <class T>
  void give_back(std::unique_ptr<T> memory, int exceptions) noexcept {
    if (!has_ended_.load(std::memory_order_acquire) && std::uncaught_exceptions() <= exceptions)
      return;
    T* kept = memory.release();
    try {
      const std::scoped_lock lock(mutex_);
      kept_.emplace_back(kept);
    } catch (...) {
      // No memory to note it: it stays until the process ends.
    }
  }
  void end() noexcept { has_ended_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> has_ended_{false};
  std::mutex mutex_;
  std::vector<std::shared_ptr<void>> kept_;
};

/// What a rank shows to others before they read it.
struct Shown {
  int to = -1;  ///< The rank that reads it; -1: all.
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

/// An array that a rank shows to the others, and what it reads of theirs, in bytes. Ranks' arrays
/// may differ in length.
struct Window {
  void* data = nullptr;     ///< This rank's.
  std::uint64_t bytes = 0;  ///< Its length.
  /// Bytes [first, end) of each other rank's array are read here, as far as there are so many.
  std::uint64_t first = 0;
  std::uint64_t end = ~std::uint64_t{0};
  /// All ranks' arrays have the same rows: what another rank publishes of its own goes to the same
  /// place in this rank's, which is where it is read.
  bool is_replica = false;
};

/// Where a rank reads the others' arrays, as long as this is there.
struct Windows {
  std::vector<void*> of;         ///< Rank q's array, or its mirror: byte 0 of it.
  std::shared_ptr<void> memory;  ///< Of the mirrors, where these are not the team's.
};

/// What the carrier of a team (threads, processes) must be able to do. Implementations are found
/// through run_team().
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual void barrier() = 0;
  /// Sends outgoing[q] to rank q and returns what each rank sent here.
  virtual std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::span<const std::byte>>& outgoing) = 0;
  /// Sums of small vectors of counters, in place, on all ranks. The fast path of BSP programs.
  virtual void sum(std::span<std::uint64_t> values) = 0;
  /// Makes `pointer` (memory that this rank took on its device, or in host memory) known to all:
  /// the result's entry q is rank q's memory as this rank's device can address it, or nullptr where
  /// it has no direct path.
  virtual std::vector<void*> share(void* pointer) = 0;
  /// The same for who publishes: of ranks whose memory is not reached, the mirror here of it.
  virtual Windows share_windows(const Window& window) { return {share(window.data), nullptr}; }
  /// Brings what the ranks show to where the others read it: to the mirrors. A barrier, which comes
  /// after one since the mirrors were last read; what is shown may be changed after the next one.
  /// `is_later`: it may come as late as in the next call.
  virtual void publish(std::span<const Shown> /*shown*/, bool /*is_later*/) { barrier(); }
  /// Between the two, this rank may be using memory of other ranks. After a failure, end_access()
  /// returns when no rank is.
  virtual void begin_access() noexcept = 0;
  virtual void end_access(bool has_failed) noexcept = 0;
  [[nodiscard]] virtual const std::shared_ptr<DeferredFree>& deferred_free() const = 0;
  /// Ends the team with a message. Never throws, may be called at any time, by any thread.
  virtual void abort(const std::string& message) noexcept = 0;
  /// Throws TeamError if the team has been ended.
  virtual void check() const = 0;
  /// Becomes non-zero when the team is ended. Host memory that the devices' kernels can read.
  [[nodiscard]] virtual const std::uint32_t* abort_flag() const = 0;
  /// True where each rank is a process of its own.
  [[nodiscard]] virtual bool spans_processes() const { return false; }
  /// True where the ranks are on several hosts.
  [[nodiscard]] virtual bool spans_hosts() const { return false; }
  /// The rank's host, in the order of the hosts' first ranks.
  [[nodiscard]] virtual int host_of(int /*rank*/) const { return 0; }
  /// True where some rank's memory is not reached from another.
  [[nodiscard]] virtual bool needs_windows() const { return spans_hosts(); }
  /// Sent so far by this rank to other hosts, without what tells where it goes.
  [[nodiscard]] virtual std::uint64_t bytes_between_hosts() const { return 0; }
  /// Of ranks on several hosts: what carries the team of those on this rank's. nullptr elsewhere.
  [[nodiscard]] virtual std::unique_ptr<Transport> of_host() { return nullptr; }
};

class DeviceCollectives;

/// One rank's handle on its team.
class Team {
 public:
  /// `ranks_on_device`: of this team, on this rank's device, this one too. `slice_nanoseconds`: as
  /// TeamOptions has it.
  Team(std::unique_ptr<Transport> transport, const exec::Device& device, bool kernels_may_wait,
       int ranks_on_device, std::uint64_t slice_nanoseconds = 0);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  [[nodiscard]] const exec::Device& device() const { return device_; }
  /// True if kernels of all ranks run at the same time and may wait for each other: every pair has
  /// a direct path, and ranks that share a GPU do so side by side. True on the CPU, where steps are
  /// threads that block, but for ranks that are apart.
  [[nodiscard]] bool kernels_may_wait() const { return kernels_may_wait_; }
  /// Among how many kernels that wait for each other this rank's device is divided: 1 but where
  /// ranks share a GPU side by side.
  [[nodiscard]] int ranks_on_device() const { return ranks_on_device_; }
  /// After how long a kernel that runs until a program is over leaves the device, to be started
  /// again; 0: it stays. Ranks may have different ones: see shortest_slice().
  [[nodiscard]] std::uint64_t slice_nanoseconds() const { return slice_nanoseconds_; }

  /// True where each rank is a process: what ranks show each other must be memory that
  /// exec::allocate() gave for a device, not such as it gave before the first team.
  [[nodiscard]] bool spans_processes() const { return transport_->spans_processes(); }
  /// True where the ranks are on several hosts.
  [[nodiscard]] bool spans_hosts() const { return transport_->spans_hosts(); }
  /// Rank q's host, numbered from 0 in the order of the hosts' first ranks.
  [[nodiscard]] int host_of(int q) const { return transport_->host_of(q); }
  /// The team of the ranks on this rank's host, numbered from 0 in the order of their numbers here;
  /// this team where all are on one host. Its ranks reach each other's memory: what is made of it
  /// (a memory::GlobalArray, say) is spread over the ranks of each host, and there once on every
  /// host. Nothing goes between hosts, so that hosts need not make its calls at the same time; the
  /// ranks of a host make them in one order with those of this team. A rank that fails in one team
  /// ends both. Made at the first call.
  [[nodiscard]] Team& of_host();
  /// True where other ranks' memory is read in windows alone: ranks are on several hosts, or on
  /// GPUs some of which do not reach each other's memory with atomic operations.
  [[nodiscard]] bool needs_windows() const { return transport_->needs_windows(); }
  /// Sent so far by this rank to other hosts, without what tells where it goes.
  [[nodiscard]] std::uint64_t bytes_between_hosts() const {
    return transport_->bytes_between_hosts();
  }
  /// Whether this rank leaves the results that all ranks have to the caller of run_team(): rank 0
  /// of threads, who share one caller; every rank of processes, who have one each.
  [[nodiscard]] bool reports() const { return rank() == 0 || spans_processes(); }

  void barrier() { transport_->barrier(); }
  void check() const { transport_->check(); }
  void abort(const std::string& message) noexcept { transport_->abort(message); }
  [[nodiscard]] const std::uint32_t* abort_flag() const { return transport_->abort_flag(); }
  /// Every rank's memory as this rank's device can address it, nullptr where it cannot, or where a
  /// rank gave nullptr.
  std::vector<void*> share(void* pointer) { return transport_->share(pointer); }
  /// The same where nothing can be done without: throws UsageError if memory cannot be addressed.
  std::vector<void*> share_with_all(void* pointer);
  /// Every rank's memory as copies between devices take it, which also reach where kernels do not.
  /// Of processes nullptr where there is no path.
  std::vector<void*> pointers(const void* pointer);
  /// Windows: every rank's array as this rank's device reads it once its owner has published what
  /// is in it. Where ranks' memory is not reached (needs_windows()) a mirror, of which nothing may
  /// be read that was not published, and to which nothing is written; elsewhere the array itself.
  /// On several hosts arrays are in memory of a CPU device. Throws UsageError as share_with_all(),
  /// MemoryError where mirrors do not fit.
  Windows share_windows(const Window& window);
  /// Brings what the ranks show to where the others read it. A barrier: where all memory is reached
  /// that is all. Between the last reads of what was shown before and this call all ranks must have
  /// met (barrier(), sum()), and the work of their streams on it be done. `shown`, in windows of
  /// this rank, may be changed again once all have met after it. `is_later`: it is not read before
  /// the next call of publish(), nor changed, and may be on its way until then, beside work of the
  /// devices. Throws UsageError for other memory.
  void publish(std::span<const Shown> shown, bool is_later = false) {
    transport_->publish(shown, is_later);
  }
  void sum(std::span<std::uint64_t> values) { transport_->sum(values); }
  [[nodiscard]] Transport& transport() { return *transport_; }
  [[nodiscard]] const std::shared_ptr<DeferredFree>& deferred_free() const {
    return transport_->deferred_free();
  }

  /// Runs body(), in which ranks use each other's memory (collective: bodies should begin with a
  /// barrier). Where body() throws, the team is ended first, and the exception goes on only when no
  /// rank is inside any more: what it unwinds may have been in use.
  template <class F>
  void with_peer_memory(F&& body) {
    transport_->begin_access();
    try {
      body();
    } catch (const std::exception& error) {
      transport_->abort(error.what());
      transport_->end_access(true);
      throw;
    } catch (...) {
      transport_->abort("an exception that is not a std::exception");
      transport_->end_access(true);
      throw;
    }
    transport_->end_access(false);
  }

  /// Element q of the result is rank q's value.
  template <class T>
  std::vector<T> all_gather(const T& value) {
    std::vector<T> result;
    for (auto& part : all_gather_v(std::span<const T>(&value, 1))) result.push_back(part.at(0));
    return result;
  }
  /// Element q of the result is rank q's vector.
  template <class T>
  std::vector<std::vector<T>> all_gather_v(std::span<const T> values) {
    return typed<T>(transport_->exchange(std::vector<std::span<const std::byte>>(
        static_cast<std::size_t>(size()), std::as_bytes(values))));
  }
  /// Sends outgoing[q] to rank q; element q of the result is what rank q sent here.
  template <class T>
  std::vector<std::vector<T>> all_to_all_v(const std::vector<std::vector<T>>& outgoing) {
    require(outgoing.size() == static_cast<std::size_t>(size()),
            "all_to_all_v needs one vector for each rank of the team");
    std::vector<std::span<const std::byte>> bytes;
    bytes.reserve(outgoing.size());
    for (const auto& part : outgoing) bytes.push_back(std::as_bytes(std::span<const T>(part)));
    return typed<T>(transport_->exchange(bytes));
  }
  /// op over the ranks' values, in rank order on every rank: the same bits everywhere.
  template <class T, class Op>
  T all_reduce(T value, Op op) {
    const std::vector<T> values = all_gather(value);
    T result = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) result = op(result, values[i]);
    return result;
  }

  /// Device buffers, in `stream`'s order, on memory of this rank's device: over NCCL where it loads
  /// and each rank has its own GPU, by windows between hosts, else by copies. Sizes are equal on
  /// all ranks for all_gather and all_reduce. recv, size() * bytes long, gets every rank's `bytes`
  /// of send in rank order. In place where send == recv + rank() * bytes.
  void all_gather(const exec::Stream& stream, const void* send, void* recv, std::uint64_t bytes);
  /// recv = op over the ranks of send, `count` elements. In place where send == recv. Deterministic
  /// for one team size.
  void all_reduce(const exec::Stream& stream, const void* send, void* recv, std::uint64_t count,
                  DataType type, ReduceOp op);
  /// Rank q gets bytes [send_offsets[q], send_offsets[q + 1]) of send; recv's piece p, at
  /// recv_offsets[p], comes from rank p.
  void all_to_all_v(const exec::Stream& stream, const void* send,
                    std::span<const std::uint64_t> send_offsets, void* recv,
                    std::span<const std::uint64_t> recv_offsets);
  /// "nccl", "copies", "memory" or "windows": what carries the device collectives. Collective.
  [[nodiscard]] const char* collectives_name();

  /// The in-kernel barrier's memory, made at the first call.
  const BarrierView& barrier_view();

 private:
  template <class T>
  static std::vector<std::vector<T>> typed(const std::vector<std::vector<std::byte>>& parts) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<std::vector<T>> result;
    for (const auto& part : parts) {
      std::vector<T> values(part.size() / sizeof(T));
      if (!values.empty()) std::memcpy(values.data(), part.data(), values.size() * sizeof(T));
      result.push_back(std::move(values));
    }
    return result;
  }

  /// `table`, where it has an entry for each rank that has memory.
  std::vector<void*> checked(std::vector<void*> table, const std::vector<int>& has) const;
  /// Made by the first call.
  DeviceCollectives& collectives();

  std::unique_ptr<Transport> transport_;
  exec::Device device_;
  bool kernels_may_wait_;
  int ranks_on_device_;
  std::uint64_t slice_nanoseconds_;
  std::unique_ptr<DeviceCollectives> collectives_;
  std::unique_ptr<BarrierMemory> barrier_memory_;
  std::unique_ptr<Team> of_host_;
};

/// Of the slice_nanoseconds() of all ranks; 0: kernels stay on all of them. Collective.
[[nodiscard]] std::uint64_t shortest_slice(Team& team);

/// What more CUDA ranks than GPUs do.
enum class Sharing {
  refused,
  turns,  ///< Their kernels take turns.
  /// Each has a part of a GPU's processors, and kernels wait for each other as between GPUs: for
  /// tests of what several GPUs would do. At most 32 streams of CUDA in the process
  /// (CUDA_DEVICE_MAX_CONNECTIONS, which run_team() sets where nobody has): ranks whose streams
  /// share a queue of the device would wait for each other without end.
  side_by_side
};

struct TeamOptions {
  exec::DeviceKind kind = exec::DeviceKind::cpu;
  int ranks = 1;
  int threads =
      0;  ///< CPU threads in all, shared out over the ranks; 0: all that the process may use.
  Sharing sharing = Sharing::refused;
  int first_gpu = 0;  ///< Rank 0's; the other ranks' are those that follow.
  /// No rank reaches another's memory, as on GPUs without a path between them.
  bool are_apart = false;
  /// Where the ranks' devices take their memory (exec::Device::with_memory()); nullptr: where the
  /// process does. Refused of ranks that are processes, who must be able to open each other's.
  std::shared_ptr<exec::MemoryResource> memory{};
  /// Kernels that run until a program is over (BSP programs, asynchronous searches) leave the GPU
  /// after so many nanoseconds, at the next barrier or between two tasks, and are started again
  /// where they were: results are the same. 0: they stay, but on a GPU whose kernels the driver
  /// ends after some seconds (Device::limits_kernel_time()), where they leave after
  /// kSliceUnderLimit.
  std::uint64_t slice_nanoseconds = 0;
};
/// A driver's limit is two seconds or more, and a step or a task is not cut.
inline constexpr std::uint64_t kSliceUnderLimit = 250'000'000;

/// For run_program() of a team that needs windows: throws UsageError, which names the program.
[[noreturn]] void refuse_without_windows(const Team& team, const std::type_info& program);

/// Checks `options` against the machine. Throws UsageError: no ranks, more than kMaxRanks, more
/// CUDA ranks than GPUs, but for ranks that are processes, which count them as they meet; memory of
/// a resource for those.
void validate(const TeamOptions& options);

/// The largest n for which the GPUs 0 to n - 1 all reach each other's memory from their kernels,
/// with atomic operations; 0 without a GPU. Throws DeviceError.
[[nodiscard]] int connected_cuda_devices();

/// Runs work(team) on every rank, each in a thread of its own, and returns when all have. If ranks
/// threw, the exception of the one that failed first is thrown again here.
///
/// In a process that is one rank of several (Processes::current()), a team of as many ranks as
/// there are processes is theirs: work(team) runs here, on this rank, and an exception of another
/// rank is thrown as TeamError. Such a team ends once for all. A team of one rank is this process's
/// own; other sizes and ranks that are apart are refused by UsageError, and so are GPUs where ranks
/// are on several hosts, or have no GPU each and may not share one.
void run_team(const TeamOptions& options, const std::function<void(Team&)>& work);

}  // namespace warren::team
