// SPDX-License-Identifier: Apache-2.0
#include "learn/batch/hot_features.hpp"

#include <algorithm>
#include <span>

#include "warren/sample/hot_rows.hpp"

#include "learn/batch/batch_parts.hpp"

namespace warren::learn {
namespace {

// Apart from the purposes of layers.
constexpr std::uint64_t kPresample = 0x70726573;
/// Numbers of batches that are sampled beforehand, apart from those of training and evaluation.
constexpr std::uint64_t kPresampling = kEvaluation << 1;
/// Of each rank, at most.
constexpr std::uint64_t kPresampledBatches = 256;

/// Batches take the features of what edges lead to.
std::vector<std::uint64_t> by_degree(const GraphPair& graphs, std::uint64_t count) {
  std::vector<std::uint64_t> degrees(graphs.in->vertices);
  for (Vertex v = 0; v < graphs.in->vertices; ++v) degrees[v] = graphs.in->degree(v);
  return sample::hot_rows_by_score(degrees, count);
}

/// Seeds such as batches have, of the input: `most` or all, in an order of their own.
std::vector<Vertex> presampled_seeds(const Dataset& dataset, const TrainOptions& options,
                                     std::uint64_t most) {
  const std::uint64_t key = random_key(options.model.seed, 0, kPresample);
  std::vector<Vertex> seeds;
  if (options.links) {
    // The ends of edges in equal steps, and false targets, which may be any vertices.
    const auto& links = options.links->split->training;
    const std::uint64_t each = options.links->negatives + 2;
    const std::uint64_t taken = std::min<std::uint64_t>(links.size(), most / each + 1);
    for (std::uint64_t i = 0; i < taken; ++i) {
      const auto at = static_cast<std::size_t>(__uint128_t{i} * links.size() / taken);
      seeds.push_back(links[at].source);
      seeds.push_back(links[at].target);
      for (std::uint64_t k = 2; k < each; ++k)
        seeds.push_back(static_cast<Vertex>(mix(key ^ mix(i * each + k)) % dataset.vertices));
    }
  } else {
    for (Vertex v = 0; v < dataset.splits.size(); ++v) {
      if (dataset.splits[v] == kTrain) seeds.push_back(v);
    }
  }
  for (std::uint64_t i = seeds.size(); i > 1; --i) std::swap(seeds[i - 1], seeds[mix(key + i) % i]);
  seeds.resize(std::min<std::uint64_t>(seeds.size(), most));
  return seeds;
}

std::vector<std::uint64_t> by_presampling(Context& context, const GraphPair& graphs,
                                          const Dataset& dataset, const sample::GraphStore& store,
                                          const TrainOptions& options, std::uint64_t batch,
                                          std::uint64_t count) {
  team::Team& team = context.team();
  const exec::Stream& stream = context.stream();
  const BatchShares shares{static_cast<std::uint64_t>(team.size()), batch};
  const auto rank = static_cast<std::uint64_t>(team.rank());
  std::vector<Vertex> seeds =
      presampled_seeds(dataset, options, exec::bytes_of(kPresampledBatches * batch, shares.ranks));
  const Places store_id(graphs.input_ids);
  for (Vertex& v : seeds) v = store_id(v);
  sample::SamplerOptions sampling;
  sampling.fanouts = options.sampled->fanouts;
  sampling.batch = batch;
  sampling.seed = options.model.seed;
  sampling.replace = options.sampled->replace;
  sampling.weighted = options.sampled->weighted;
  sample::NeighbourSampler sampler(team.device(), store, sampling);
  sample::UseCounter counter(team.device(), store.vertices());
  memory::Buffer<Vertex> there(team.device(), batch);
  for (std::uint64_t i = 0; i < shares.iterations(seeds.size()); ++i) {
    const auto [at, size] = shares.batch_of(seeds.size(), rank, i);
    if (size == 0) continue;
    exec::copy(stream, there.data(), seeds.data() + at, size * sizeof(Vertex));
    sampler.run(stream, there.data(), size, kPresampling + i * shares.ranks + rank);
    counter.add(stream, sampler);
  }
  return counter.hot_rows(team, stream, count);
}

}  // namespace

std::vector<std::uint64_t> hot_features(Context& context, const GraphPair& graphs,
                                        const Dataset& dataset, const sample::GraphStore& store,
                                        const TrainOptions& options, std::uint64_t seeds) {
  const SampledOptions& sampled = *options.sampled;
  if (sampled.features != memory::Placement::host || sampled.cached <= 0.0) return {};
  const auto count =
      static_cast<std::uint64_t>(sampled.cached * static_cast<double>(graphs.cuts.back()));
  return sampled.cache_by == CacheBy::degree
             ? by_degree(graphs, count)
             : by_presampling(context, graphs, dataset, store, options, seeds, count);
}

}  // namespace warren::learn
