// SPDX-License-Identifier: Apache-2.0
// The sampler that a rank keeps between calls: batches of one size come one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sample/pack.hpp"
#include "warren/sample/sampler.hpp"

#include "api/call.hpp"
#include "api/drawn_edges.hpp"
#include "api/ids.hpp"

namespace warren::api {

/// What a sampler is for.
struct SamplerKey {
  std::vector<std::int64_t> fanouts;
  std::uint64_t batch = 0, seed = 1;
  bool replace = false, weighted = false, disjoint = false, once = false, edge_ids = true;
  std::uint32_t in_flight = 1;
  friend bool operator==(const SamplerKey&, const SamplerKey&) = default;
};

struct KeptSampler : RankSampler {
  KeptSampler(team::Team& team, const graph::Shard& shard, SamplerKey made_for)
      : key(std::move(made_for)),
        stream(team.device()),
        store(team, shard, {.weights = key.weighted, .cumulative = key.weighted && key.replace}),
        sampler(team.device(), store,
                {.fanouts = key.fanouts,
                 .batch = key.batch,
                 .in_flight = key.in_flight,
                 .replace = key.replace,
                 .weighted = key.weighted,
                 .disjoint = key.disjoint,
                 .once = key.once,
                 .edge_ids = key.edge_ids,
                 .seed = key.seed}),
        packer(team.device()),
        seeds(team.device(), key.batch * key.in_flight) {}

  /// The rank's, made anew where it keeps one for something else. One for more batches at a time
  /// will do, and for a single batch one for larger ones: batches of links have now more seeds, now
  /// fewer. Collective.
  static KeptSampler& of(team::Team& team, RankGraph& rank, const SamplerKey& key, bool is_single) {
    auto* kept = dynamic_cast<KeptSampler*>(rank.sampler.get());
    if (kept != nullptr) {
      const SamplerKey& had = kept->key;
      SamplerKey larger = key;
      larger.in_flight = std::max(key.in_flight, had.in_flight);
      if (is_single && key.batch <= had.batch && key.batch >= had.batch / 2)
        larger.batch = had.batch;
      if (larger == had) return *kept;
    }
    rank.sampler.reset();
    rank.sampler = std::make_unique<KeptSampler>(team, rank.shard, key);
    kept = static_cast<KeptSampler*>(rank.sampler.get());
    return *kept;
  }

  /// The same of a rank that samples for itself, for which it keeps one for each key. Collective
  /// where it is made.
  static KeptSampler& own(team::Team& team, RankGraph& rank, const SamplerKey& key) {
    for (const auto& kept : rank.own_samplers) {
      auto* const sampler = dynamic_cast<KeptSampler*>(kept.get());
      if (sampler != nullptr && sampler->key == key) return *sampler;
    }
    rank.own_samplers.push_back(std::make_unique<KeptSampler>(team, rank.shard, key));
    return static_cast<KeptSampler&>(*rank.own_samplers.back());
  }

  SamplerKey key;
  exec::Stream stream;
  sample::GraphStore store;
  sample::NeighbourSampler sampler;
  sample::BatchPacker packer;
  memory::Buffer<Vertex> seeds;
  RankRequest request;  ///< Of seeds that are the caller's.
};

/// Throws as sample_neighbours() says, for what it and sample_batches() have in common.
template <class Options>
void check_sampling(const Graph& graph, const Options& options, std::uint64_t batches) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 48;
  require(batches < kEnd && options.batch < kEnd - batches,
          fmt::format("batch: got {}, expected numbers below 2^48", options.batch));
  if constexpr (requires { options.seeds_in_place; }) {
    require(options.seeds.empty() || options.seeds_in_place.empty(),
            "seeds: got some, and seeds_in_place besides; expected one of the two");
    require(!options.seeds.empty() || !options.seeds_in_place.empty(),
            "seeds: got none, expected one or more");
    require(graph.vertices() > 0, "seeds: got some, but the graph has no vertices");
  } else {
    require(!options.seeds.empty(), "seeds: got none, expected one or more");
  }
  for (const Vertex seed : options.seeds) check_vertex(graph, seed, "seeds");
  check_fanouts(options.fanouts);
  check_drawn_edges(graph, options);
}

}  // namespace warren::api
