// SPDX-License-Identifier: Apache-2.0
// Sampled neighbourhoods. A rank keeps the last call's sampler: batches of one size come one after
// another.
#include "warren/api/sample.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "warren/core/trace.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sample/verify.hpp"

#include "api/call.hpp"
#include "api/library_words.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

/// What a sampler is for.
struct SamplerKey {
  std::vector<std::int64_t> fanouts;
  std::uint64_t seeds = 0, seed = 1;
  bool replace = false, weighted = false, disjoint = false;
  friend bool operator==(const SamplerKey&, const SamplerKey&) = default;
};

struct KeptSampler : api::RankSampler {
  KeptSampler(team::Team& team, const graph::Shard& shard, SamplerKey made_for)
      : key(std::move(made_for)),
        stream(team.device()),
        store(team, shard, {.weights = key.weighted, .cumulative = key.weighted && key.replace}),
        sampler(team.device(), store,
                {.fanouts = key.fanouts,
                 .batch = key.seeds,
                 .replace = key.replace,
                 .weighted = key.weighted,
                 .disjoint = key.disjoint,
                 .edge_ids = true,
                 .seed = key.seed}),
        seeds(team.device(), key.seeds) {}
  SamplerKey key;
  exec::Stream stream;
  sample::GraphStore store;
  sample::NeighbourSampler sampler;
  memory::Buffer<Vertex> seeds;
};

void check(const Graph& graph, const SampleOptions& options) {
  require(!options.seeds.empty(), "seeds: got none, expected one or more");
  for (const Vertex seed : options.seeds) api::check_vertex(graph, seed, "seeds");
  api::check_fanouts(options.fanouts);
  require(options.edges != Edges::compressed_host,
          "edges: got compressed lists, expected lists on the device or in host memory");
  if (!options.weighted) return;
  require(graph.is_weighted(),
          "weighted: the graph has no weights, expected one with weights of 0 or more");
  const Session session = options.session ? *options.session : Session::standard();
  session.teams()->on_host([&](exec::ThreadPool& pool) { graph.state()->check_weights(pool); });
}

SampleResult sample_with(const Graph& graph, const SampleOptions& options) {
  check(graph, options);
  Call call(graph, api::call_options(std::nullopt, options));
  const SamplerKey key{options.fanouts, options.seeds.size(), options.seed,
                       options.replace, options.weighted,     options.disjoint};
  sample::HostBatch found;
  call.run([&](team::Team& team, RankGraph& rank) {
    auto* kept = dynamic_cast<KeptSampler*>(rank.sampler.get());
    if (kept == nullptr || kept->key != key) {
      rank.sampler.reset();
      rank.sampler = std::make_unique<KeptSampler>(team, rank.shard, key);
      kept = static_cast<KeptSampler*>(rank.sampler.get());
    }
    team.with_peer_memory([&] {
      team.barrier();
      if (team.rank() == 0) {
        kept->seeds.upload(kept->stream, options.seeds);
        kept->stream.synchronize();
        const double begin = now_seconds();
        kept->sampler.run(kept->stream, kept->seeds.data(), key.seeds, options.batch);
        const auto counts = kept->sampler.counts(kept->stream);
        call.info.seconds = now_seconds() - begin;
        found = sample::fetch(kept->stream, kept->sampler, 0, counts[0]);
      }
      team.barrier();  // Others' lists are read until here.
    });
  });
  SampleResult all;
  all.vertices = std::move(found.vertices);
  all.trees = std::move(found.trees);
  for (sample::HostHop& hop : found.hops)
    all.layers.push_back(
        {std::move(hop.row_offsets), std::move(hop.columns), std::move(hop.edge_ids)});
  all.info = call.info;
  return all;
}

}  // namespace

SampleResult sample_neighbours(const Graph& graph, const SampleOptions& options) {
  return api::told_in_library_words([&] { return sample_with(graph, options); });
}

}  // namespace warren
