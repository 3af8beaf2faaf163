// SPDX-License-Identifier: Apache-2.0
// What the kernels of one call see: the batches in flight, and the hop that they are at.
#pragma once

#include <cstdint>
#include <functional>

#include "warren/exec/launch.hpp"
#include "warren/sample/sampler.hpp"
#include "warren/sample/vertex_table.hpp"

namespace warren::sample::detail {

/// Items (targets or edges) of one task.
inline constexpr std::uint64_t kChunk = 1024;
inline constexpr std::uint32_t kAllNeighbours = 0xffffffffu;

enum Status : std::uint32_t { kGood = 0, kTooManyEdges = 1, kNoSuchSeed = 2 };

/// Arrays of all batches in flight, those of batch b from b times the stride on.
struct Flight {
  BatchCounts* counts = nullptr;
  std::uint64_t batches = 0;
  Vertex* vertices = nullptr;
  std::uint32_t* trees = nullptr;
  std::uint64_t vertex_stride = 0;
  EdgeOffset* begins = nullptr;      ///< Of each target: its first edge.
  std::uint32_t* degrees = nullptr;  ///< Of each target: neighbours to choose from.
  std::uint64_t target_stride = 0;
  std::uint32_t* slots = nullptr;  ///< Of each edge: where its vertex is in the table.
  std::uint64_t slot_stride = 0;
  std::uint64_t* chunk_sums = nullptr;  ///< May be 2^32 and more where edges do not fit.
  std::uint64_t chunk_stride = 0;
  std::uint64_t* table = nullptr;
  std::uint64_t table_entries = 0;
  bool is_direct = false;

  [[nodiscard]] WARREN_HD VertexTable table_of(std::uint64_t batch) const {
    VertexTable result;
    if (is_direct) {
      result.direct = reinterpret_cast<std::uint32_t*>(table) + batch * table_entries;
    } else {
      result.hashed = table + batch * table_entries;
      result.mask = table_entries - 1;
    }
    return result;
  }
};

/// Arrays of one hop.
struct Hop {
  std::uint32_t index = 0;
  std::uint32_t fanout = 0;
  std::uint64_t most_targets = 0;
  std::uint64_t most_edges = 0;
  std::uint64_t most_after = 0;  ///< Vertices after the hop.
  EdgeOffset* row_offsets = nullptr;
  std::uint64_t row_stride = 0;
  Vertex* columns = nullptr;
  EdgeOffset* edge_ids = nullptr;
  float* weights = nullptr;
  std::uint32_t* duplicates = nullptr;
};

/// One task's items [begin, end) of `count`, shared out over the lanes in equal stretches, so that
/// a scan over the lanes is one over the items.
template <class W>
struct Stretch {
  std::uint64_t begin;
  std::uint64_t end;
  WARREN_HD Stretch(const W& worker, std::uint64_t chunk, std::uint64_t count) {
    const std::uint64_t each = (kChunk + worker.size() - 1) / worker.size();
    const std::uint64_t limit = (chunk + 1) * kChunk < count ? (chunk + 1) * kChunk : count;
    begin = chunk * kChunk + worker.lane() * each;
    end = begin + each < limit ? begin + each : limit;
    if (begin > end) begin = end;
  }
};

/// Where a task of a launch of `chunks` tasks a batch is.
struct TaskPlace {
  std::uint64_t batch;
  std::uint64_t chunk;
  WARREN_HD TaskPlace(std::uint64_t task, std::uint64_t chunks)
      : batch(task / chunks), chunk(task % chunks) {}
};

[[nodiscard]] constexpr std::uint64_t chunks_of(std::uint64_t items) {
  return (items + kChunk - 1) / kChunk;
}

/// What run_flight() is told.
struct FlightRun {
  StoreView store;
  Flight flight;
  const Vertex* seeds = nullptr;
  const std::int64_t* times = nullptr;
  std::uint64_t seed_count = 0;
  std::uint64_t batch_seeds = 0;
  std::uint64_t first_batch = 0;
  std::uint64_t seed = 1;
  bool replace = false;
  bool weighted = false;
  bool labor = false;
  bool layer_dependency = false;
  bool temporal_last = false;
  bool disjoint = false;
  bool once = false;
  const Hop* hops = nullptr;
  std::uint32_t hop_count = 0;
  const std::function<void()>* before_hop = nullptr;  ///< SamplerOptions::before_hop.
  std::uint64_t* scratch = nullptr;                   ///< Of choices too large for a worker's own.
  std::uint64_t scratch_words = 0;                    ///< Of each of the kScratchTasks.
  static constexpr std::uint64_t kScratchTasks = 256;
};

/// Bytes that a choice of `fanout` places needs in a worker of `lanes`.
[[nodiscard]] std::uint64_t scratch_bytes(const FlightRun& run, std::uint32_t fanout,
                                          std::uint32_t lanes);
/// The most of it that a worker on `device` has of its own: 96 KiB, or what a GPU's block may have.
[[nodiscard]] std::uint64_t own_scratch(const exec::Device& device);

/// Samples all hops of all batches. Asynchronous.
template <class Backend>
void run_flight(const exec::Stream& stream, const FlightRun& run);

}  // namespace warren::sample::detail
