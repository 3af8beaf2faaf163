// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/batch_loader.hpp"

#include <algorithm>

#include "warren/core/error.hpp"
#include "warren/learn/elementwise.hpp"

#include "learn/rows/room.hpp"

namespace warren::learn {
namespace {

sample::SamplerOptions sampler_options(const LoaderOptions& options) {
  sample::SamplerOptions sampler;
  sampler.fanouts = options.fanouts;
  sampler.batch = options.batch;
  sampler.in_flight = options.in_flight;
  sampler.seed = options.seed;
  sampler.replace = options.replace;
  sampler.weighted = options.weighted;
  sampler.edge_weights = !options.blocks.empty() && options.blocks.front().edge_weights;
  return sampler;
}

}  // namespace

BatchLoader::Slot::Slot(const exec::Device& device, std::size_t layers)
    : begin(device), sampled(device), ready(device), used(device) {
  batch.blocks.resize(layers);
}

BatchLoader::BatchLoader(const exec::Device& device, const sample::GraphStore& store,
                         GatherFeatures gather, const Vertex* input_ids,
                         const LoaderOptions& options)
    : stream_(device),
      store_(store.view()),
      gather_(std::move(gather)),
      input_ids_(input_ids),
      options_(options),
      flights_{Flight{{device, store, sampler_options(options)}},
               Flight{{device, store, sampler_options(options)}}},
      slots_{Slot{device, options.fanouts.size()}, Slot{device, options.fanouts.size()}} {
  require(options.blocks.size() == options.fanouts.size(), "a batch has a hop for every layer");
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_.at(i).batch.place = i;
}

void BatchLoader::pad_to(const BatchShape* shape) {
  const std::size_t hops = options_.fanouts.size();
  require(shape == nullptr || (shape->vertices.size() == hops + 1 && shape->edges.size() == hops),
          "a batch's shape has all of its hops");
  shape_ = shape;
}

bool BatchLoader::has_room(const sample::BatchCounts& counts) const {
  if (shape_ == nullptr || counts.vertices[0] == 0) return false;
  for (std::size_t h = 0; h < shape_->vertices.size(); ++h) {
    if (counts.vertices[h] > shape_->vertices[h]) return false;
    // What a product's tasks are follows from what blocks say that they have.
    if (h < shape_->edges.size() && counts.edges[h] > shape_->edges[h]) return false;
  }
  return true;
}

sample::BatchCounts BatchLoader::count(const Vertex* seeds, std::uint64_t count,
                                       std::uint64_t number) {
  for (Slot& slot : slots_) {
    if (slot.is_used) slot.used.synchronize();
  }
  if (count == 0) return {};
  // No batch that is begun asks for those of the flight before the last.
  sample::NeighbourSampler& sampler = flights_[flights_begun_ % flights_.size()].sampler;
  sampler.run(stream_, seeds, count, number);
  return sampler.counts(stream_)[0];
}

BatchLoader::Flight& BatchLoader::flight_of(const Vertex* seeds, std::uint64_t number,
                                            std::uint64_t ahead) {
  if (flights_begun_ != 0) {
    Flight& last = flights_[(flights_begun_ - 1) % flights_.size()];
    const std::size_t b = last.begun;
    if (b < last.counts.size() && number == last.number + b &&
        seeds == last.seeds + b * options_.batch)
      return last;
  }
  Flight& flight = flights_[flights_begun_++ % flights_.size()];
  flight.seeds = seeds;
  flight.number = number;
  flight.begun = 0;
  flight.sampler.run(stream_, seeds, std::min(ahead, options_.batch * options_.in_flight), number);
  flight.counts = flight.sampler.counts(stream_);
  return flight;
}

void BatchLoader::name(Slot& slot, const Vertex* vertices) {
  Batch& batch = slot.batch;
  batch.input_ids = vertices;
  if (input_ids_ == nullptr && !batch.is_padded) return;
  keep_more(stream_.device(), slot.input_ids, batch.feature_rows);
  Vertex* const to = slot.input_ids.data();
  if (input_ids_ != nullptr) {
    copy_named(stream_, batch.vertices, vertices, input_ids_, to);
  } else {
    exec::copy(stream_, to, vertices, batch.vertices * sizeof(Vertex));
  }
  exec::fill_bytes(stream_, to + batch.vertices, 0,
                   (batch.feature_rows - batch.vertices) * sizeof(Vertex));
  batch.input_ids = to;
}

void BatchLoader::add_times(Slot& slot) {
  if (!slot.is_timed) return;
  slot.ready.synchronize();
  times_.sample += slot.sampled.seconds_since(slot.begin);
  times_.gather += slot.ready.seconds_since(slot.sampled);
  slot.is_timed = false;
}

void BatchLoader::start(const Vertex* seeds, std::uint64_t count, std::uint64_t number,
                        const Dropout& dropout, std::uint64_t ahead) {
  require(started_ < taken_ + 2, "a loader makes two batches at a time");
  Slot& slot = slots_[started_++ % slots_.size()];
  if (slot.is_used) slot.used.synchronize();
  add_times(slot);
  const exec::Device& device = stream_.device();
  const std::size_t layers = options_.fanouts.size();
  Batch& batch = slot.batch;
  slot.begin.record(stream_);
  sample::BatchCounts counts;
  sample::SampledBatch sampled;
  if (count != 0) {
    // A new flight takes the place of one that ended with this slot's batch, or before.
    Flight& flight = flight_of(seeds, number, std::max(count, ahead));
    counts = flight.counts[flight.begun];
    sampled = flight.sampler.batch(static_cast<std::uint32_t>(flight.begun++));
  } else {
    sampled.hops.resize(layers);
  }
  batch.seeds = count;
  batch.vertices = counts.vertices[layers];
  batch.edges = 0;
  batch.is_padded = has_room(counts);
  batch.rows = batch.is_padded ? shape_->vertices[0] : count;
  batch.feature_rows = batch.is_padded ? shape_->vertices[layers] : batch.vertices;
  name(slot, sampled.vertices);
  for (std::size_t l = 0; l < layers; ++l) {
    const std::size_t hop = layers - 1 - l;
    const BlockSize size{counts.vertices[hop], counts.vertices[hop + 1], counts.edges[hop]};
    BlockSize least;
    if (batch.is_padded)
      least = {shape_->vertices[hop], shape_->vertices[hop + 1], shape_->edges[hop]};
    batch.blocks[l].make(stream_, store_, sampled.vertices, batch.input_ids, sampled.hops[hop],
                         size, options_.blocks[l], least);
    batch.edges += size.edges;
  }
  slot.sampled.record(stream_);
  keep_more(device, slot.features, options_.type,
            exec::bytes_of(batch.feature_rows, options_.width));
  batch.features = slot.features.data();
  if (batch.vertices != 0 || options_.gathers_together) {
    Dropout of_rows = dropout;
    of_rows.row_ids = batch.input_ids;
    gather_(stream_, sampled.vertices, batch.vertices, of_rows,
            options_.blocks[0].are_sources_scaled ? batch.blocks[0].weights().column : nullptr,
            batch.features);
  }
  if (batch.is_padded)
    exec::fill_bytes(
        stream_, batch.features.from(batch.vertices * options_.width).raw(), 0,
        (batch.feature_rows - batch.vertices) * options_.width * size_of(options_.type));
  slot.ready.record(stream_);
  slot.is_timed = true;
  times_.edges += batch.edges;
  times_.vertices += batch.vertices;
  ++times_.batches;
}

Batch& BatchLoader::take(const exec::Stream& stream) {
  require(taken_ < started_, "no batch was begun");
  Slot& slot = slots_[taken_++ % slots_.size()];
  stream.wait(slot.ready);
  return slot.batch;
}

void BatchLoader::release(const exec::Stream& stream) {
  Slot& slot = slots_[(taken_ - 1) % slots_.size()];
  slot.used.record(stream);
  slot.is_used = true;
}

BatchLoader::Bytes BatchLoader::bytes() const {
  Bytes sum;
  for (const Flight& flight : flights_) sum.samplers += flight.sampler.bytes();
  for (const Slot& slot : slots_) sum.features += slot.features.bytes();
  return sum;
}

LoaderTimes BatchLoader::times() {
  for (Slot& slot : slots_) add_times(slot);
  return times_;
}

}  // namespace warren::learn
