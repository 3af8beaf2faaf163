// SPDX-License-Identifier: Apache-2.0
// Timed batches of sampled neighbourhoods, whose seeds are drawn: how fast they come, how large
// they are, and whether they are samples of the graph. sample_batches() takes a caller's seeds, and
// hands the batches out. Messages name options as the command line does ("--batch").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/ranks.hpp"
#include "warren/sample/sampler.hpp"

namespace warren::api {

struct SamplingTrialOptions {
  /// As they are, but for its seed, number of batches in flight, table and edge ids, which follow
  /// from what is told here; with `temporal` it is `disjoint`.
  sample::SamplerOptions sampler{};
  std::uint64_t batches = 64;   ///< Of all ranks together.
  std::uint64_t in_flight = 0;  ///< That a rank samples at a time; 0: on GPUs 4, on the CPU 1.
  std::string table = "auto";   ///< How a batch finds its vertices again: auto, hash, direct.
  /// Of `temporal`: files of edges' times and of seeds' times, or the time of all seeds
  /// (sample/times.hpp).
  std::string times{}, seed_times{};
  std::uint64_t seed = 1;  ///< Of the seeds of batches, and of the draws.
  int repeat = 1;          ///< Timed runs, after one that warms up.
  bool verify = false;     ///< Looks at every batch.
};
/// Throws UsageError for options that are none or do not go together.
void check(const SamplingTrialOptions& options);

/// What the ranks find together.
struct SamplingFigures {
  sample::SamplerOptions sampler;   ///< That ran.
  std::vector<double> seconds;      ///< Of each timed run, on the slowest rank.
  double setup_seconds = 0.0;       ///< Of the store.
  double edges_per_second = 0.0;    ///< Of all ranks, by the median run.
  double batches_per_second = 0.0;  ///< Likewise.
  std::uint64_t graph_edges = 0;
  std::uint64_t edges = 0;                ///< Sampled.
  std::uint64_t vertices = 0;             ///< Of all batches.
  std::uint64_t bytes = 0;                ///< Of the samplers' memory, on all ranks.
  std::uint64_t digest = 0;               ///< Where it was verified: of all batches, in any order.
  std::uint64_t bytes_between_hosts = 0;  ///< As RunInfo's, of preparation and all runs.
  std::string wrong;  ///< The first batch that is no sample of the graph, and why.
};

/// Seeds of a batch are different vertices, a function of the seed and the batch's number. Throws
/// UsageError for a graph without vertices, and batches of more; InputError for files of times;
/// MemoryError.
[[nodiscard]] SamplingFigures measure_sampling(const Graph& graph, const WhereOptions& where,
                                               SamplingTrialOptions options);

}  // namespace warren::api
