// SPDX-License-Identifier: Apache-2.0
// Device collectives over NCCL: a communicator per rank, made without blocking.
//
// When the team ends, a rank may be blocked in a wait on a stream whose NCCL kernel waits for a
// rank that will never come. A watcher per rank therefore looks at the team's flag and aborts the
// rank's communicator, which ends that kernel; no wait needs to know.
#include "team/nccl_collectives.hpp"

#include <fmt/format.h>

#include "warren/core/log.hpp"
#include "warren/core/start_thread.hpp"
#include "warren/exec/worker.hpp"

#include "team/nccl_library.hpp"

#if WARREN_HAS_NCCL
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#endif

namespace warren::team {

#if WARREN_HAS_NCCL
namespace {

ncclDataType_t nccl_type(DataType type) {
  switch (type) {
    case DataType::int32:
      return ncclInt32;
    case DataType::uint32:
      return ncclUint32;
    case DataType::int64:
      return ncclInt64;
    case DataType::uint64:
      return ncclUint64;
    case DataType::float32:
      return ncclFloat32;
    case DataType::float64:
      return ncclFloat64;
  }
  return ncclFloat32;
}

ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return ncclSum;
    case ReduceOp::minimum:
      return ncclMin;
    case ReduceOp::maximum:
      return ncclMax;
  }
  return ncclSum;
}

class NcclCollectives : public DeviceCollectives {
 public:
  NcclCollectives(Team& team, const ncclUniqueId& id) : team_(team), nccl_(nccl_library()) {
    team.device().activate();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    const ncclResult_t status =
        nccl_.comm_init_rank_config(&communicator_, team.size(), id, team.rank(), &config);
    try {
      settle(status, "ncclCommInitRankConfig");
    } catch (...) {
      end_communicator(true);
      throw;
    }
    try {
      watcher_ = start_thread([this] { watch(); }, "the thread that watches NCCL",
                              "give fewer threads or devices");
    } catch (...) {
      end_communicator(true);
      throw;
    }
  }

  ~NcclCollectives() override {
    {
      const std::scoped_lock lock(mutex_);
      is_stopping_ = true;
    }
    stop_.notify_all();
    watcher_.join();
    end_communicator(has_ended());
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  void all_gather(const exec::Stream& stream, const void* send, void* recv,
                  std::uint64_t bytes) override {
    call("ncclAllGather", [&] {
      return nccl_.all_gather(send, recv, bytes, ncclInt8, communicator_, native(stream));
    });
  }

  void all_reduce(const exec::Stream& stream, const void* send, void* recv, std::uint64_t count,
                  DataType type, ReduceOp op) override {
    call("ncclAllReduce", [&] {
      return nccl_.all_reduce(send, recv, count, nccl_type(type), nccl_op(op), communicator_,
                              native(stream));
    });
  }

  void all_to_all_v(const exec::Stream& stream, const void* send,
                    std::span<const std::uint64_t> send_offsets, void* recv,
                    std::span<const std::uint64_t> recv_offsets) override {
    call("ncclSend and ncclRecv", [&] {
      ncclResult_t status = nccl_.group_start();
      const auto keep_first = [&](ncclResult_t next) {
        if (status == ncclSuccess && next != ncclInProgress) status = next;
      };
      for (int q = 0; q < team_.size(); ++q) {
        const auto i = static_cast<std::size_t>(q);
        if (const std::uint64_t bytes = send_offsets[i + 1] - send_offsets[i]; bytes > 0) {
          keep_first(nccl_.send(static_cast<const std::byte*>(send) + send_offsets[i], bytes,
                                ncclInt8, q, communicator_, native(stream)));
        }
        if (const std::uint64_t bytes = recv_offsets[i + 1] - recv_offsets[i]; bytes > 0) {
          keep_first(nccl_.receive(static_cast<std::byte*>(recv) + recv_offsets[i], bytes, ncclInt8,
                                   q, communicator_, native(stream)));
        }
      }
      const ncclResult_t end = nccl_.group_end();
      return status == ncclSuccess ? end : status;
    });
  }

  [[nodiscard]] const char* name() const override { return "nccl"; }

 private:
  static cudaStream_t native(const exec::Stream& stream) {
    return static_cast<cudaStream_t>(stream.native());
  }

  [[nodiscard]] bool has_ended() const {
    return *static_cast<const volatile std::uint32_t*>(team_.abort_flag()) != 0;
  }

  template <class F>
  void call(const char* what, F&& enqueue) {
    team_.check();
    team_.device().activate();
    const std::scoped_lock lock(mutex_);
    if (communicator_ == nullptr) team_.check();
    settle(enqueue(), what);
  }

  /// Waits until a call that does not block has been taken in. Throws TeamError when the team has
  /// ended, DeviceError when NCCL failed.
  void settle(ncclResult_t status, const char* what) {
    while (status == ncclInProgress) {
      team_.check();
      ncclResult_t now = ncclSuccess;
      const ncclResult_t asked = nccl_.comm_get_async_error(communicator_, &now);
      status = asked == ncclSuccess ? now : asked;
      if (status == ncclInProgress) std::this_thread::yield();
    }
    if (status != ncclSuccess) {
      throw DeviceError(fmt::format("{} failed on {}: {}; WARREN_NCCL=off does without NCCL", what,
                                    team_.device().name(), nccl_.get_error_string(status)));
    }
  }

  void watch() {
    constexpr auto kPeriod = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    while (!stop_.wait_for(lock, kPeriod, [this] { return is_stopping_; })) {
      if (!has_ended()) continue;
      end_communicator(true);
      return;
    }
  }

  void end_communicator(bool is_aborted) noexcept {
    if (communicator_ == nullptr) return;
    const ncclComm_t communicator = std::exchange(communicator_, nullptr);
    try {
      team_.device().activate();
      if (!is_aborted && wait_until_finalized(communicator)) {
        (void)nccl_.comm_destroy(communicator);
        return;
      }
    } catch (const std::exception& error) {
      log_warning(fmt::format("while ending NCCL: {}", error.what()));
    }
    (void)nccl_.comm_abort(communicator);
  }

  /// False if the team ended meanwhile or NCCL failed: then the communicator must be aborted.
  bool wait_until_finalized(ncclComm_t communicator) const {
    ncclResult_t status = nccl_.comm_finalize(communicator);
    while (status == ncclInProgress) {
      if (has_ended() || nccl_.comm_get_async_error(communicator, &status) != ncclSuccess)
        return false;
      std::this_thread::yield();
    }
    return status == ncclSuccess;
  }

  Team& team_;
  const NcclLibrary& nccl_;
  ncclComm_t communicator_ = nullptr;
  std::mutex mutex_;  // Of the communicator and is_stopping_.
  std::condition_variable stop_;
  bool is_stopping_ = false;
  std::thread watcher_;
};

}  // namespace

std::unique_ptr<DeviceCollectives> make_nccl_collectives(Team& team) {
  const NcclLibrary& nccl = nccl_library();
  const auto everywhere = [&](bool mine) {
    return team.all_reduce(mine ? 1 : 0, exec::Minimum{}) == 1;
  };
  if (!everywhere(nccl.reason.empty())) {
    if (team.rank() == 0) log_info(fmt::format("collectives by copies, not NCCL: {}", nccl.reason));
    return nullptr;
  }
  // From here on a failure ends the team: ranks that are being connected to each other can only
  // give up together.
  ncclUniqueId id{};
  if (team.rank() == 0) {
    const ncclResult_t status = nccl.get_unique_id(&id);
    if (status != ncclSuccess) {
      throw DeviceError(fmt::format("ncclGetUniqueId failed: {}; WARREN_NCCL=off does without NCCL",
                                    nccl.get_error_string(status)));
    }
  }
  id = team.all_gather(id).front();
  return std::make_unique<NcclCollectives>(team, id);
}

#else

std::unique_ptr<DeviceCollectives> make_nccl_collectives(Team& team) {
  if (team.rank() == 0) log_info("collectives by copies: this build has no NCCL");
  return nullptr;
}

#endif

}  // namespace warren::team
