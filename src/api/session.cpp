// SPDX-License-Identifier: Apache-2.0
#include "warren/api/session.hpp"

#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "warren/core/interrupt_point.hpp"
#include "warren/core/log.hpp"
#include "warren/team/processes.hpp"

#include "api/array_memory.hpp"
#include "api/interrupt.hpp"
#include "api/library_words.hpp"
#include "api/teams.hpp"

namespace warren {
namespace {

struct InterruptCheck {
  std::mutex mutex;
  std::shared_ptr<const std::function<bool()>> function;
};

/// Never freed: detached threads may still wait for teams when the process ends.
InterruptCheck& interrupt_check() {
  static auto* check = new InterruptCheck;
  return *check;
}

}  // namespace

void set_interrupt_check(std::function<bool()> check) {
  auto kept = check ? std::make_shared<const std::function<bool()>>(std::move(check)) : nullptr;
  const std::scoped_lock lock(interrupt_check().mutex);
  interrupt_check().function.swap(kept);
}

void set_memory_resource(std::shared_ptr<exec::MemoryResource> resource, DeviceKind kind) {
  exec::set_memory_resource(kind, std::move(resource));
  api::drop_kept_blocks();
}

namespace api {

bool should_interrupt() {
  std::shared_ptr<const std::function<bool()>> check;
  {
    const std::scoped_lock lock(interrupt_check().mutex);
    check = interrupt_check().function;
  }
  return check != nullptr && (*check)();
}

namespace {

/// Milliseconds, a minute: past every limit of a driver.
constexpr double kMostSlice = 60'000;

const char* what(const Place& place) {
  if (place.kind == DeviceKind::cuda) return place.ranks == 1 ? "GPU" : "GPUs";
  return place.ranks == 1 ? "CPU rank" : "CPU ranks";
}

void log_short(const char* why) {
  log_warning(fmt::format(
      "{}: what the session kept of other graphs and tables is freed, and the call runs again",
      why));
}

DeviceKind kind_of(const SessionOptions& options) {
  if (options.device) return *options.device;
  return exec::cuda_device_count() > 0 ? DeviceKind::cuda : DeviceKind::cpu;
}

team::Sharing sharing(const SessionOptions& options) {
  if (options.side_by_side) return team::Sharing::side_by_side;
  return options.share_devices ? team::Sharing::turns : team::Sharing::refused;
}

}  // namespace

void check_processes(const SessionOptions& options, DeviceKind kind) {
  const auto* processes = team::Processes::current();
  if (processes == nullptr) return;
  require(kind == DeviceKind::cpu || processes->hosts() == 1,
          fmt::format("--device cuda: GPUs of several hosts ({}) are not there yet; use --device "
                      "cpu, or start all ranks on one host",
                      processes->launcher()));
  require(!options.no_peer,
          fmt::format("--no-peer: {} started {} processes, which reach each other's memory; give "
                      "--devices to one process",
                      processes->launcher(), processes->size()));
  require(options.devices == 0 || options.devices == processes->size(),
          fmt::format("--devices {}: {} started {} processes, which are a rank each; leave "
                      "--devices out",
                      options.devices, processes->launcher(), processes->size()));
}

std::uint64_t next_owner() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Teams::Teams(const SessionOptions& options)
    : options_(options),
      kind_(kind_of(options)),
      memory_(options.memory != nullptr ? std::make_shared<SessionMemory>(options.memory)
                                        : nullptr),
      process_(getpid()) {
  team::TeamOptions team;
  team.kind = kind_;
  team.ranks = options.devices == 0 ? 1 : options.devices;
  told_in_library_words([&] { check_processes(options, kind_); });
  team.threads = options.threads;
  team.sharing = sharing(options);
  team.are_apart = options.no_peer;
  team.memory = options.memory;
  require(std::isfinite(options.slice_milliseconds) && options.slice_milliseconds >= 0 &&
              options.slice_milliseconds <= kMostSlice,
          fmt::format("slice_milliseconds: got {}, expected 0 (kernels stay) to {:.0f}",
                      options.slice_milliseconds, kMostSlice));
  require(options.slice_milliseconds == 0 || exec::cuda_device_count() > 0,
          "slice_milliseconds: kernels of GPUs run in slices, and there is no GPU here");
  team::validate(team);
}

Teams::~Teams() {
  close();
  if (getpid() != process_) (void)host_.release();  // As its threads, see close().
}

bool Teams::is_closed() const { return is_closed_; }

void Teams::close() {
  if (getpid() != process_) {
    // The threads are the parent's, and so is whoever held the lock: nothing is waited for or
    // freed.
    is_closed_ = true;
    new std::map<Place, Standing>(std::move(teams_));
    return;
  }
  std::map<Place, Standing> teams;  // They end here, after the calls that are under way.
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  teams.swap(teams_);
  if (memory_ != nullptr) memory_->close();
  drop_kept_blocks();
}

DeviceKind Teams::kind(const std::optional<DeviceKind>& asked) const {
  return asked.value_or(kind_);
}

std::shared_ptr<exec::MemoryResource> Teams::memory(DeviceKind kind) const {
  return kind == kind_ ? memory_ : nullptr;
}

int Teams::threads() const {
  if (options_.threads != 0) return options_.threads;
  const auto* processes = team::Processes::current();
  return processes != nullptr ? processes->all_threads() : exec::hardware_threads();
}

int Teams::own_threads() const {
  const auto* processes = team::Processes::current();
  return processes != nullptr ? processes->threads(options_.threads) : options_.threads;
}

int Teams::devices() const {
  const auto* processes = team::Processes::current();
  return processes != nullptr ? processes->size() : options_.devices;
}

void Teams::check_open() const { require(!is_closed_, "the session is closed: make another one"); }

void Teams::check_process() const {
  require(getpid() == process_,
          "this process was forked off one whose warren session has threads, which a fork does not "
          "copy: make a session in the child, or start it by \"spawn\"");
}

std::shared_ptr<StandingTeam> Teams::team_of(const Place& place, std::uint64_t owner) {
  check_process();
  const std::scoped_lock lock(mutex_);
  check_open();
  auto found = teams_.find(place);
  if (found != teams_.end() && found->second.team->has_ended()) {
    teams_.erase(found);
    found = teams_.end();
  }
  if (found == teams_.end()) {
    team::TeamOptions options;
    options.kind = place.kind;
    options.ranks = place.ranks;
    options.first_gpu = place.gpu;
    options.threads = options_.threads;
    options.sharing = sharing(options_);
    options.are_apart = options_.no_peer;
    options.memory = memory(place.kind);
    if (options_.slice_milliseconds > 0)
      options.slice_nanoseconds = static_cast<std::uint64_t>(options_.slice_milliseconds * 1e6) + 1;
    // First the team: where its threads do not start, nothing stands there.
    Standing started{std::make_shared<StandingTeam>(options), false, owner};
    found = teams_.emplace(place, std::move(started)).first;
    if (is_logged(LogLevel::info))
      log_info(fmt::format("started a team of {} {}", place.ranks, what(place)));
  }
  Standing& standing = found->second;
  standing.has_others = standing.has_others || standing.owner != owner;
  standing.owner = owner;
  return standing.team;
}

bool Teams::drop(const Place& place, const std::shared_ptr<StandingTeam>& team) {
  const std::scoped_lock lock(mutex_);
  const auto found = teams_.find(place);
  if (found == teams_.end() || found->second.team != team) return true;
  const bool had_others = found->second.has_others;
  teams_.erase(found);
  return had_others;
}

void Teams::run(const Place& place, std::uint64_t owner, const StandingTeam::Job& job) {
  // Where memory was short: once. A team of processes ends for good.
  bool may_repeat = team::Processes::current() == nullptr;
  for (;;) {
    const std::shared_ptr<StandingTeam> team = team_of(place, owner);
    try {
      if (team->run(job)) return;
      (void)drop(place, team);
    } catch (const MemoryError& error) {
      drop_kept_blocks();
      if (!drop(place, team) || !may_repeat) throw;
      may_repeat = false;
      log_short(error.what());
    } catch (const std::bad_alloc&) {
      if (!drop(place, team) || !may_repeat) throw;
      may_repeat = false;
      log_short("the host has too little memory");
    } catch (...) {
      (void)drop(place, team);
      throw;
    }
  }
}

void Teams::forget(std::uint64_t owner) {
  if (getpid() != process_) return;  // A thread of the parent may have held the lock.
  const std::scoped_lock lock(mutex_);
  for (auto standing = teams_.begin(); standing != teams_.end();) {
    try {
      standing->second.team->post([owner](team::Team&, RankStore& store) { store.forget(owner); });
      ++standing;
    } catch (const std::bad_alloc&) {  // No room for the request: the team's end frees it as well.
      standing = teams_.erase(standing);
    }
  }
}

void Teams::on_host(const std::function<void(exec::ThreadPool&)>& work) {
  on_device([&](const exec::Device& device) { work(device.pool()); });
}

void Teams::on_device(const std::function<void(const exec::Device&)>& work) {
  check_process();
  static thread_local const Teams* inside = nullptr;  // Whose threads the caller has already.
  if (inside == this) return work(*host_);
  const std::scoped_lock lock(host_mutex_);
  {
    const std::scoped_lock usable(mutex_);
    check_open();
  }
  if (host_ == nullptr) host_ = std::make_unique<exec::Device>(exec::Device::cpu(own_threads()));
  struct Inside {
    explicit Inside(const Teams* teams) : before(std::exchange(inside, teams)) {}
    ~Inside() { inside = before; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    const Teams* before;
  } const inside_this(this);
  const std::function<void()> ask = [] {
    if (should_interrupt()) throw Interrupted("the call was interrupted");
  };
  const InterruptPoints points(ask);
  work(*host_);
}

}  // namespace api

Session::Session(const SessionOptions& options) : teams_(std::make_shared<api::Teams>(options)) {}

Session Session::standard() {
  static std::mutex mutex;
  static std::optional<Session> session;
  const std::scoped_lock lock(mutex);
  if (!session || session->is_closed()) session.emplace();
  return *session;
}

void Session::close() { teams_->close(); }
bool Session::is_closed() const { return teams_->is_closed(); }
const SessionOptions& Session::options() const { return teams_->options(); }

}  // namespace warren
