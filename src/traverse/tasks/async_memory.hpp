// SPDX-License-Identifier: Apache-2.0
// What the host sides of the asynchronous traversals share.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/trace.hpp"
#include "warren/graph/edge_chunks.hpp"
#include "warren/traverse/asynchronous.hpp"

#include "traverse/tasks/task_pieces.hpp"
#include "traverse/tasks/work_tally.hpp"

namespace warren::traverse {

/// Rings as large as the shard may fill them; what is more is spilled.
[[nodiscard]] inline schedule::QueueOptions queue_options(const AsyncOptions& options,
                                                          const graph::Shard& shard,
                                                          EdgeOffset own_edges, double delta) {
  constexpr std::uint64_t kLeast = 1 << 13;
  constexpr std::uint64_t kMostReceived = 1 << 20;
  constexpr std::uint64_t kBatch = 4096;
  schedule::QueueOptions queue;
  const std::uint64_t fitting =
      std::max(kLeast, std::uint64_t{shard.out.count} + own_edges / kTaskEdges);
  queue.local_capacity = options.capacity != 0 ? options.capacity : fitting;
  queue.receive_capacity =
      options.capacity != 0 ? options.capacity : std::min(kMostReceived, fitting);
  queue.most_pushes = kTaskPushes;
  queue.levels = std::max(1u, options.levels);
  queue.delta = delta;
  queue.gather = options.gather;
  queue.batch = options.batch != 0
                    ? options.batch
                    : static_cast<std::uint32_t>(std::min(kBatch, queue.receive_capacity));
  queue.wait = options.wait;
  queue.link_delay_nanoseconds = options.link_delay_nanoseconds;
  queue.injected_delay_nanoseconds = options.injected_delay_nanoseconds;
  return queue;
}

/// Sums of the ranks' tallies.
inline void add_tally(team::Team& team, const exec::Stream& stream, const WorkTally* tally,
                      AsyncReport& report) {
  WorkTally mine;
  exec::copy(stream, &mine, tally, sizeof mine);
  stream.synchronize();
  report.expanded = 0;
  report.edges = 0;
  std::size_t rank = 0;
  for (const WorkTally& part : team.all_gather(mine)) {
    report.expanded += part.expanded;
    report.edges += part.edges;
    report.queue.tasks += part.kept - part.put_back;
    report.queue.rank_tasks[rank++] += part.kept - part.put_back;
  }
}

/// What the rank did, and for each rank what it sent there.
inline void trace_report(const char* name, int rank, double begin, double end,
                         const AsyncReport& report) {
  const auto me = static_cast<std::size_t>(rank);
  const std::size_t ranks = report.queue.rank_tasks.size();
  const auto row = [&](const std::vector<std::uint64_t>& of_pairs) {
    return std::span(of_pairs).subspan(me * ranks, ranks);
  };
  trace_span(
      name, rank, begin, end,
      fmt::format("{{\"tasks\":{},\"rounds\":{},\"redundancy\":{:.3f},"
                  "\"idle_seconds\":{:.6f},\"messages\":[{}],\"message_bytes\":[{}]}}",
                  report.queue.rank_tasks[me], report.queue.rounds, report.redundancy,
                  report.queue.rank_idle_seconds[me], fmt::join(row(report.queue.messages), ","),
                  fmt::join(row(report.queue.bytes), ",")));
}

}  // namespace warren::traverse
