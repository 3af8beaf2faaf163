// SPDX-License-Identifier: Apache-2.0
// Sampled batches: their blocks, models over them, and trainings.
#include <algorithm>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/learn/batch_loader.hpp"
#include "warren/learn/memory_plan.hpp"

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

void check_repeats(const team::TeamOptions& team) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    const TrainOptions options = in_batches(kind, 3, 7);
    const Trained one = train_on(p, options, team);
    const Trained other = train_on(p, options, team);
    EXPECT_EQ(one.numbers, other.numbers) << name_of(kind);
    EXPECT_EQ(one.parameters, other.parameters) << name_of(kind);
  }
}

TEST(SampledTraining, RepeatsBitForBit) { check_repeats(ranks(2)); }
TEST(SampledTrainingCuda, RepeatsBitForBit) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  for (const auto& team : gpus) check_repeats(team);
}

/// Teams of as many ranks as leave some without vertices in the last batches, and (`few`) more
/// ranks than training vertices.
void check_uneven(const std::vector<team::TeamOptions>& teams, const team::TeamOptions& few) {
  Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    TrainOptions options = in_batches(kind, 5, 8);
    options.model.layers = 2;
    options.sampled->fanouts = {5, 4};
    options.model.dropout = 0.1f;
    options.epochs = 25;
    for (const auto& team : teams) {
      const Trained found = train_on(p, options, team);
      EXPECT_GT(found.result.test_accuracy, 0.55)
          << name_of(kind) << " on " << testing_support::name_of(team);
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
      EXPECT_EQ(train_on(p, options, few).result.epochs, 2u) << name_of(kind);
    }
  }
}

TEST(SampledTraining, OfUnevenBatchesEndsAndLearns) {
  check_uneven({ranks(1), ranks(3), ranks(5)}, ranks(4));
}
TEST(SampledTrainingCuda, OfUnevenBatchesEndsAndLearns) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_uneven(gpus, gpus.back());
}

void check_going_on(const team::TeamOptions& team_options, bool pads = false) {
  const Problem p = problem(true, false, false);
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("warren_sampled_" + std::to_string(::getpid())))
          .string();
  TrainOptions options = in_batches(ModelKind::sage, 3, 4);
  options.sampled->pad = pads;
  options.epochs = 3;
  const Trained whole = train_on(p, options, team_options);
  options.checkpoint = folder;
  options.checkpoint_batches = 2;
  options.checkpoint_every = 100;
  // Ends after its second epoch, before that is noted: the last checkpoint is within it.
  struct Stopped {};
  std::uint64_t batches = 0;
  const GraphPair graphs = fixtures::pair_of(p.graph, team_options.ranks);
  team::run_team(team_options, [&](team::Team& team) {
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
  const Trained rest = train_on(p, options, team_options, false, true);
  ASSERT_EQ(rest.numbers.size(), 8u);
  for (std::size_t i = 0; i < rest.numbers.size(); ++i)
    EXPECT_NEAR(rest.numbers[i], whole.numbers[i + 4], 1e-12) << i;
  EXPECT_EQ(rest.parameters, whole.parameters);
  // Not with batches of another size.
  TrainOptions other = options;
  {
    std::filesystem::remove_all(folder);
    team::run_team(team_options, [&](team::Team& team) {
      Trainer trainer(team, graphs, p.dataset, options);
      (void)trainer.epoch();
    });
    other.sampled->batch = 5;
    EXPECT_THROW((void)train_on(p, other, team_options, false, true), InputError);
  }
  std::filesystem::remove_all(folder);
}

TEST(SampledTraining, GoesOnFromTheMiddleOfAnEpoch) { check_going_on(ranks(2)); }
TEST(SampledTraining, GoesOnFromTheMiddleOfAnEpochOfPaddedBatches) {
  check_going_on(ranks(2), true);
}
TEST(SampledTrainingCuda, GoesOnFromTheMiddleOfAnEpoch) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  for (const auto& team : gpus) {
    check_going_on(team);
    check_going_on(team, true);
  }
}

TEST(SampledTraining, FeaturesLieOnEachGpuWhereTheyAreFew) {
  Dataset dataset;
  dataset.vertices = 1000;
  dataset.width = 10;
  const auto place = [&](std::uint64_t memory, int ranks, NumberType type) {
    return features_placement(memory, ranks, dataset, type);
  };
  constexpr std::uint64_t kMemory = std::uint64_t{16} * 1000 * 10 * sizeof(float);
  EXPECT_EQ(place(kMemory, 2, NumberType::float32), memory::Placement::replicated);
  EXPECT_EQ(place(kMemory - 16, 2, NumberType::float32), memory::Placement::device);
  EXPECT_EQ(place(kMemory / 2, 4, NumberType::bfloat16), memory::Placement::replicated);
  EXPECT_EQ(place(kMemory, 1, NumberType::float32), memory::Placement::device);
  // Ranks of the CPU share one memory.
  EXPECT_EQ(place(0, 2, NumberType::float32), memory::Placement::device);
  dataset.vertices = std::uint64_t{1} << 40;
  dataset.width = std::uint64_t{1} << 20;
  EXPECT_EQ(place(kMemory, 2, NumberType::float32), memory::Placement::device);
}

TEST(SampledTraining, ListsLieOnEachGpuWhereTheyAreFew) {
  graph::Graph graph = fixtures::path(1000);
  TrainOptions options;
  SampledOptions& sampled = options.sampled.emplace();
  const std::uint64_t bytes = graph.edges() * sizeof(Vertex) + 1000 * sizeof(EdgeOffset);
  const auto is_copied = [&](std::uint64_t memory, int ranks) {
    return edges_are_replicated(memory, ranks, graph, options);
  };
  EXPECT_TRUE(is_copied(16 * bytes, 2));
  EXPECT_FALSE(is_copied(16 * bytes - 16, 2));
  EXPECT_FALSE(is_copied(16 * bytes, 1));
  EXPECT_FALSE(is_copied(0, 2));
  options.model.edge_weights = true;
  EXPECT_FALSE(is_copied(16 * bytes, 2));
  EXPECT_TRUE(is_copied(32 * bytes, 2));
  options.model.edge_weights = false;
  sampled.weighted = true;
  EXPECT_FALSE(is_copied(16 * bytes, 2));
  EXPECT_TRUE(is_copied(32 * bytes, 2));
  sampled.edges = graph::EdgesPlacement::host;
  EXPECT_FALSE(is_copied(32 * bytes, 2));
}

/// Lists in host memory, or on every device, are the same lists.
void check_other_edges(const std::vector<team::TeamOptions>& teams) {
  const Problem p = problem(true, false, false);
  for (const ModelKind kind : {ModelKind::gcn, ModelKind::gat}) {
    for (const auto& team : teams) {
      SCOPED_TRACE(name_of(kind) + ", " + testing_support::name_of(team));
      TrainOptions options = in_batches(kind, 4, 30);
      options.epochs = 3;
      options.sampled->exact_evaluation = kind == ModelKind::gcn;
      const Trained near = train_on(p, options, team);
      const MemoryPlan plan = plan_memory(fixtures::pair_of(p.graph, 1), p.dataset, options);
      options.sampled->replicate_edges = true;
      const Trained copied = train_on(p, options, team);
      EXPECT_EQ(copied.numbers, near.numbers);
      EXPECT_EQ(copied.parameters, near.parameters);
      const auto halves = fixtures::pair_of(p.graph, 2);
      const auto all = plan_memory(halves, p.dataset, options);
      options.sampled->replicate_edges = false;
      const auto part = plan_memory(halves, p.dataset, options);
      EXPECT_GE(all.total(), part.total() + p.graph.edges() * sizeof(Vertex) / 3);
      options.sampled->edges = graph::EdgesPlacement::host;
      const Trained far = train_on(p, options, team);
      EXPECT_EQ(far.numbers, near.numbers);
      EXPECT_EQ(far.parameters, near.parameters);
      // Only offsets are on the device.
      const MemoryPlan other = plan_memory(fixtures::pair_of(p.graph, 1), p.dataset, options);
      EXPECT_GE(plan.total(), other.total() + p.graph.edges() * sizeof(Vertex));
    }
  }
}

TEST(SampledTraining, OfEdgesAnywhereIsTheSame) { check_other_edges({ranks(1), ranks(2)}); }
TEST(SampledTrainingCuda, OfEdgesAnywhereIsTheSame) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_other_edges(gpus);
}

/// The least of all ranks' hit rates after an epoch, of one layer over all neighbours with eight
/// cached rows.
double hit_rate(const Problem& p, CacheBy by, const team::TeamOptions& team_options) {
  TrainOptions options = in_batches(ModelKind::sage, -1, 8);
  options.model.layers = 1;
  options.sampled->fanouts = {-1};
  options.sampled->features = memory::Placement::host;
  options.sampled->cached = 8.5 / 600.0;
  options.sampled->cache_by = by;
  const GraphPair graphs = fixtures::in_random_order(p.graph, team_options.ranks);
  double least = 1.0;
  team::run_team(team_options, [&](team::Team& team) {
    Trainer trainer(team, graphs, p.dataset, options);
    (void)trainer.epoch();
    const double all =
        team.all_reduce(trainer.hit_rate(), [](double a, double b) { return std::min(a, b); });
    if (team.rank() == 0) least = all;
  });
  return least;
}

void check_hit_rates(const std::vector<team::TeamOptions>& teams) {
  constexpr Vertex kHubs = 8;
  Problem p = problem(true, false, false);
  // A star for each hub, which has no edge of its own: half of a batch's rows are hubs.
  std::vector<graph::Edge> stars;
  // And one where training vertices' hubs are others than those of most edges.
  std::vector<graph::Edge> apart;
  for (Vertex v = 2 * kHubs; v < 600; ++v) {
    stars.push_back({v, v % kHubs});
    const bool is_trained = p.dataset.splits[v] == kTrain;
    if (is_trained) apart.push_back({v, kHubs + v % kHubs});
    for (Vertex hub = 0; hub < kHubs && !is_trained; ++hub) apart.push_back({v, hub});
  }
  for (const auto& team : teams) {
    SCOPED_TRACE(testing_support::name_of(team));
    p.graph = fixtures::from_list(600, stars);
    EXPECT_GT(hit_rate(p, CacheBy::degree, team), 0.3);
    EXPECT_GT(hit_rate(p, CacheBy::presampling, team), 0.3);
    p.graph = fixtures::from_list(600, apart);
    EXPECT_LT(hit_rate(p, CacheBy::degree, team), 0.1);
    EXPECT_GT(hit_rate(p, CacheBy::presampling, team), 0.3);
  }
}

TEST(SampledTraining, CachesTheRowsThatBatchesWant) { check_hit_rates({ranks(1), ranks(3)}); }
TEST(SampledTrainingCuda, CachesTheRowsThatBatchesWant) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_hit_rates({gpus.front(), gpus.back()});
}

/// Edges of weight 0 are as if they were not there.
void check_weighted(const team::TeamOptions& team) {
  Problem weighted = problem(true, false, false);
  std::vector<graph::Edge> all{{7, 7}}, kept{{7, 7}};  // A loop, which attention takes out.
  for (Vertex v = 0; v < 600; ++v) {
    for (const Vertex w : weighted.graph.neighbours(v)) {
      all.push_back({v, w});
      if ((v + w) % 3 != 0 && v != w) kept.push_back({v, w});
    }
  }
  weighted.graph = fixtures::from_list(600, all);
  weighted.graph.weight_type = graph::WeightType::int32;
  weighted.graph.weights_int = memory::HostArray<std::int32_t>(weighted.graph.edges());
  Problem plain = weighted;
  plain.graph = fixtures::from_list(600, kept);
  for (Vertex v = 0; v < 600; ++v) {
    const auto list = plain.graph.neighbours(v);
    for (EdgeOffset e = weighted.graph.offsets[v]; e < weighted.graph.offsets[v + 1ull]; ++e) {
      const bool is_kept = std::binary_search(list.begin(), list.end(), weighted.graph.targets[e]);
      weighted.graph.weights_int[e] = is_kept ? 5 : 0;
    }
  }
  for (const ModelKind kind : {ModelKind::sage, ModelKind::gat}) {
    SCOPED_TRACE(name_of(kind));
    TrainOptions options = in_batches(kind, -1, 50);
    options.epochs = 2;
    options.sampled->exact_evaluation = false;
    const Trained expected = train_on(plain, options, team);
    EXPECT_NE(train_on(weighted, options, team).numbers, expected.numbers);
    options.sampled->weighted = true;
    const Trained found = train_on(weighted, options, team);
    EXPECT_EQ(found.numbers, expected.numbers);
    EXPECT_EQ(found.parameters, expected.parameters);
    EXPECT_THROW((void)train_on(plain, options, team), UsageError);
  }
}

/// Of one neighbour each, drawn three times.
void check_replaced(const team::TeamOptions& team_options) {
  Problem p = problem(true, false, false);
  std::vector<graph::Edge> ring;
  for (Vertex v = 0; v < 600; ++v) ring.push_back({v, (v + 1) % 600});
  p.graph = fixtures::from_list(600, ring);
  p.graph.weight_type = graph::WeightType::float32;
  p.graph.weights_float = memory::HostArray<float>(600);
  for (std::uint64_t e = 0; e < 600; ++e) p.graph.weights_float[e] = 0.5f;
  const GraphPair graphs = fixtures::pair_of(p.graph, team_options.ranks);
  TrainOptions options = in_batches(ModelKind::sage, 3, 50);
  options.model.layers = 1;
  options.sampled->fanouts = {3};
  const auto first = [&] {
    EpochRecord record;
    team::run_team(team_options, [&](team::Team& team) {
      const EpochRecord mine = Trainer(team, graphs, p.dataset, options).epoch();
      if (team.rank() == 0) record = mine;
    });
    return record;
  };
  const EpochRecord once = first();
  options.sampled->replace = true;
  for (const bool weighted : {false, true}) {
    options.sampled->weighted = weighted;
    const EpochRecord thrice = first();
    EXPECT_EQ(thrice.sampled_edges, 3 * once.sampled_edges);
    EXPECT_NEAR(thrice.loss, once.loss, 1e-5);
  }
}

TEST(SampledTraining, DrawsByWeightsAndWithReplacement) {
  check_weighted(ranks(2));
  check_replaced(ranks(2));
}
TEST(SampledTrainingCuda, DrawsByWeightsAndWithReplacement) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_weighted(gpus.front());
  check_replaced(gpus.front());
}

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
