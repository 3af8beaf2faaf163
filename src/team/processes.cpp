// SPDX-License-Identifier: Apache-2.0
// A process's membership: the shared memory that it maps, the watch over the other processes, and
// the end. Each process watches all others, so that the first cause is known wherever it is asked
// for: a launcher ends the rest as soon as it sees that one has gone. Of ranks on several hosts
// each watches those of its own host; the hosts tell each other by MPI.
#include "warren/team/processes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "warren/core/log.hpp"
#include "warren/core/start_thread.hpp"
#include "warren/core/stop.hpp"
#include "warren/exec/memory.hpp"

#include "team/host_notices.hpp"
#include "team/hosts.hpp"
#include "team/hosts_transport.hpp"
#include "team/process_arena.hpp"
#include "team/process_control.hpp"
#include "team/process_gpus.hpp"
#include "team/process_meeting.hpp"
#include "team/process_transport.hpp"

namespace warren::team {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How often a process looks at what no descriptor tells.
constexpr milliseconds kPeriod{200};
/// The same of what other hosts tell.
constexpr milliseconds kHostsPeriod{20};
/// What a process has to leave by itself once the team has ended.
constexpr milliseconds kGrace{1500};

std::atomic<Processes*> joined{nullptr};

/// As what the process was started among the ranks of its host.
Launch on_host(Launch launch, const Hosts* hosts) {
  if (hosts == nullptr) return launch;
  launch.rank = hosts->local_rank();
  launch.size = static_cast<int>(hosts->here().size());
  launch.job += fmt::format("/host {}", hosts->host());
  return launch;
}

MeetingRules rules_of(const ProcessOptions& options, Hosts* hosts) {
  MeetingRules rules{options.program, options.command, sizeof(ProcessControl), options.patience};
  rules.ranks = options.launch.size;
  rules.hosts = hosts;
  // The first rank of each host may have waited for its own ranks as long.
  const auto last = Clock::now() + 2 * options.patience;
  rules.look = [last] {
    if (Clock::now() > last) throw Error("the first rank of another host does not answer");
  };
  return rules;
}

}  // namespace

class Processes::Impl {
 public:
  explicit Impl(const ProcessOptions& options)
      : all_(options.launch),
        on_end_(options.on_end),
        parent_(getppid()),
        hosts_(all_.spans_hosts ? std::make_unique<Hosts>(all_) : nullptr),
        launch_(on_host(all_, hosts_.get())),
        rules_(rules_of(options, hosts_.get())),
        meeting_(meet(launch_, rules_)),
        control_(static_cast<ProcessControl*>(meeting_.segment.control())) {
    // The object's pages are 0, and so is what is made here, but for what the first rank sets.
    if (launch_.rank == 0) set_up();
    await_set_up();
    all_threads_ = threads_here();
    if (hosts_ != nullptr) meet_hosts();
    arena_ =
        std::make_shared<ProcessArena>(meeting_.segment.arena(all_.rank),
                                       meeting_.segment.layout().arena_bytes, &control_->has_ended);
    exec::set_memory_resource(exec::DeviceKind::cpu, arena_);
    if (pipe2(wake_.data(), O_CLOEXEC) != 0)
      throw Error(fmt::format("a pipe could not be made ({})", std::strerror(errno)));
    watcher_ =
        start_thread([this] { watch(); }, "the watch over the other ranks", "give fewer --threads");
    on_stop_.emplace(stop_token(), [this] { stop(); });
  }
  ~Impl() { leave(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Leaves the team. Does nothing the second time.
  void leave() noexcept {
    if (!watcher_.joinable()) return;
    if (notices_) notices_->leave();
    // The last one holds the sockets by which the others may watch.
    while (launch_.rank == 0 && !control_->is_over() && !have_all_left())
      std::this_thread::sleep_for(milliseconds(1));
    control_->of(launch_.rank).has_left.store(1, std::memory_order_release);
    control_->wake_all();
    on_stop_.reset();
    (void)close(wake_[1]);
    watcher_.join();
    (void)close(wake_[0]);
    gpus_.reset();
    exec::set_memory_resource(exec::DeviceKind::cpu, nullptr);
    if (hosts_ == nullptr || control_->is_over()) return;
    try {
      hosts_->finish();
    } catch (const std::exception& error) {
      log_warning(error.what());
    }
  }

  /// As one of all ranks.
  [[nodiscard]] const Launch& launch() const { return all_; }
  [[nodiscard]] ProcessControl& control() const { return *control_; }

  /// Ends the team where a process has gone that has not left.
  void look_for_lost() noexcept {
    const std::scoped_lock lock(look_);
    for (int rank = 0; rank < launch_.size; ++rank) {
      const Descriptor& process = meeting_.processes[static_cast<std::size_t>(rank)];
      if (rank == launch_.rank || !process || has_left(rank)) continue;
      pollfd file{process.number(), POLLIN, 0};
      if (poll(&file, 1, 0) > 0 && !has_left(rank)) end_for_lost(rank);
    }
  }
  void end(const std::string& message) noexcept {
    (void)control_->end(all_.rank, message);
    if (notices_) notices_->tend();
  }
  [[nodiscard]] bool may_tell() noexcept {
    if (notices_ && !notices_->may_tell()) return false;
    std::uint32_t nobody = 0;
    return control_->is_telling.compare_exchange_strong(nobody, 1);
  }
  void has_told(int status) noexcept {
    control_->told_status.store(status);
    // A launcher ends the others as soon as this process has gone: they should know why.
    if (notices_ && control_->is_over()) notices_->await_others();
  }
  /// Whether the cause is a process of this host that has gone: of another one, that host tells.
  [[nodiscard]] bool is_lost() const noexcept {
    return control_->is_lost.load() != 0 && control_->ended_by.load() == control_->host;
  }
  [[nodiscard]] std::unique_ptr<Transport> transport() {
    if (hosts_ == nullptr)
      return std::make_unique<ProcessTransport>(*control_, meeting_.segment, launch_.rank,
                                                deferred_free_);
    return std::make_unique<HostsTransport>(*control_, meeting_.segment, *hosts_, *notices_,
                                            deferred_free_);
  }
  [[nodiscard]] std::unique_ptr<Transport> transport_on_gpu(const exec::Device& device,
                                                            std::vector<bool> reaches) {
    if (!gpus_) gpus_.emplace(*control_, launch_.rank, arena_);
    return std::make_unique<ProcessTransport>(
        *control_, meeting_.segment, launch_.rank, deferred_free_,
        ProcessTransport::OnGpu{&*gpus_, device, std::move(reaches)});
  }
  [[nodiscard]] int hosts() const { return hosts_ == nullptr ? 1 : hosts_->count(); }

  /// Threads of a rank whose processors it shares with the ranks that may use them as well.
  [[nodiscard]] int own_threads() const {
    double share = 0.0;
    bool are_same = true;
    const cpu_set_t& mine = control_->of(launch_.rank).cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      int users = 0;
      for (int rank = 0; rank < launch_.size; ++rank)
        users += CPU_ISSET(cpu, &control_->of(rank).cpus) ? 1 : 0;
      are_same = are_same && (users == 0 || users == launch_.size);
      if (CPU_ISSET(cpu, &mine)) share += 1.0 / users;
    }
    if (are_same) return part_of(CPU_COUNT(&mine), launch_);
    constexpr double kRounding = 1e-6;
    return std::max(1, static_cast<int>(share + kRounding));
  }
  /// Of threads for all ranks.
  [[nodiscard]] int own_part_of(int threads) const { return part_of(threads, all_); }
  [[nodiscard]] int all_threads() const { return all_threads_; }

 private:
  [[nodiscard]] static int part_of(int threads, const Launch& launch) {
    const int each = threads / launch.size + (launch.rank < threads % launch.size ? 1 : 0);
    return std::max(1, each);
  }
  /// Processors that a rank of this host may use.
  [[nodiscard]] int threads_here() const {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int rank = 0; rank < launch_.size; ++rank) CPU_OR(&all, &all, &control_->of(rank).cpus);
    return std::max(1, CPU_COUNT(&all));
  }

  /// All ranks of all hosts are there.
  void meet_hosts() {
    notices_.emplace(*hosts_, *control_);
    std::uint64_t threads = launch_.rank == 0 ? static_cast<std::uint64_t>(threads_here()) : 0;
    hosts_->sum({&threads, 1}, [this] { notices_->look(); });
    all_threads_ = static_cast<int>(threads);
  }

  void set_up() {
    auto* const made = new (static_cast<void*>(control_)) ProcessControl;
    made->all_ranks = all_.size;
    made->host = hosts_ == nullptr ? 0 : hosts_->host();
    for (int rank = 0; rank < launch_.size; ++rank) {
      const Member& member = meeting_.members[static_cast<std::size_t>(rank)];
      made->of(rank).process = member.process;
      made->of(rank).rank = rules_.name(rank);
      made->of(rank).cpus = member.cpus;
    }
    std::atomic_ref(made->ranks).store(launch_.size, std::memory_order_release);
  }
  /// Rank 0 says that all ranks have met before it sets up.
  void await_set_up() const {
    const Descriptor& first = meeting_.processes[0];
    while (std::atomic_ref(control_->ranks).load(std::memory_order_acquire) == 0) {
      pollfd file{first.number(), POLLIN, 0};
      // It may have set up, and gone since.
      if (poll(&file, 1, 1) > 0 &&
          std::atomic_ref(control_->ranks).load(std::memory_order_acquire) == 0)
        throw_lost_first(launch_, rules_);
    }
  }

  [[nodiscard]] bool has_left(int rank) const {
    return control_->of(rank).has_left.load(std::memory_order_acquire) != 0;
  }
  void end_for_lost(int rank) noexcept {
    if (!control_->is_over()) control_->is_lost.store(1);
    const ProcessControl::Slot& slot = control_->of(rank);
    std::string why;
    try {
      why = fmt::format(
          "rank {} of {} (process {}) ended without a word: it was killed, by a user "
          "or by the system for want of memory, or it crashed",
          slot.rank, all_.size, slot.process);
    } catch (const std::exception&) {
      // The team ends all the same.
    }
    (void)control_->end(slot.rank, why.empty() ? "a rank ended without a word" : why);
    if (notices_) notices_->tend();
  }
  /// The process is asked to end, maybe since another one has gone: that is the first cause.
  void stop() noexcept {
    look_for_lost();
    try {
      end(std::string("interrupted by ") + signal_name(stop_signal()));
    } catch (const std::exception&) {
      end("interrupted");
    }
  }

  void watch() noexcept {
    std::optional<Clock::time_point> ended;
    bool is_told = false;
    for (;;) {
      if (wait()) return;
      look_for_lost();
      if (notices_) notices_->tend();
      if (getppid() != parent_) end("the process that started the ranks has ended");
      if (!control_->is_over()) continue;
      deferred_free_->end();
      if (!ended) ended = Clock::now();
      if (is_told || Clock::now() - *ended < kGrace) continue;
      is_told = true;
      if (on_end_) on_end_();
    }
  }
  /// For a process to end, or a short time. True: the watch is over.
  [[nodiscard]] bool wait() noexcept {
    std::array<pollfd, kMaxRanks + 1> files{};
    nfds_t count = 0;
    files[count++] = {wake_[0], POLLIN, 0};
    for (int rank = 0; rank < launch_.size && !control_->is_over(); ++rank) {
      const Descriptor& process = meeting_.processes[static_cast<std::size_t>(rank)];
      if (rank != launch_.rank && process && !has_left(rank))
        files[count++] = {process.number(), POLLIN, 0};
    }
    const milliseconds period = notices_ ? kHostsPeriod : kPeriod;
    (void)poll(files.data(), count, static_cast<int>(period.count()));
    return files[0].revents != 0;
  }

  [[nodiscard]] bool have_all_left() const {
    for (int rank = 1; rank < launch_.size; ++rank) {
      if (!has_left(rank)) return false;
    }
    return true;
  }

  const Launch all_;  ///< Among the ranks of all hosts.
  const std::function<void()> on_end_;
  const pid_t parent_;
  const std::unique_ptr<Hosts> hosts_;  ///< nullptr: there is one.
  const Launch launch_;                 ///< Among those of this one.
  const MeetingRules rules_;
  Meeting meeting_;
  ProcessControl* control_;
  std::optional<HostNotices> notices_;  ///< Where there are several hosts.
  int all_threads_ = 1;
  std::shared_ptr<ProcessArena> arena_;
  std::optional<ProcessGpus> gpus_;  ///< Where a team has run on GPUs.
  const std::shared_ptr<DeferredFree> deferred_free_ = std::make_shared<DeferredFree>();
  std::array<int, 2> wake_{-1, -1};  ///< A pipe: closing it ends the watch.
  std::mutex look_;
  std::thread watcher_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

Processes::Processes(const ProcessOptions& options) {
  require(joined.load() == nullptr, "this process is a rank of a team of processes already");
  impl_ = std::make_unique<Impl>(options);
  joined.store(this);
}

Processes::~Processes() {
  impl_->leave();  // First: until then on_end() may ask for this one.
  joined.store(nullptr);
}

Processes* Processes::current() noexcept { return joined.load(); }
int Processes::hosts() const noexcept { return impl_->hosts(); }
int Processes::rank() const noexcept { return impl_->launch().rank; }
int Processes::size() const noexcept { return impl_->launch().size; }
const std::string& Processes::launcher() const noexcept { return impl_->launch().launcher; }

int Processes::threads(int threads) const noexcept {
  return threads == 0 ? impl_->own_threads() : impl_->own_part_of(threads);
}
int Processes::all_threads() const noexcept { return impl_->all_threads(); }

void Processes::end(const std::string& message) noexcept { impl_->end(message); }
bool Processes::has_ended() const noexcept { return impl_->control().is_over(); }
std::string Processes::cause() noexcept {
  impl_->look_for_lost();
  return impl_->control().text();
}
int Processes::failed_rank() const noexcept {
  return has_ended() ? impl_->control().failed_rank : -1;
}

bool Processes::is_lost() const noexcept { return impl_->is_lost(); }

bool Processes::may_tell() noexcept { return impl_->may_tell(); }
void Processes::has_told(int status) noexcept { impl_->has_told(status); }
int Processes::wait_for_told(milliseconds longest) const noexcept {
  const std::atomic<std::int32_t>& status = impl_->control().told_status;
  const auto last = Clock::now() + longest;
  while (status.load() < 0 && Clock::now() < last) std::this_thread::sleep_for(milliseconds(1));
  return status.load();
}

std::unique_ptr<Transport> Processes::transport() { return impl_->transport(); }
std::unique_ptr<Transport> Processes::transport_on_gpu(const exec::Device& device,
                                                       std::vector<bool> reaches) {
  return impl_->transport_on_gpu(device, std::move(reaches));
}

}  // namespace warren::team
