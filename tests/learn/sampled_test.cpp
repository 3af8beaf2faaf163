// SPDX-License-Identifier: Apache-2.0
// Sampled batches: their blocks, models over them, and trainings.
#include <algorithm>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/learn/batch_loader.hpp"

#include "learn/problems.hpp"

namespace warren::learn {
namespace {

using fixtures::Problem;
using fixtures::problem;
using fixtures::quick;
using fixtures::ranks;
using fixtures::train_on;
using fixtures::Trained;
using reference::Values;

/// A block's matrix in host memory.
struct HostMatrix {
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
};
HostMatrix fetch(const exec::Stream& stream, const BlockMatrix& matrix) {
  HostMatrix host;
  if (matrix.view.rows == 0) return host;
  host.offsets.resize(matrix.view.rows + 1);
  exec::copy(stream, host.offsets.data(), matrix.view.offsets,
             host.offsets.size() * sizeof(EdgeOffset));
  host.columns.resize(matrix.entries);
  if (matrix.entries != 0)
    exec::copy(stream, host.columns.data(), matrix.view.column_ids,
               matrix.entries * sizeof(Vertex));
  stream.synchronize();
  return host;
}
std::vector<float> fetch(const exec::Stream& stream, const float* values, std::uint64_t count) {
  std::vector<float> host(count);
  if (count != 0) exec::copy(stream, host.data(), values, count * sizeof(float));
  stream.synchronize();
  return host;
}

/// What a block must be, of what the sampler drew.
void check_block(const exec::Stream& stream, const graph::Graph& graph, const Block& block,
                 const std::vector<Vertex>& vertices, const BlockOptions& options,
                 std::int64_t fanout) {
  const BlockSize size = block.size();
  const HostMatrix out = fetch(stream, block.out());
  const HostMatrix in = fetch(stream, block.in());
  ASSERT_EQ(out.offsets.back(), out.columns.size());
  ASSERT_EQ(in.columns.size(), out.columns.size());
  ASSERT_EQ(block.in().view.rows, size.sources);
  std::vector<std::vector<Vertex>> expected(size.sources);
  const std::uint64_t loops = options.self_loops ? 1 : 0;
  for (Vertex i = 0; i < size.targets; ++i) {
    const auto list = graph.neighbours(vertices[i]);
    const std::uint64_t sampled =
        fanout < 0 ? list.size()
                   : std::min<std::uint64_t>(list.size(), static_cast<std::uint64_t>(fanout));
    ASSERT_EQ(out.offsets[i + 1ull] - out.offsets[i], sampled + loops);
    for (EdgeOffset e = out.offsets[i]; e < out.offsets[i + 1ull]; ++e) {
      const Vertex j = out.columns[e];
      ASSERT_LT(j, size.sources);
      expected[j].push_back(i);
      if (loops != 0 && e == out.offsets[i]) {
        ASSERT_EQ(j, i);
        continue;
      }
      ASSERT_TRUE(std::binary_search(list.begin(), list.end(), vertices[j]));
    }
  }
  for (Vertex j = 0; j < size.sources; ++j) {
    const std::vector<Vertex> found(
        in.columns.begin() + static_cast<std::ptrdiff_t>(in.offsets[j]),
        in.columns.begin() + static_cast<std::ptrdiff_t>(in.offsets[j + 1ull]));
    ASSERT_EQ(found, expected[j]) << "source " << j;
  }
  if (!options.has_weights) return;
  const auto row = fetch(stream, block.weights().row, size.targets);
  for (Vertex i = 0; i < size.targets; ++i) {
    const auto degree = static_cast<float>(graph.degree(vertices[i]));
    const auto sampled = static_cast<float>(out.offsets[i + 1ull] - out.offsets[i] - loops);
    float weight = sampled == 0.0f ? 0.0f : degree / sampled;
    if (options.weighting == Weighting::mean) weight = sampled == 0.0f ? 0.0f : 1.0f / sampled;
    if (options.weighting == Weighting::symmetric) weight /= std::sqrt(degree + 1.0f);
    ASSERT_NEAR(row[i], weight, 1e-5f * (1.0f + weight));
  }
}

/// Blocks of two hops from all vertices and from a few, which may come twice.
void check_blocks(const team::TeamOptions& options) {
  auto graphs = fixtures::small_graphs();
  graphs.push_back({"hub", fixtures::star(3000, true)});
  for (const auto& named : graphs) {
    SCOPED_TRACE(named.name);
    const GraphPair pair = fixtures::pair_of(named.graph, 1);
    team::run_team(options, [&](team::Team& team) {
      const exec::Stream stream(team.device());
      const graph::Shard shard = graph::make_shard(team, {pair.out, nullptr, pair.cuts});
      const sample::GraphStore store(team, shard);
      std::vector<Vertex> all;
      for (Vertex v = 0; v < named.graph.vertices; ++v) all.push_back(v);
      for (const bool is_twice : {false, true}) {
        if (is_twice) all = {all.front(), all.back(), all.front()};
        for (const Weighting weighting : {Weighting::sum, Weighting::mean, Weighting::symmetric}) {
          const std::vector<std::int64_t> fanouts = {2, weighting == Weighting::mean ? 3 : -1};
          sample::SamplerOptions sampling;
          sampling.fanouts = fanouts;
          sampling.batch = all.size();
          sample::NeighbourSampler sampler(team.device(), store, sampling);
          const auto seeds = testing_support::on_device(stream, all);
          sampler.run(stream, seeds.data(), all.size(), 3);
          const auto counts = sampler.counts(stream)[0];
          const auto batch = sampler.batch(0);
          std::vector<Vertex> vertices(counts.vertices[2]);
          exec::copy(stream, vertices.data(), batch.vertices, vertices.size() * sizeof(Vertex));
          stream.synchronize();
          Block block;
          for (std::size_t hop = 0; hop < 2; ++hop) {
            const BlockSize size{counts.vertices[hop], counts.vertices[hop + 1], counts.edges[hop]};
            const BlockOptions made{weighting, true, weighting == Weighting::sum && hop == 1, true};
            block.make(stream, store.view(), batch.vertices, batch.vertices, batch.hops[hop], size,
                       made);
            check_block(stream, named.graph, block, vertices, made, fanouts[hop]);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    });
  }
}

TEST(Blocks, AreWhatWasSampled) { check_blocks(ranks(1)); }
TEST(BlocksCuda, AreWhatWasSampled) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_blocks(gpus.front());
}

TrainOptions in_batches(ModelKind kind, std::int64_t fanout, std::uint64_t batch) {
  TrainOptions options = quick(kind);
  options.sampled.emplace();
  options.sampled->fanouts.assign(options.model.layers, fanout);
  options.sampled->batch = batch;
  return options;
}

/// One batch with all neighbours is the whole graph's epoch.
void check_whole(const std::vector<team::TeamOptions>& teams) {
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const bool is_directed : {false, true}) {
      SCOPED_TRACE(name_of(kind) + (is_directed ? ", directed" : ""));
      const Problem p = problem(is_directed, false, kind == ModelKind::sage && is_directed);
      TrainOptions whole = quick(kind);
      whole.epochs = 4;
      // Norms over a batch are others than over all vertices.
      whole.model.norm = kind == ModelKind::gcn ? NormKind::layer : NormKind::none;
      whole.optimizer.kind = OptimizerKind::sgd;
      whole.optimizer.rate = 0.002f;
      if (kind == ModelKind::sage && !is_directed) whole.model.aggregate = SageAggregate::max;
      TrainOptions batches = in_batches(kind, -1, 600);
      batches.epochs = whole.epochs;
      batches.model = whole.model;
      batches.optimizer = whole.optimizer;
      batches.allow_tf32 = false;
      const Trained expected = train_on(p, whole, 1);
      for (const auto& team : teams) {
        batches.sampled->features = team.ranks == 2   ? memory::Placement::host
                                    : team.ranks == 4 ? memory::Placement::replicated
                                                      : memory::Placement::device;
        batches.sampled->cached = team.ranks == 2 ? 0.3 : 0.0;
        batches.sampled->exact_evaluation = team.ranks != 3;
        const Trained found = train_on(p, batches, team, team.ranks == 3);
        ASSERT_EQ(found.numbers.size(), expected.numbers.size());
        for (std::size_t i = 0; i < expected.numbers.size(); ++i)
          ASSERT_NEAR(found.numbers[i], expected.numbers[i], 1e-3 * (1.0 + expected.numbers[i]))
              << testing_support::name_of(team) << ", number " << i;
      }
    }
  }
}

TEST(SampledTraining, OfOneBatchOfAllIsThatOfTheWholeGraph) {
  check_whole({ranks(1), ranks(2), ranks(3), ranks(4)});
}
TEST(SampledTrainingCuda, OfOneBatchOfAllIsThatOfTheWholeGraph) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_whole(gpus);
}

TEST(SampledTraining, RepeatsBitForBit) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    const TrainOptions options = in_batches(kind, 3, 7);
    const Trained one = train_on(p, options, 2);
    const Trained other = train_on(p, options, 2);
    EXPECT_EQ(one.numbers, other.numbers) << name_of(kind);
    EXPECT_EQ(one.parameters, other.parameters) << name_of(kind);
  }
}

TEST(SampledTraining, OfUnevenBatchesEndsAndLearns) {
  Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    TrainOptions options = in_batches(kind, 5, 8);
    options.model.layers = 2;
    options.sampled->fanouts = {5, 4};
    options.model.dropout = 0.1f;
    options.epochs = 25;
    // As many ranks as leave some without vertices in the last batches.
    for (const int size : {1, 3, 5}) {
      const Trained found = train_on(p, options, size);
      EXPECT_GT(found.result.test_accuracy, 0.55) << name_of(kind) << " on " << size;
    }
  }
  // Fewer training vertices than ranks.
  std::uint64_t kept = 0;
  for (auto& split : p.dataset.splits) {
    if (split == kTrain && ++kept > 2) split = kTest;
  }
  p.dataset.counts = {};
  finish_dataset(p.dataset, "the test's dataset");
  for (const ModelKind kind : fixtures::kAllKinds) {
    TrainOptions options = in_batches(kind, 2, 8);
    options.epochs = 2;
    for (const bool is_exact : {false, true}) {
      options.sampled->exact_evaluation = is_exact;
      EXPECT_EQ(train_on(p, options, 4).result.epochs, 2u) << name_of(kind);
    }
  }
}

void check_going_on(bool pads) {
  const Problem p = problem(true, false, false);
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("warren_sampled_" + std::to_string(::getpid())))
          .string();
  TrainOptions options = in_batches(ModelKind::sage, 3, 4);
  options.sampled->pad = pads;
  options.epochs = 3;
  const Trained whole = train_on(p, options, 2);
  options.checkpoint = folder;
  options.checkpoint_batches = 2;
  options.checkpoint_every = 100;
  // Ends after its second epoch, before that is noted: the last checkpoint is within it.
  struct Stopped {};
  std::uint64_t batches = 0;
  const GraphPair graphs = fixtures::pair_of(p.graph, 2);
  team::run_team(ranks(2), [&](team::Team& team) {
    Trainer trainer(team, graphs, p.dataset, options);
    if (team.rank() == 0) batches = trainer.batches();
    try {
      (void)trainer.run([](const EpochRecord& record) {
        if (record.epoch == 2) throw Stopped();
      });
    } catch (const Stopped&) {
    }
  });
  ASSERT_GE(batches, 4u);
  const TensorFile state = read_tensors(folder + "/state.safetensors");
  EXPECT_EQ(state.text("epoch", folder), "1");
  EXPECT_NE(state.text("batches", folder), "0");
  const Trained rest = train_on(p, options, 2, false, true);
  ASSERT_EQ(rest.numbers.size(), 8u);
  for (std::size_t i = 0; i < rest.numbers.size(); ++i)
    EXPECT_NEAR(rest.numbers[i], whole.numbers[i + 4], 1e-12) << i;
  EXPECT_EQ(rest.parameters, whole.parameters);
  // Not with batches of another size.
  TrainOptions other = options;
  {
    std::filesystem::remove_all(folder);
    team::run_team(ranks(2), [&](team::Team& team) {
      Trainer trainer(team, graphs, p.dataset, options);
      (void)trainer.epoch();
    });
    other.sampled->batch = 5;
    EXPECT_THROW((void)train_on(p, other, 2, false, true), InputError);
  }
  std::filesystem::remove_all(folder);
}

TEST(SampledTraining, GoesOnFromTheMiddleOfAnEpoch) { check_going_on(false); }
TEST(SampledTraining, GoesOnFromTheMiddleOfAnEpochOfPaddedBatches) { check_going_on(true); }

TEST(SampledTraining, RefusesWhatDoesNotFitTogether) {
  const Problem p = problem(false, false, false);
  TrainOptions options = in_batches(ModelKind::gcn, 3, 10);
  options.sampled->fanouts.pop_back();
  EXPECT_THROW((void)train_on(p, options, 1), UsageError);
  options = in_batches(ModelKind::gcn, 3, 0);
  EXPECT_THROW((void)train_on(p, options, 1), UsageError);
  options = in_batches(ModelKind::gcn, 0, 10);
  EXPECT_THROW((void)train_on(p, options, 1), UsageError);
  options = in_batches(ModelKind::gcn, 3, 10);
  options.sampled->cached = 1.5;
  EXPECT_THROW((void)train_on(p, options, 1), UsageError);
  EXPECT_THROW((void)train_on(problem(true, true, false), in_batches(ModelKind::sage, 3, 10), 1),
               UsageError);
}

}  // namespace
}  // namespace warren::learn
