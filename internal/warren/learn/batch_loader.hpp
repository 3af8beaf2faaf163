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
  std::uint32_t in_flight = 1;        ///< Most batches that are sampled by one call.
  std::uint64_t seed = 1;
  bool replace = false, weighted = false;  ///< As sample::SamplerOptions.
  std::vector<BlockOptions> blocks;        ///< Of layers, the one that reads the features first.
                                           ///< All or none with edge_weights.
  std::uint64_t width = 0;                 ///< Of features.
  NumberType type = NumberType::float32;   ///< They are stored as.
  /// The features are gathered by all ranks together, which begin as many batches in one order: of
  /// batches of nothing, too.
  bool gathers_together = false;
};

/// out[i][c] = the features of vertices[i] (ids in the store) times what dropout has for row i and
/// column c, times scale[i] (nullptr: 1), rounded to the type, after each factor where they are
/// made one after the other; on the stream's device.
using GatherFeatures =
    std::function<void(const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
                       const Dropout& dropout, const float* scale, Numbers out)>;

/// What batches are padded to; one that has more of anything stays as it is.
struct BatchShape {
  std::vector<std::uint64_t> vertices;  ///< Of a batch before the first hop, and after each.
  std::vector<std::uint64_t> edges;     ///< Of each hop: what blocks say that they have.
};

/// A batch on the device. Blocks are in the order of layers: the first one's sources are all of the
/// batch's vertices, the last one's targets its seeds. Padding stands behind: its features are 0,
/// no row of the batch has it as a neighbour, and where the scores of its rows have gradients of 0,
/// it adds nothing to those of the parameters.
struct Batch {
  std::uint64_t seeds = 0, vertices = 0, edges = 0;  ///< Without padding.
  std::uint64_t rows = 0, feature_rows = 0;          ///< Seeds and vertices, with padding.
  bool is_padded = false;
  std::size_t place = 0;  ///< Which of the loader's kPlaces it stands in.
  /// feature_rows x width, after their dropout, and times the first block's weights of columns
  /// where its BlockOptions::are_sources_scaled.
  Numbers features = {};
  const Vertex* input_ids = nullptr;  ///< Of its vertices, of padding any.
  std::vector<Block> blocks;
};

/// Of a loader so far, on this rank.
struct LoaderTimes {
  double sample = 0.0;  ///< Sampling, and what is made of it; seconds of the loader's stream.
  double gather = 0.0;  ///< Of features, with their dropout.
  std::uint64_t edges = 0, vertices = 0, batches = 0;
};

/// Two batches at a time: one is made while the other is used. Each rank has its own; nothing here
/// is collective, but start() where features are gathered together.
class BatchLoader {
 public:
  static constexpr std::size_t kPlaces = 2;
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
  ///
  /// `ahead`: how many seeds stand there for this batch and those that are begun next, full ones
  /// but the last, with the numbers that follow. These may then be sampled already: their seeds
  /// must stay as they are until they are begun.
  void start(const Vertex* seeds, std::uint64_t count, std::uint64_t number,
             const Dropout& dropout = {}, std::uint64_t ahead = 0);
  /// Batches begun from here on have this shape, but those of no seeds or that are larger
  /// anywhere: these have their own. Padded batches in one place have all they point at where the
  /// one before had it, as long as memory_changes() stands still. nullptr: no shape.
  void pad_to(const BatchShape* shape);
  /// How much start() would sample. Synchronises; for times when no batch was begun that is not
  /// released. Throws as start().
  [[nodiscard]] sample::BatchCounts count(const Vertex* seeds, std::uint64_t count,
                                          std::uint64_t number);
  /// The batch begun first that was not taken yet; what is put on `stream` from here on waits for
  /// it.
  Batch& take(const exec::Stream& stream);
  /// What uses the batch last taken has been put on `stream`.
  void release(const exec::Stream& stream);

  /// Waits for what was begun.
  [[nodiscard]] LoaderTimes times();
  [[nodiscard]] const exec::Stream& stream() const { return stream_; }
  /// What samplers hold, and the features of batches.
  struct Bytes {
    std::uint64_t samplers = 0, features = 0;
  };
  [[nodiscard]] Bytes bytes() const;

 private:
  /// Batches sampled by one call.
  struct Flight {
    sample::NeighbourSampler sampler;
    const Vertex* seeds = nullptr;
    std::uint64_t number = 0;  ///< Of the first.
    std::vector<sample::BatchCounts> counts = {};
    std::size_t begun = 0;  ///< Of the batches.
  };
  struct Slot {
    Slot(const exec::Device& device, std::size_t layers);
    Batch batch;
    NumberBuffer features;
    memory::Buffer<Vertex> input_ids;
    exec::Event begin, sampled, ready, used;
    bool is_timed = false, is_used = false;
  };
  void add_times(Slot& slot);
  /// The flight that has the batch next, sampled here where none was.
  Flight& flight_of(const Vertex* seeds, std::uint64_t number, std::uint64_t ahead);
  /// Whether the shape has room for such a batch.
  [[nodiscard]] bool has_room(const sample::BatchCounts& counts) const;
  /// The input's ids of a batch's vertices, and any of its padding.
  void name(Slot& slot, const Vertex* vertices);

  exec::Stream stream_;
  sample::StoreView store_;
  GatherFeatures gather_;
  const Vertex* input_ids_;
  LoaderOptions options_;
  const BatchShape* shape_ = nullptr;
  // What is sampled for batches to come stands beside what the batches in use were made of.
  std::array<Flight, 2> flights_;
  std::array<Slot, kPlaces> slots_;
  std::size_t started_ = 0, taken_ = 0, flights_begun_ = 0;
  LoaderTimes times_;
};

}  // namespace warren::learn
