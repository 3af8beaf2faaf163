// SPDX-License-Identifier: Apache-2.0
// Teams of threads, and of processes: starting the ranks, and the device side that is made when
// first asked for.
#include "warren/team/team.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <cxxabi.h>
#include <fmt/format.h>

#include "warren/core/interrupt_point.hpp"
#include "warren/core/start_thread.hpp"
#include "warren/team/processes.hpp"

#include "team/barrier_memory.hpp"
#include "team/device_collectives.hpp"
#include "team/peer_access.hpp"
#include "team/process_gpus.hpp"
#include "team/thread_transport.hpp"

namespace warren::team {

Team::Team(std::unique_ptr<Transport> transport, const exec::Device& device, bool kernels_may_wait,
           int ranks_on_device, std::uint64_t slice_nanoseconds)
    : transport_(std::move(transport)),
      device_(device),
      kernels_may_wait_(kernels_may_wait),
      ranks_on_device_(ranks_on_device),
      slice_nanoseconds_(slice_nanoseconds != 0 || !device.limits_kernel_time()
                             ? slice_nanoseconds
                             : kSliceUnderLimit) {}
Team::~Team() = default;

void Team::all_gather(const exec::Stream& stream, const void* send, void* recv,
                      std::uint64_t bytes) {
  collectives().all_gather(stream, send, recv, bytes);
}

void Team::all_reduce(const exec::Stream& stream, const void* send, void* recv, std::uint64_t count,
                      DataType type, ReduceOp op) {
  collectives().all_reduce(stream, send, recv, count, type, op);
}

void Team::all_to_all_v(const exec::Stream& stream, const void* send,
                        std::span<const std::uint64_t> send_offsets, void* recv,
                        std::span<const std::uint64_t> recv_offsets) {
  const auto expected = static_cast<std::size_t>(size()) + 1;
  require(send_offsets.size() == expected && recv_offsets.size() == expected,
          "all_to_all_v needs one offset more than there are ranks");
  collectives().all_to_all_v(stream, send, send_offsets, recv, recv_offsets);
}

std::vector<void*> Team::share_with_all(void* pointer) {
  std::vector<void*> table = share(pointer);
  const std::vector<int> has = all_gather(pointer != nullptr ? 1 : 0);
  // All ranks throw or none, where each of several hosts misses the others'.
  if (spans_hosts()) {
    require(std::ranges::find(has, 1) == has.end(),
            "this reads the memory of other ranks, and has no form for ranks on several hosts yet: "
            "start all ranks on one host");
  }
  return checked(std::move(table), has);
}

std::vector<void*> Team::pointers(const void* pointer) {
  auto* const mine = const_cast<void*>(pointer);
  return spans_processes() ? share(mine) : all_gather(mine);
}

Windows Team::share_windows(const Window& window) {
  Windows made = transport_->share_windows(window);
  // Mirrors of their own are there for whatever device a rank has.
  if (spans_hosts() || !needs_windows())
    made.of = checked(std::move(made.of), all_gather(window.data != nullptr ? 1 : 0));
  return made;
}

std::vector<void*> Team::checked(std::vector<void*> table, const std::vector<int>& has) const {
  for (std::size_t q = 0; q < table.size(); ++q) {
    require(table[q] != nullptr || has[q] == 0 || !spans_processes() || device_.is_cuda(),
            fmt::format("rank {} shows memory that the other processes do not have: take it for a "
                        "CPU device (memory::Buffer, exec::allocate)",
                        q));
    require(table[q] != nullptr || has[q] == 0 || !spans_processes(),
            fmt::format("{} cannot address the memory of rank {}'s GPU: give such as reach each "
                        "other (NVLink) to processes that all see them, and let warren take its "
                        "memory (no allocator of another library)",
                        device_.name(), q));
    require(table[q] != nullptr || has[q] == 0,
            fmt::format("{} cannot address the memory of rank {}'s device, with atomic operations: "
                        "give one device, or such as reach each other (NVLink); bfs, sssp, "
                        "components and pagerank do without",
                        device_.name(), q));
  }
  return table;
}

const char* Team::collectives_name() { return collectives().name(); }

DeviceCollectives& Team::collectives() {
  if (!collectives_) collectives_ = make_device_collectives(*this);
  return *collectives_;
}

const BarrierView& Team::barrier_view() {
  if (!barrier_memory_) barrier_memory_ = std::make_unique<BarrierMemory>(*this);
  return barrier_memory_->view();
}

std::uint64_t shortest_slice(Team& team) {
  constexpr std::uint64_t kStays = ~std::uint64_t{0};
  const std::uint64_t mine = team.slice_nanoseconds();
  const std::uint64_t least = team.all_reduce(
      mine != 0 ? mine : kStays, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
  return least != kStays ? least : 0;
}

Team& Team::of_host() {
  if (!spans_hosts()) return *this;
  // On one host the memory of all is reached, by CPU ranks.
  if (!of_host_) of_host_ = std::make_unique<Team>(transport_->of_host(), device_, true, 1);
  return *of_host_;
}

void refuse_without_windows(const Team& team, const std::type_info& program) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(program.name(), nullptr, nullptr, &status), &std::free);
  throw UsageError(fmt::format(
      "{} does not say what other ranks read of it, and these cannot address the memory of all: {}",
      name ? name.get() : program.name(),
      team.spans_hosts() ? "start all ranks on one host"
                         : "give one device, or such as reach each other (NVLink)"));
}

void validate(const TeamOptions& options) {
  require(options.ranks >= 1,
          fmt::format("a team of {} devices was asked for: it needs at least 1", options.ranks));
  require(
      options.ranks <= kMaxRanks,
      fmt::format("a team of {} devices was asked for: the most is {}", options.ranks, kMaxRanks));
  require(
      options.memory == nullptr || Processes::current() == nullptr,
      "a memory resource was given for ranks that are processes, which open each other's memory "
      "and so take it where all of them can: leave the resource out");
  require(options.threads >= 0,
          fmt::format("{} threads were asked for: give a positive number, or 0 for all",
                      options.threads));
  if (options.kind != exec::DeviceKind::cuda) return;
  const int present = exec::cuda_device_count();
  require(present > 0, fmt::format("a GPU was asked for, but {}", exec::why_no_cuda_device()));
  require(options.first_gpu >= 0 && options.first_gpu < present,
          fmt::format("GPU {} was asked for, but there {} {}, numbered from 0", options.first_gpu,
                      present == 1 ? "is" : "are", present));
  // Processes see when they meet whether each has a GPU.
  const bool is_counted = Processes::current() == nullptr;
  require(!is_counted || options.ranks <= present || options.sharing != Sharing::refused,
          fmt::format("{} GPUs were asked for, but there {} {}; ask for fewer, or let ranks share "
                      "them: share devices",
                      options.ranks, present == 1 ? "is" : "are", present));
}

namespace {

exec::Device device_of_rank(const TeamOptions& options, int rank) {
  if (options.kind == exec::DeviceKind::cuda) {
    return exec::Device::cuda((options.first_gpu + rank) % exec::cuda_device_count())
        .with_memory(options.memory);
  }
  const int threads = options.threads == 0 ? exec::hardware_threads() : options.threads;
  const int share = threads / options.ranks + (rank < threads % options.ranks ? 1 : 0);
  return exec::Device::cpu(share == 0 ? 1 : share).with_memory(options.memory);
}

/// Which memory of others the ranks reach.
Reach reach_of(const TeamOptions& options) {
  if (options.ranks == 1) return Reach::all;
  if (options.are_apart) return Reach::none;
  if (options.kind == exec::DeviceKind::cpu) return Reach::all;
  const int used = std::min(options.ranks, exec::cuda_device_count());
  for (int a = 0; a < used; ++a) {
    for (int b = 0; b < used; ++b) {
      if (!enable_access(device_of_rank(options, a), device_of_rank(options, b)))
        return Reach::some;
    }
  }
  return Reach::all;
}

/// Whether the kernels of all ranks can wait for each other: each has its own GPU or a part of one,
/// and every pair a direct path.
bool may_wait(const TeamOptions& options, Reach reach) {
  return reach == Reach::all &&
         (options.kind == exec::DeviceKind::cpu || options.ranks <= exec::cuda_device_count() ||
          options.sharing == Sharing::side_by_side);
}

/// Among how many of the team's kernels a rank's device is divided.
int kernels_on_device(const TeamOptions& options, int rank) {
  if (options.kind == exec::DeviceKind::cpu || options.sharing != Sharing::side_by_side) return 1;
  const int present = exec::cuda_device_count();
  return (options.ranks - rank % present - 1) / present + 1;
}

/// All ranks run on GPUs or none. Throws UsageError on all.
void check_same_kind(Transport& transport, const TeamOptions& options) {
  std::vector<std::uint64_t> kinds(static_cast<std::size_t>(transport.size()));
  kinds[static_cast<std::size_t>(transport.rank())] =
      options.kind == exec::DeviceKind::cuda ? 1 : 0;
  transport.sum(kinds);
  for (std::size_t q = 1; q < kinds.size(); ++q) {
    require(kinds[q] == kinds[0],
            fmt::format("rank {} runs on {} and rank 0 on {}: give all ranks the same device", q,
                        kinds[q] == 1 ? "a GPU" : "the CPU", kinds[0] == 1 ? "a GPU" : "the CPU"));
  }
}

/// Where the host's work asks (interrupt_point()), the end of the team ends this rank.
void work_until_ended(Team& team, const std::function<void(Team&)>& work) {
  const std::function<void()> check = [&team] { team.check(); };
  const InterruptPoints points(*team.abort_flag(), check);
  work(team);
}

/// This process's rank of a team of processes.
std::unique_ptr<Team> process_team(Processes& processes, const TeamOptions& options) {
  std::unique_ptr<Transport> transport = processes.transport();
  check_same_kind(*transport, options);
  if (options.kind == exec::DeviceKind::cpu) {
    // Between hosts nobody sees what a kernel that is running has written.
    const bool may_wait = !transport->spans_hosts();
    const exec::Device device = exec::Device::cpu(processes.threads(options.threads));
    return std::make_unique<Team>(std::move(transport), device, may_wait, 1,
                                  options.slice_nanoseconds);
  }
  require(!transport->spans_hosts(),
          "ranks on several hosts run on the CPU: GPUs are not there yet; choose the CPU: device "
          "cpu");
  GpuPlace place = place_on_gpu(*transport, options);
  place.device.activate();
  return std::make_unique<Team>(processes.transport_on_gpu(place.device, std::move(place.reaches)),
                                place.device, place.kernels_may_wait, 1, options.slice_nanoseconds);
}

void run_process(Processes& processes, const TeamOptions& options,
                 const std::function<void(Team&)>& work) {
  validate(options);
  require(!options.are_apart,
          "ranks that are processes reach each other's memory: that they are apart is an option of "
          "ranks that are threads");
  require(options.ranks == processes.size(),
          fmt::format("a team of {} ranks was asked for in a process that is rank {} of {} ({}): "
                      "the team has a rank for each process",
                      options.ranks, processes.rank(), processes.size(), processes.launcher()));
  std::unique_ptr<Team> team;
  try {
    team = process_team(processes, options);
  } catch (const UsageError&) {
    throw;  // As all ranks do.
  } catch (const std::exception& error) {
    processes.end(fmt::format("rank {} failed: {}", processes.rank(), error.what()));
    throw;
  }
  try {
    team->check();
    work_until_ended(*team, work);
  } catch (const std::exception& error) {
    team->abort(error.what());
    throw;
  } catch (...) {
    team->abort("an exception that is not a std::exception");
    throw;
  }
}

}  // namespace

void run_team(const TeamOptions& options, const std::function<void(Team&)>& work) {
  if (Processes* processes = Processes::current(); processes != nullptr && options.ranks != 1)
    return run_process(*processes, options, work);
  if (options.sharing == Sharing::side_by_side)
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  validate(options);
  const Reach reach = reach_of(options);
  const bool waits = may_wait(options, reach);
  const exec::Device first = device_of_rank(options, 0);
  const auto hub = std::make_shared<ThreadHub>(
      options.ranks, options.kind == exec::DeviceKind::cuda ? &first : nullptr);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(options.ranks));
  const auto fail = [&](int rank) {
    errors[static_cast<std::size_t>(rank)] = std::current_exception();
    try {
      throw;
    } catch (const std::exception& error) {
      hub->abort(rank, error.what());
    } catch (...) {
      hub->abort(rank, "an exception that is not a std::exception");
    }
  };
  const auto run_rank = [&](int rank) {
    try {
      const exec::Device device = device_of_rank(options, rank);
      device.activate();
      Team team(std::make_unique<ThreadTransport>(hub, rank, options.ranks, device, reach), device,
                waits, kernels_on_device(options, rank), options.slice_nanoseconds);
      try {
        work_until_ended(team, work);
      } catch (...) {
        fail(
            rank);  // Before the team's own parts are taken down: they must know that it has ended.
      }
    } catch (...) {
      fail(rank);
    }
  };
  std::vector<std::thread> threads;
  try {
    // First: a thread that has started must find its place.
    threads.reserve(static_cast<std::size_t>(options.ranks - 1));
    for (int rank = 1; rank < options.ranks; ++rank) {
      threads.push_back(start_thread([&run_rank, rank] { run_rank(rank); },
                                     fmt::format("rank {} of {}", rank + 1, options.ranks),
                                     "give fewer devices"));
    }
    run_rank(0);
  } catch (...) {
    fail(0);  // Those that run must not wait for the ones that did not start.
  }
  for (std::thread& thread : threads) thread.join();
  const int failed = hub->failed_rank();
  if (failed < 0) return;
  const std::exception_ptr& error = errors[static_cast<std::size_t>(failed)];
  if (error == nullptr) hub->check();  // Ended by abort() alone.
  std::rethrow_exception(error);
}

}  // namespace warren::team
