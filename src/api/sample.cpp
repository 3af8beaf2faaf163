// SPDX-License-Identifier: Apache-2.0
// A sampled neighbourhood, in host memory.
#include "warren/api/sample.hpp"

#include <utility>

#include "warren/core/trace.hpp"
#include "warren/sample/verify.hpp"

#include "api/kept_sampler.hpp"
#include "api/library_words.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

SampleResult sample_with(const Graph& graph, const SampleOptions& options) {
  api::check_sampling(graph, options, 1);
  api::CallOptions where = api::call_options(std::nullopt, options);
  where.of_host = true;
  Call call(graph, where);
  api::SamplerKey key = api::key_of(options);
  key.batch = options.seeds.size();
  sample::HostBatch found;
  call.run([&](team::Team& team, RankGraph& rank) {
    api::KeptSampler& kept = api::KeptSampler::of(team.of_host(), rank, key, true);
    team.with_peer_memory([&] {
      team.barrier();
      if (team.reports()) {  // Each process samples the same.
        kept.seeds.upload(kept.stream, options.seeds);
        const std::int64_t* const times = kept.put_times(options.seed_times);
        kept.stream.synchronize();
        const double begin = now_seconds();
        kept.sampler.run(kept.stream, kept.seeds.data(), options.seeds.size(), options.batch,
                         times);
        const auto counts = kept.sampler.counts(kept.stream);
        call.info.seconds = now_seconds() - begin;
        found = sample::fetch(kept.stream, kept.sampler, 0, counts[0]);
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
