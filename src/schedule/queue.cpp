// SPDX-License-Identifier: Apache-2.0
// What the distributed queue needs to know before it takes memory.
#include "warren/schedule/queue.hpp"

#include <fmt/format.h>

#include "warren/core/error.hpp"

namespace warren::schedule {
namespace {

/// NVLink carries small messages in about a microsecond; what takes longer is better gathered.
/// As measured by a copy, whose start alone takes some: NVLink and PCIe between peers are below,
/// ways through host memory above.
constexpr double kSlowMicroseconds = 25.0;

void check_capacity(const char* name, std::uint64_t capacity) {
  require(capacity >= 1 && capacity <= detail::kMostCapacity,
          fmt::format("a {} of {} tasks: give from 1 to 2^40", name, capacity));
}

}  // namespace

void validate(const QueueOptions& options, bool on_gpu) {
  check_capacity("local queue", options.local_capacity);
  check_capacity("receive queue", options.receive_capacity);
  check_capacity("spill", options.spill_capacity);
  require(options.most_pushes <= std::uint64_t{1} << 20,
          fmt::format("{} pushes by one task: split it, at most 2^20", options.most_pushes));
  require(options.fetch >= 1 && (!on_gpu || options.fetch <= 1024),
          fmt::format("a fetch of {} tasks: give at least 1, and on a GPU at most 1024",
                      options.fetch));
  require(
      options.push_batch >= 1 && options.push_batch <= 1 << 16,
      fmt::format("pushes of {} tasks for each lane: give from 1 to 65536", options.push_batch));
  require(options.threads_per_processor <= detail::kMostThreadsPerProcessor,
          fmt::format("{} threads of a processor: give up to {}, or 0 for all that it has",
                      options.threads_per_processor, detail::kMostThreadsPerProcessor));
  require(options.levels >= 1 && options.levels <= kMaxLevels,
          fmt::format("{} levels of priority: give from 1 to {}", options.levels, kMaxLevels));
  require(options.delta > 0.0, fmt::format("a delta of {}: give a number above 0", options.delta));
  require(options.slow_bandwidth >= 0.0,
          fmt::format("a slowed link of {} bytes a second: give a number above 0, or 0 for its own",
                      options.slow_bandwidth));
  require(options.batch >= 1 && options.batch <= options.receive_capacity,
          fmt::format("a batch of {} tasks: give at least 1, and at most what the receive queue "
                      "holds, {}",
                      options.batch, options.receive_capacity));
}

std::uint32_t slow_links(const team::Links& links, int rank) {
  std::uint32_t slow = 0;
  for (int q = 0; q < links.size(); ++q) {
    if (q != rank && links.between(rank, q).microseconds > kSlowMicroseconds)
      slow |= 1u << static_cast<unsigned>(q);
  }
  return slow;
}

std::uint32_t slow_links(team::Team& team, Gather gather) {
  if (team.size() == 1 || gather == Gather::never) return 0;
  if (gather == Gather::measured && !team.device().is_cuda()) return 0;  // One memory.
  if (gather == Gather::measured) return slow_links(team::known_links(team), team.rank());
  std::uint32_t others = 0;
  for (int q = 0; q < team.size(); ++q) {
    if (q != team.rank()) others |= 1u << static_cast<unsigned>(q);
  }
  return others;
}

namespace detail {

std::uint64_t pushing_threads(const exec::Device& device, std::uint32_t per_processor) {
  return device.is_cuda() ? static_cast<std::uint64_t>(device.processors()) * per_processor
                          : static_cast<std::uint64_t>(device.pool().size());
}

std::uint64_t ring_places(std::uint64_t capacity, std::uint64_t overshoot) {
  std::uint64_t places = kSegmentTasks;
  // Twice: what all threads push at once, and what each of them pushed before its last look.
  while (places < capacity + 2 * overshoot + kSegmentTasks) places *= 2;
  return places;
}

}  // namespace detail
}  // namespace warren::schedule
