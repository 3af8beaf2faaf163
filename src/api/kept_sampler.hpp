// SPDX-License-Identifier: Apache-2.0
// The sampler that a rank keeps between calls: batches of one size come one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/api/sample.hpp"
#include "warren/graph/edge_chunks.hpp"
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
  bool replace = false, weighted = false, labor = false, layer_dependency = false;
  EdgeTimes edge_times;  ///< The same object: its numbers are not compared.
  bool temporal_last = false, disjoint = false, once = false, edge_ids = true;
  std::uint32_t in_flight = 1;
  friend bool operator==(const SamplerKey&, const SamplerKey&) = default;
};

struct KeptSampler : RankSampler {
  /// `team`: over whose ranks the shard is cut. Where it has ended, a batch ends at its next hop.
  KeptSampler(team::Team& team, const graph::Shard& shard, SamplerKey made_for)
      : key(std::move(made_for)),
        stream(team.device()),
        store(team, shard, store_options(stream, shard, key)),
        sampler(team.device(), store,
                {.fanouts = key.fanouts,
                 .batch = key.batch,
                 .in_flight = key.in_flight,
                 .replace = key.replace,
                 .weighted = key.weighted,
                 .labor = key.labor,
                 .layer_dependency = key.layer_dependency,
                 .temporal = key.edge_times != nullptr,
                 .temporal_last = key.temporal_last,
                 .disjoint = key.disjoint,
                 .once = key.once,
                 .edge_ids = key.edge_ids,
                 .seed = key.seed,
                 .before_hop = [&team] { team.check(); }}),
        packer(team.device()),
        seeds(team.device(), key.batch * key.in_flight) {}

  static sample::StoreOptions store_options(const exec::Stream& stream, const graph::Shard& shard,
                                            const SamplerKey& key) {
    sample::StoreOptions options{.weights = key.weighted,
                                 .cumulative = key.weighted && key.replace};
    if (key.edge_times != nullptr) {
      const graph::EdgeRange own = graph::edge_range(stream, shard.out);
      options.times = std::span(*key.edge_times).subspan(own.first, own.count());
    }
    return options;
  }

  /// Times of seeds on the rank's device, where the sampler asks for some; else nullptr.
  const std::int64_t* put_times(std::span<const std::int64_t> times) {
    if (key.edge_times == nullptr || times.empty()) return nullptr;
    std::int64_t* const there = memory::at_least(stream, seed_times, times.size());
    seed_times.upload(stream, times);
    return there;
  }

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
  memory::Buffer<std::int64_t> seed_times;
  RankRequest request;  ///< Of seeds that are the caller's.
};

/// What the options of sample_neighbours() and sample_batches() ask of a sampler alike.
template <class Options>
SamplerKey key_of(const Options& options) {
  SamplerKey key;
  key.fanouts = options.fanouts;
  key.seed = options.seed;
  key.replace = options.replace;
  key.weighted = options.weighted;
  key.labor = options.labor;
  key.layer_dependency = options.layer_dependency;
  key.edge_times = options.edge_times;
  key.temporal_last = options.temporal_last;
  // What is later for one seed may be early enough for another: each has a tree of its own.
  key.disjoint = options.disjoint || options.edge_times != nullptr;
  key.once = options.once;
  return key;
}

/// Throws UsageError for options that do not go together, and times that are not one each.
template <class Options>
void check_choices(const Graph& graph, const Options& options, std::uint64_t seeds) {
  require(!options.labor || !options.replace,
          "labor: takes different neighbours of a vertex; leave out replace");
  require(
      !options.labor || !options.disjoint,
      "labor: vertices share neighbours, which disjoint trees cannot; leave out one of the two");
  require(!options.labor || options.edge_times == nullptr,
          "labor: vertices share neighbours, which the trees of edge_times cannot; leave out one "
          "of the two");
  require(!options.layer_dependency || options.labor,
          "layer_dependency: is for labor, which is not asked for");
  require(!options.temporal_last || options.edge_times != nullptr,
          "temporal_last: is for edge_times, of which there are none");
  require(!options.temporal_last || (!options.replace && !options.weighted),
          "temporal_last: takes the latest edges and draws none; leave out replace and weighted");
  if (options.edge_times == nullptr) {
    require(options.seed_times.empty(), "seed_times: are for edge_times, of which there are none");
    return;
  }
  require(options.edge_times->size() == graph.edges(),
          fmt::format("edge_times: got {} times, expected one for each of {} edges",
                      options.edge_times->size(), graph.edges()));
  require(options.seed_times.size() == seeds,
          fmt::format("seed_times: got {} times, expected one for each of {} seeds",
                      options.seed_times.size(), seeds));
}

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
  std::uint64_t seeds = options.seeds.size();
  if constexpr (requires { options.seeds_in_place; }) seeds += options.seeds_in_place.size();
  check_choices(graph, options, seeds);
  check_drawn_edges(graph, options);
}

}  // namespace warren::api
