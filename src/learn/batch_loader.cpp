// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/batch_loader.hpp"

#include "warren/core/error.hpp"
#include "warren/learn/elementwise.hpp"

#include "learn/room.hpp"

namespace warren::learn {
namespace {

sample::SamplerOptions sampler_options(const LoaderOptions& options) {
  sample::SamplerOptions sampler;
  sampler.fanouts = options.fanouts;
  sampler.batch = options.batch;
  sampler.seed = options.seed;
  sampler.replace = options.replace;
  sampler.weighted = options.weighted;
  return sampler;
}

}  // namespace

BatchLoader::Slot::Slot(const exec::Device& device, const sample::GraphStore& store,
                        const sample::SamplerOptions& options, std::size_t layers)
    : sampler(device, store, options), begin(device), sampled(device), ready(device), used(device) {
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
      slots_{Slot{device, store, sampler_options(options), options.fanouts.size()},
             Slot{device, store, sampler_options(options), options.fanouts.size()}} {
  require(options.blocks.size() == options.fanouts.size(), "a batch has a hop for every layer");
}

void BatchLoader::add_times(Slot& slot) {
  if (!slot.is_timed) return;
  slot.ready.synchronize();
  times_.sample += slot.sampled.seconds_since(slot.begin);
  times_.gather += slot.ready.seconds_since(slot.sampled);
  slot.is_timed = false;
}

void BatchLoader::start(const Vertex* seeds, std::uint64_t count, std::uint64_t number,
                        const Dropout& dropout) {
  require(started_ < taken_ + 2, "a loader makes two batches at a time");
  Slot& slot = slots_[started_++ % slots_.size()];
  if (slot.is_used) slot.used.synchronize();
  add_times(slot);
  const exec::Device& device = stream_.device();
  const std::size_t layers = options_.fanouts.size();
  Batch& batch = slot.batch;
  slot.begin.record(stream_);
  slot.sampler.run(stream_, seeds, count, number);
  sample::BatchCounts counts;
  sample::SampledBatch sampled;
  if (count != 0) {
    counts = slot.sampler.counts(stream_)[0];
    sampled = slot.sampler.batch(0);
  } else {
    sampled.hops.resize(layers);
  }
  batch.seeds = count;
  batch.vertices = counts.vertices[layers];
  batch.edges = 0;
  batch.input_ids = sampled.vertices;
  if (input_ids_ != nullptr) {
    keep_more(device, slot.input_ids, batch.vertices);
    copy_named(stream_, batch.vertices, sampled.vertices, input_ids_, slot.input_ids.data());
    batch.input_ids = slot.input_ids.data();
  }
  for (std::size_t l = 0; l < layers; ++l) {
    const std::size_t hop = layers - 1 - l;
    const BlockSize size{counts.vertices[hop], counts.vertices[hop + 1], counts.edges[hop]};
    batch.blocks[l].make(stream_, store_, sampled.vertices, batch.input_ids, sampled.hops[hop],
                         size, options_.blocks[l]);
    batch.edges += size.edges;
  }
  slot.sampled.record(stream_);
  keep_more(device, slot.features, options_.type, exec::bytes_of(batch.vertices, options_.width));
  batch.features = slot.features.data();
  if (batch.vertices != 0) {
    Dropout of_rows = dropout;
    of_rows.row_ids = batch.input_ids;
    gather_(stream_, sampled.vertices, batch.vertices, of_rows, batch.features);
  }
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

LoaderTimes BatchLoader::times() {
  for (Slot& slot : slots_) add_times(slot);
  return times_;
}

}  // namespace warren::learn
