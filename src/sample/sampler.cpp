// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/sampler.hpp"

#include <algorithm>
#include <string>

#include "warren/core/error.hpp"
#include "warren/exec/dry_run.hpp"

#include "sample/sampler_run.hpp"

namespace warren::sample {
namespace {

using detail::kAllNeighbours;

/// Numbers and places of a batch have 31 bits.
constexpr std::uint64_t kMostItems = std::uint64_t{1} << 31;

void check(const GraphStore& store, const SamplerOptions& options) {
  require(!options.fanouts.empty() && options.fanouts.size() <= kMaxHops,
          "sampling needs from 1 to " + std::to_string(kMaxHops) + " fanouts");
  for (const std::int64_t fanout : options.fanouts) {
    require(fanout == -1 || (fanout >= 1 && fanout < static_cast<std::int64_t>(kMostItems)),
            "a fanout of " + std::to_string(fanout) +
                ": there should be 1 neighbour or more, or -1 for all");
  }
  require(options.batch >= 1 && options.in_flight >= 1, "sampling needs at least one seed a batch");
  require(!options.temporal || options.disjoint,
          "temporal sampling needs disjoint trees: a vertex has the time of its seed");
  require(!options.temporal || store.has_times(), "temporal sampling needs edges with timestamps");
  require(!options.temporal_last || options.temporal,
          "the latest edges are taken of temporal sampling alone");
  require(!options.temporal_last || (!options.replace && !options.weighted),
          "where the latest edges are taken none is drawn, with replacement or by weights");
  require(!options.labor || !options.replace,
          "layer-neighbour sampling takes different neighbours, and cannot replace them");
  require(!options.labor || !options.disjoint,
          "layer-neighbour sampling shares neighbours, which disjoint trees cannot");
  require(!options.layer_dependency || options.labor,
          "a dependency of layers is one of layer-neighbour sampling");
  require(!options.weighted || store.has_weights(), "weighted sampling needs a store with weights");
  require(!options.edge_weights || store.has_edge_weights(),
          "weights of sampled edges need a store that shares them");
  require(!options.weighted || !options.replace || store.has_cumulative(),
          "weighted sampling with replacement needs a store with sums of weights");
}

/// a times b, no more than the largest number.
std::uint64_t times_at_most(std::uint64_t a, std::uint64_t b) { return exec::bytes_of(a, b); }

}  // namespace

namespace detail {

std::uint64_t scratch_bytes(const FlightRun& run, std::uint32_t fanout, std::uint32_t lanes) {
  if (fanout == kAllNeighbours || run.replace) return 0;
  if (run.weighted || run.labor) return keyed_bytes(fanout, lanes);
  return fanout > kFewDraws ? path_doubling_bytes(fanout) : 0;
}

std::uint64_t own_scratch(const exec::Device& device) {
  constexpr std::uint64_t kMost = std::uint64_t{96} << 10;
  if (!device.is_cuda()) return kMost;
  return std::min<std::uint64_t>(kMost, device.limits().shared_block_bytes);
}

}  // namespace detail

NeighbourSampler::NeighbourSampler(const exec::Device& device, const GraphStore& store,
                                   const SamplerOptions& options)
    : options_(options), store_(store.view()), edges_(store.edges()) {
  check(store, options);
  plan(store);
  take(device);
}

void NeighbourSampler::plan(const GraphStore& store) {
  const std::uint64_t max_degree = store.max_degree();
  std::uint64_t vertices = options_.batch;
  std::uint64_t drawing = vertices;  // Targets whose neighbours are drawn.
  for (const std::int64_t asked : options_.fanouts) {
    HopPlan hop;
    hop.targets = vertices;
    const bool takes_all =
        asked < 0 || (!options_.replace && static_cast<std::uint64_t>(asked) >= max_degree);
    hop.fanout = takes_all ? kAllNeighbours : static_cast<std::uint32_t>(asked);
    const std::uint64_t each = takes_all ? max_degree : hop.fanout;
    hop.edges = times_at_most(drawing, each);
    if (!options_.disjoint && !(options_.replace && !takes_all)) {
      // Different vertices have no more edges than there are; seeds may be repeated.
      hop.edges = std::min(hop.edges, store.edges() + times_at_most(options_.batch, each));
    }
    if (options_.max_edges != 0) hop.edges = std::min(hop.edges, options_.max_edges);
    hop.vertices_after = vertices + hop.edges;
    if (!options_.disjoint)
      hop.vertices_after = std::min(hop.vertices_after, store.vertices() + options_.batch);
    require(hop.edges < kMostItems && hop.vertices_after < kMostItems,
            "hop " + std::to_string(plan_.size() + 1) + " of a batch of " +
                std::to_string(options_.batch) + " could have " + std::to_string(hop.edges) +
                " edges, more than 2^31: ask for smaller batches or fanouts, or set a limit");
    plan_.push_back(hop);
    vertices = hop.vertices_after;
    drawing = options_.once ? std::min(hop.edges, vertices) : vertices;
  }
}

void NeighbourSampler::take(const exec::Device& device) {
  const std::uint64_t flights = options_.in_flight;
  std::uint64_t most_edges = 0;
  for (const HopPlan& hop : plan_) most_edges = std::max(most_edges, hop.edges);
  const std::uint64_t most_targets = plan_.back().targets;
  chunks_ = std::max(detail::chunks_of(most_edges), detail::chunks_of(most_targets));
  const auto all = [&](std::uint64_t each) { return times_at_most(each, flights); };

  if (!options_.disjoint) {
    constexpr std::uint64_t kLeast = 64;
    std::uint64_t hashed = kLeast;
    while (hashed < 2 * most_vertices()) hashed *= 2;
    using Table = SamplerOptions::Table;
    is_direct_ = options_.table == Table::direct ||
                 (options_.table == Table::automatic && store_.vertices() <= 2 * hashed);
    table_entries_ = is_direct_ ? std::max<std::uint64_t>(store_.vertices(), 1) : hashed;
    take_table(device, all(table_entries_));
    if (!is_direct_) slots_ = memory::Buffer<std::uint32_t>(device, all(most_edges));
  } else {
    trees_ = memory::Buffer<std::uint32_t>(device, all(most_vertices()));
  }
  counts_ = memory::Buffer<BatchCounts>(device, flights);
  vertices_ = memory::Buffer<Vertex>(device, all(most_vertices()));
  begins_ = memory::Buffer<EdgeOffset>(device, all(most_targets));
  degrees_ = memory::Buffer<std::uint32_t>(device, all(most_targets));
  chunk_sums_ = memory::Buffer<std::uint64_t>(device, all(chunks_));
  for (const HopPlan& hop : plan_) {
    HopBuffers buffers;
    buffers.row_offsets = memory::Buffer<EdgeOffset>(device, all(hop.targets + 1));
    buffers.columns = memory::Buffer<Vertex>(device, all(hop.edges));
    if (options_.edge_ids) buffers.edge_ids = memory::Buffer<EdgeOffset>(device, all(hop.edges));
    if (options_.edge_weights) buffers.weights = memory::Buffer<float>(device, all(hop.edges));
    buffers.duplicates = memory::Buffer<std::uint32_t>(device, all(hop.vertices_after));
    hops_.push_back(std::move(buffers));
  }
  // The largest choice's scratch, where a worker has too little of its own.
  constexpr std::uint32_t kLanes = 256;
  detail::FlightRun run;
  run.weighted = options_.weighted;
  run.labor = options_.labor;
  run.replace = options_.replace;
  std::uint64_t scratch = 0;
  for (const HopPlan& hop : plan_)
    scratch = std::max(scratch, detail::scratch_bytes(run, hop.fanout, kLanes));
  if (scratch > detail::own_scratch(device))
    scratch_ = memory::Buffer<std::uint64_t>(
        device, times_at_most((scratch + 7) / 8, detail::FlightRun::kScratchTasks));
}

void NeighbourSampler::take_table(const exec::Device& device, std::uint64_t entries) {
  try {
    table_ = memory::Buffer<std::uint64_t>(device, is_direct_ ? entries / 2 + 1 : entries);
  } catch (const MemoryError& error) {
    const std::string each = std::to_string(table_entries_);
    std::throw_with_nested(MemoryError(device.name(), error.bytes_asked(), error.bytes_free(),
                                       "for " +
                                           (is_direct_ ? "the table of all " + each + " vertices"
                                                       : "the hash table of " + each + " entries") +
                                           " for each of " + std::to_string(options_.in_flight) +
                                           " batches in flight"));
  }
}

void NeighbourSampler::run(const exec::Stream& stream, const Vertex* seeds, std::uint64_t count,
                           std::uint64_t first_batch, const std::int64_t* times) {
  const std::uint64_t batches = (count + options_.batch - 1) / options_.batch;
  require(batches <= options_.in_flight,
          std::to_string(count) + " seeds are more than the " + std::to_string(options_.in_flight) +
              " batches of " + std::to_string(options_.batch) + " that the sampler holds");
  require(count == 0 || seeds != nullptr, "sampling needs seeds");
  require(!options_.temporal || count == 0 || times != nullptr,
          "temporal sampling needs the seeds' times");
  require(first_batch < TargetDraws::kMostBatches - batches, "batch numbers are below 2^48");
  batches_ = static_cast<std::uint32_t>(batches);
  exec::fill_bytes(stream, counts_.data(), 0, counts_.bytes());
  if (count == 0) return;

  detail::FlightRun run;
  run.store = store_;
  run.flight = {counts_.data(),     batches,
                vertices_.data(),   trees_.data(),
                most_vertices(),    begins_.data(),
                degrees_.data(),    plan_.back().targets,
                slots_.data(),      slots_.size() / options_.in_flight,
                chunk_sums_.data(), chunks_,
                table_.data(),      table_entries_,
                is_direct_};
  std::vector<detail::Hop> flying;
  for (std::uint32_t h = 0; h < plan_.size(); ++h) {
    const HopPlan& planned = plan_[h];
    const HopBuffers& buffers = hops_[h];
    flying.push_back({h, planned.fanout, planned.targets, planned.edges, planned.vertices_after,
                      buffers.row_offsets.data(), planned.targets + 1, buffers.columns.data(),
                      buffers.edge_ids.data(), buffers.weights.data(), buffers.duplicates.data()});
    exec::fill_bytes(stream, buffers.duplicates.data(), 0,
                     batches * planned.vertices_after * sizeof(std::uint32_t));
  }
  if (!options_.disjoint) {
    const std::uint64_t bytes = is_direct_ ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
    exec::fill_bytes(stream, table_.data(), 0xff, batches * table_entries_ * bytes);
  }
  run.seeds = seeds;
  run.times = options_.temporal ? times : nullptr;
  run.seed_count = count;
  run.batch_seeds = options_.batch;
  run.first_batch = first_batch;
  run.seed = options_.seed;
  run.replace = options_.replace;
  run.weighted = options_.weighted;
  run.labor = options_.labor;
  run.layer_dependency = options_.layer_dependency;
  run.temporal_last = options_.temporal_last;
  run.disjoint = options_.disjoint;
  run.once = options_.once;
  run.hops = flying.data();
  run.hop_count = hops();
  if (options_.before_hop) run.before_hop = &options_.before_hop;
  run.scratch = scratch_.data();
  run.scratch_words = scratch_.size() / detail::FlightRun::kScratchTasks;
  exec::with_backend(stream.device(),
                     [&](auto backend) { detail::run_flight<decltype(backend)>(stream, run); });
}

SampledBatch NeighbourSampler::batch(std::uint32_t b) const {
  require(b < batches_, "the last call had " + std::to_string(batches_) + " batches");
  SampledBatch result;
  result.vertices = vertices_.data() + b * most_vertices();
  if (options_.disjoint) result.trees = trees_.data() + b * most_vertices();
  result.counts = counts_.data() + b;
  for (std::size_t h = 0; h < plan_.size(); ++h) {
    const HopPlan& planned = plan_[h];
    const HopBuffers& buffers = hops_[h];
    SampledHop hop;
    hop.row_offsets = buffers.row_offsets.data() + b * (planned.targets + 1);
    hop.columns = buffers.columns.data() + b * planned.edges;
    if (options_.edge_ids) hop.edge_ids = buffers.edge_ids.data() + b * planned.edges;
    if (options_.edge_weights) hop.weights = buffers.weights.data() + b * planned.edges;
    hop.duplicates = buffers.duplicates.data() + b * planned.vertices_after;
    result.hops.push_back(hop);
  }
  return result;
}

BatchCounts NeighbourSampler::most_counts() const {
  BatchCounts most{};
  std::uint64_t vertices = std::min(options_.batch, store_.vertices());
  most.vertices[0] = static_cast<std::uint32_t>(vertices);
  for (std::size_t h = 0; h < plan_.size(); ++h) {
    const HopPlan& hop = plan_[h];
    std::uint64_t edges = hop.edges;
    if (hop.fanout != kAllNeighbours) edges = std::min(edges, vertices * hop.fanout);
    if (!options_.replace || hop.fanout == kAllNeighbours) edges = std::min(edges, edges_);
    vertices = std::min(vertices + edges, store_.vertices());
    most.edges[h] = static_cast<std::uint32_t>(edges);
    most.vertices[h + 1] = static_cast<std::uint32_t>(vertices);
  }
  return most;
}

std::vector<BatchCounts> NeighbourSampler::counts(const exec::Stream& stream) const {
  if (exec::DryRun::current() != nullptr) return std::vector(batches_, most_counts());
  std::vector<BatchCounts> counts(batches_);
  counts_.download(stream, counts);
  stream.synchronize();
  for (std::size_t b = 0; b < counts.size(); ++b) {
    require(counts[b].status != detail::kNoSuchSeed,
            "batch " + std::to_string(b) +
                " of the call has a seed that is no vertex: ids are "
                "below " +
                std::to_string(store_.vertices()));
    require(counts[b].status != detail::kTooManyEdges,
            "batch " + std::to_string(b) + " of the call has " + std::to_string(counts[b].needed) +
                " sampled edges in one hop, more than the "
                "limit of " +
                std::to_string(options_.max_edges));
  }
  return counts;
}

std::uint64_t NeighbourSampler::bytes() const {
  std::uint64_t total = counts_.bytes() + vertices_.bytes() + trees_.bytes() + begins_.bytes() +
                        degrees_.bytes() + slots_.bytes() + chunk_sums_.bytes() + table_.bytes() +
                        scratch_.bytes();
  for (const HopBuffers& hop : hops_) {
    total += hop.row_offsets.bytes() + hop.columns.bytes() + hop.edge_ids.bytes() +
             hop.weights.bytes() + hop.duplicates.bytes();
  }
  return total;
}

}  // namespace warren::sample
