// SPDX-License-Identifier: Apache-2.0
// Batches for training: sampled, made into blocks, and their features gathered, on a stream of the
// loader's own, so that the next batch is made while one trains.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "warren/learn/block.hpp"
#include "warren/learn/random.hpp"
#include "warren/sample/graph_store.hpp"

namespace warren::learn {

struct LoaderOptions {
  std::vector<std::int64_t> fanouts;  ///< From the seeds outwards; one a layer.
  std::uint64_t batch = 1024;         ///< Most seeds of a batch.
  std::uint64_t seed = 1;
  bool replace = false, weighted = false;  ///< As sample::SamplerOptions.
  std::vector<BlockOptions> blocks;        ///< Of layers, the one that reads the features first.
  std::uint64_t width = 0;                 ///< Of features.
  NumberType type = NumberType::float32;   ///< They are stored as.
};

/// out[i][c] = the features of vertices[i] (ids in the store) times what dropout has for row i and
/// column c, rounded to the type; on the stream's device.
using GatherFeatures =
    std::function<void(const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
                       const Dropout& dropout, Numbers out)>;

/// A batch on the device. Blocks are in the order of layers: the first one's sources are all of the
/// batch's vertices, the last one's targets its seeds.
struct Batch {
  std::uint64_t seeds = 0, vertices = 0, edges = 0;
  Numbers features = {};              ///< vertices x width, after their dropout.
  const Vertex* input_ids = nullptr;  ///< Of its vertices.
  std::vector<Block> blocks;
};

/// Of a loader so far, on this rank.
struct LoaderTimes {
  double sample = 0.0;  ///< Sampling, and what is made of it; seconds of the loader's stream.
  double gather = 0.0;  ///< Of features, with their dropout.
  std::uint64_t edges = 0, vertices = 0, batches = 0;
};

/// Two batches at a time: one is made while the other is used. Each rank has its own; nothing here
/// is collective.
class BatchLoader {
 public:
  /// `store` and what `gather` reads must outlive the loader. `input_ids` (on the device): the
  /// input's id of each of the store's vertices; nullptr: the same. Throws as
  /// sample::NeighbourSampler, MemoryError.
  BatchLoader(const exec::Device& device, const sample::GraphStore& store, GatherFeatures gather,
              const Vertex* input_ids, const LoaderOptions& options);

  /// Begins the batch of `count` seeds (ids in the store, on the device; none: a batch of nothing)
  /// with this number, by which its sample is drawn. Waits until the batch before the last one is
  /// not used any more, and for the sampling (not for the features). `dropout`: of the features, by
  /// their vertices' ids in the input; its `row_ids` are not read. Throws as
  /// sample::NeighbourSampler::counts().
  void start(const Vertex* seeds, std::uint64_t count, std::uint64_t number,
             const Dropout& dropout = {});
  /// The batch begun first that was not taken yet; what is put on `stream` from here on waits for
  /// it.
  Batch& take(const exec::Stream& stream);
  /// What uses the batch last taken has been put on `stream`.
  void release(const exec::Stream& stream);

  /// Waits for what was begun.
  [[nodiscard]] LoaderTimes times();
  [[nodiscard]] const exec::Stream& stream() const { return stream_; }

 private:
  struct Slot {
    Slot(const exec::Device& device, const sample::GraphStore& store,
         const sample::SamplerOptions& options, std::size_t layers);
    sample::NeighbourSampler sampler;
    Batch batch;
    NumberBuffer features;
    memory::Buffer<Vertex> input_ids;
    exec::Event begin, sampled, ready, used;
    bool is_timed = false, is_used = false;
  };
  void add_times(Slot& slot);

  exec::Stream stream_;
  sample::StoreView store_;
  GatherFeatures gather_;
  const Vertex* input_ids_;
  LoaderOptions options_;
  std::array<Slot, 2> slots_;
  std::size_t started_ = 0, taken_ = 0;
  LoaderTimes times_;
};

}  // namespace warren::learn
