// SPDX-License-Identifier: Apache-2.0
// Sampled batches that are padded to one shape: blocks, trainings, and on GPUs trainings whose
// batches are captured.
#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/batch_loader.hpp"

#include "learn/problems.hpp"

namespace warren::learn {
namespace {

using fixtures::Problem;
using fixtures::problem;
using fixtures::quick;
using fixtures::ranks;

template <class T>
std::vector<T> fetch(const exec::Stream& stream, const T* values, std::uint64_t count) {
  std::vector<T> host(count);
  if (count != 0) exec::copy(stream, host.data(), values, count * sizeof(T));
  stream.synchronize();
  return host;
}

/// Row by row.
std::vector<std::vector<Vertex>> rows_of(const exec::Stream& stream, const BlockMatrix& matrix) {
  std::vector<std::vector<Vertex>> rows;
  if (matrix.view.rows == 0) return rows;
  const auto offsets = fetch(stream, matrix.view.offsets, matrix.view.rows + 1);
  const auto columns = fetch(stream, matrix.view.column_ids, offsets.back());
  for (std::uint64_t r = 0; r < matrix.view.rows; ++r)
    rows.emplace_back(columns.begin() + static_cast<std::ptrdiff_t>(offsets[r]),
                      columns.begin() + static_cast<std::ptrdiff_t>(offsets[r + 1]));
  return rows;
}

/// Of the entries of all rows; nothing in these where entries count 1.
std::vector<std::vector<float>> values_of(const exec::Stream& stream, const BlockMatrix& matrix) {
  std::vector<std::vector<float>> rows(matrix.view.rows);
  if (matrix.view.rows == 0 || matrix.view.values == nullptr) return rows;
  const auto offsets = fetch(stream, matrix.view.offsets, matrix.view.rows + 1);
  const auto values = fetch(stream, matrix.view.values, offsets.back());
  for (std::uint64_t r = 0; r < matrix.view.rows; ++r)
    rows[r].assign(values.begin() + static_cast<std::ptrdiff_t>(offsets[r]),
                   values.begin() + static_cast<std::ptrdiff_t>(offsets[r + 1]));
  return rows;
}

/// Of a loop that comes first in its row: the mean of the others, nothing of one alone.
void expect_means(const std::vector<std::vector<float>>& rows) {
  for (const std::vector<float>& row : rows) {
    ASSERT_FALSE(row.empty());
    double sum = 0.0;
    for (std::size_t i = 1; i < row.size(); ++i) sum += static_cast<double>(row[i]);
    const double mean = row.size() == 1 ? 0.0 : sum / static_cast<double>(row.size() - 1);
    EXPECT_NEAR(static_cast<double>(row[0]), mean, 1e-6 * (1.0 + std::abs(mean)));
  }
}

/// `values` and as many zeros as make `size`; nothing where there are none.
void expect_zeros_behind(const exec::Stream& stream, const float* found, const float* expected,
                         std::uint64_t known, std::uint64_t size) {
  ASSERT_EQ(found == nullptr, expected == nullptr);
  if (found == nullptr) return;
  auto values = fetch(stream, expected, known);
  values.resize(size, 0.0f);
  EXPECT_EQ(fetch(stream, found, size), values);
}

void expect_padded(const exec::Stream& stream, const Block& block, const Block& plain,
                   const BlockSize& size, const BlockOptions& options) {
  const BlockSize known = plain.size();
  EXPECT_EQ(block.size().targets, size.targets);
  EXPECT_EQ(block.size().sources, size.sources);
  EXPECT_EQ(block.out().entries, size.edges + (options.self_loops ? size.targets : 0));
  EXPECT_EQ(block.out().columns, size.sources);
  auto out = rows_of(stream, plain.out());
  auto in = rows_of(stream, plain.in());
  auto out_values = values_of(stream, plain.out());
  auto in_values = values_of(stream, plain.in());
  in.resize(size.sources);
  in_values.resize(size.sources);
  for (auto row = static_cast<Vertex>(known.targets); row < size.targets; ++row) {
    out.emplace_back();
    out_values.emplace_back();
    if (!options.self_loops) continue;
    out[row].push_back(row);
    in[row].push_back(row);
    if (!options.edge_weights) continue;
    out_values[row].push_back(0.0f);
    in_values[row].push_back(0.0f);
  }
  EXPECT_EQ(rows_of(stream, block.out()), out);
  EXPECT_EQ(rows_of(stream, block.in()), in);
  EXPECT_EQ(values_of(stream, block.out()), out_values);
  EXPECT_EQ(values_of(stream, block.in()), in_values);
  // What has no entries needs no weights of them.
  if (known.edges != 0 || options.self_loops) {
    EXPECT_EQ(block.in().view.values != nullptr, options.edge_weights);
  }
  if (options.edge_weights && options.self_loops) expect_means(out_values);
  const BlockWeights found = block.weights();
  const BlockWeights expected = plain.weights();
  expect_zeros_behind(stream, found.row, expected.row, known.targets, size.targets);
  expect_zeros_behind(stream, found.self, expected.self, known.targets, size.targets);
  expect_zeros_behind(stream, found.column, expected.column, known.sources, size.sources);
}

/// Whatever was sampled, blocks of one size have everything in the same places.
void expect_same_places(const exec::Stream& stream, const sample::GraphStore& store,
                        const sample::SamplerOptions& sampling, const std::vector<Vertex>& seeds,
                        const memory::GlobalView<float>& degrees) {
  sample::NeighbourSampler samplers[] = {{stream.device(), store, sampling},
                                         {stream.device(), store, sampling}};
  const auto on_device = testing_support::on_device(stream, seeds);
  for (const bool has_loops : {false, true}) {
    BlockOptions options{Weighting::symmetric, !has_loops, has_loops, true};
    options.edge_weights = true;
    options.weighted_degrees = degrees;
    Block block;
    std::vector<std::vector<const void*>> places;
    for (const std::uint64_t count : {seeds.size(), std::size_t{1}, seeds.size(), seeds.size()}) {
      sample::NeighbourSampler& sampler = samplers[places.size() % 2];
      sampler.run(stream, on_device.data(), count, 5);
      const auto counts = sampler.counts(stream)[0];
      const auto batch = sampler.batch(0);
      block.make(stream, store.view(), batch.vertices, batch.vertices, batch.hops[0],
                 {counts.vertices[0], counts.vertices[1], counts.edges[0]}, options,
                 {seeds.size(), 4 * seeds.size(), 3 * seeds.size()});
      places.emplace_back();
      for (const BlockMatrix* matrix : {&block.out(), &block.in()}) {
        for (const void* place : {static_cast<const void*>(matrix->view.offsets),
                                  static_cast<const void*>(matrix->view.column_ids),
                                  static_cast<const void*>(matrix->view.values),
                                  static_cast<const void*>(matrix->plan->task_data())})
          places.back().push_back(place);
      }
      const BlockWeights weights = block.weights();
      for (const float* place : {weights.row, weights.column, weights.self})
        places.back().push_back(place);
      EXPECT_EQ(places.back(), places.front());
      EXPECT_EQ(block.size().sources, 4 * seeds.size());
    }
  }
}

void check_blocks(const team::TeamOptions& options) {
  for (const auto& named : fixtures::small_graphs()) {
    SCOPED_TRACE(named.name);
    const auto weight = [](EdgeOffset e) { return static_cast<float>(e % 7) - 1.0f; };
    const GraphPair pair = fixtures::pair_of(fixtures::with_weights(named.graph, weight), 1);
    team::run_team(options, [&](team::Team& team) {
      const exec::Stream stream(team.device());
      const graph::Shard shard = graph::make_shard(team, {pair.out, nullptr, pair.cuts});
      const sample::GraphStore store(team, shard, {.edge_weights = true});
      memory::GlobalArray<float> degrees(team, pair.cuts, 1, memory::Placement::device);
      std::vector<float> sums;
      for (Vertex v = 0; v < named.graph.vertices; ++v)
        sums.push_back(static_cast<float>(1.0 + weighted_degree(*pair.out, v)));
      degrees.buffer().upload(stream, sums);
      sample::SamplerOptions sampling;
      sampling.fanouts = {3};
      sampling.edge_weights = true;
      sample::NeighbourSampler sampler(team.device(), store, sampling);
      std::vector<Vertex> half;
      for (Vertex v = 0; v < named.graph.vertices; v += 2) half.push_back(v);
      const auto seeds = testing_support::on_device(stream, half);
      sampler.run(stream, seeds.data(), half.size(), 3);
      const auto counts = sampler.counts(stream)[0];
      const auto batch = sampler.batch(0);
      const BlockSize known{counts.vertices[0], counts.vertices[1], counts.edges[0]};
      Block plain, block;
      std::vector<BlockOptions> all = {{Weighting::sum, true, false, true},
                                       {Weighting::mean, true, false, true},
                                       {Weighting::symmetric, true, false, true},
                                       {Weighting::sum, false, true, true},
                                       {Weighting::sum, false, false, true}};
      for (std::size_t i = 0; i < 4; ++i) {
        all.push_back(all[i]);
        all.back().edge_weights = true;
        all.back().weighted_degrees = degrees.view();
      }
      for (const BlockOptions& made : all) {
        plain.make(stream, store.view(), batch.vertices, batch.vertices, batch.hops[0], known,
                   made);
        // Targets that pass the sources, and none.
        for (const BlockSize more : {BlockSize{known.sources + 3, known.sources + 70, 100},
                                     BlockSize{known.targets + 1, known.sources + 1, 0},
                                     BlockSize{0, known.sources + 5, 60}}) {
          block.make(stream, store.view(), batch.vertices, batch.vertices, batch.hops[0], known,
                     made, more);
          expect_padded(stream, block, plain,
                        {std::max(more.targets, known.targets), more.sources,
                         std::max(more.edges, known.edges)},
                        made);
          if (::testing::Test::HasFailure()) return;
        }
      }
      expect_same_places(stream, store, sampling, half, degrees.view());
      BlockOptions weighted{Weighting::sum};
      weighted.edge_weights = true;
      sample::SampledHop bare = batch.hops[0];
      bare.weights = nullptr;
      if (known.edges != 0) {
        EXPECT_THROW(
            block.make(stream, store.view(), batch.vertices, batch.vertices, bare, known, weighted),
            UsageError);
      }
      EXPECT_THROW(block.make(stream, store.view(), nullptr, nullptr, {}, {}, {}, {2, 2, 2}),
                   UsageError);
    });
  }
}

TEST(PaddedBlocks, AreTheSameWithEmptyRowsBehind) { check_blocks(ranks(1)); }
TEST(PaddedBlocksCuda, AreTheSameWithEmptyRowsBehind) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_blocks(gpus.front());
}

/// A shape has room for a batch that has as much of everything, and not for one that has more.
void check_room(const team::TeamOptions& options) {
  const GraphPair pair = fixtures::pair_of(fixtures::random_graph(40, 300, 5, false), 1);
  team::run_team(options, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const graph::Shard shard = graph::make_shard(team, {pair.out, nullptr, pair.cuts});
    const sample::GraphStore store(team, shard);
    LoaderOptions loading;
    loading.fanouts = {3, 2};
    loading.batch = 4;
    loading.blocks.resize(2);
    loading.width = 1;
    BatchLoader loader(
        team.device(), store,
        [](const exec::Stream& on, const Vertex*, std::uint64_t count, const Dropout&, const float*,
           Numbers out) { exec::fill_bytes(on, out.raw(), 0, count * sizeof(float)); },
        nullptr, loading);
    const auto seeds = testing_support::on_device(stream, std::vector<Vertex>{7, 3, 9, 21});
    const sample::BatchCounts counts = loader.count(seeds.data(), 4, 5);
    BatchShape whole;
    whole.vertices.assign(counts.vertices, counts.vertices + 3);
    whole.edges.assign(counts.edges, counts.edges + 2);
    const auto is_padded = [&](const BatchShape& shape) {
      loader.pad_to(&shape);
      loader.start(seeds.data(), 4, 5, {}, 4);
      const bool found = loader.take(stream).is_padded;
      loader.release(stream);
      return found;
    };
    EXPECT_TRUE(is_padded(whole));
    for (std::uint64_t& vertices : whole.vertices) {
      --vertices;
      EXPECT_FALSE(is_padded(whole));
      ++vertices;
    }
    for (std::uint64_t& edges : whole.edges) {
      --edges;
      EXPECT_FALSE(is_padded(whole));
      ++edges;
    }
    EXPECT_TRUE(is_padded(whole));
    loader.pad_to(nullptr);
    stream.synchronize();
  });
}

TEST(PaddedBatches, HaveRoomInTheirShape) { check_room(ranks(1)); }
TEST(PaddedBatchesCuda, HaveRoomInTheirShape) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_room(gpus.front());
}

TrainOptions in_batches(ModelKind kind, std::uint64_t batch) {
  TrainOptions options = quick(kind);
  if (kind == ModelKind::gin) options.model.norm = NormKind::layer;
  options.model.dropout = 0.4f;
  options.epochs = 3;
  options.allow_tf32 = false;
  options.sampled.emplace();
  options.sampled->fanouts = {4, 3, 5};
  options.sampled->batch = batch;
  return options;
}

struct Epochs {
  std::vector<double> numbers;
  std::vector<float> parameters;
  // Of all ranks.
  std::uint64_t batches = 0, padded = 0, captured = 0;
};
/// `between` is called before every epoch.
template <class F>
Epochs train(const Problem& p, const TrainOptions& options, const team::TeamOptions& team_options,
             F&& between) {
  Epochs found;
  const GraphPair graphs = team_options.ranks == 2
                               ? fixtures::in_random_order(p.graph, team_options.ranks)
                               : fixtures::pair_of(p.graph, team_options.ranks);
  team::run_team(team_options, [&](team::Team& team) {
    Trainer trainer(team, graphs, p.dataset, options);
    std::uint64_t counts[3] = {};
    for (std::uint64_t e = 0; e < options.epochs; ++e) {
      between(team, e);
      const EpochRecord record = trainer.epoch();
      counts[0] += record.batches;
      counts[1] += record.padded_batches;
      counts[2] += record.captured_batches;
      if (team.rank() != 0) continue;
      found.numbers.push_back(record.loss);
      for (const SplitScore& score : record.scores) found.numbers.push_back(score.loss);
    }
    team.sum(counts);
    const auto values = trainer.model().parameters().values().to_host(trainer.context().stream());
    if (team.rank() != 0) return;
    found.parameters = values;
    found.batches = counts[0];
    found.padded = counts[1];
    found.captured = counts[2];
  });
  return found;
}
Epochs train(const Problem& p, const TrainOptions& options, const team::TeamOptions& team) {
  return train(p, options, team, [](team::Team&, std::uint64_t) {});
}

/// As rounding lets trainings by gradient descent go apart.
void expect_near(const Epochs& found, const Epochs& expected, double rounding) {
  ASSERT_EQ(found.numbers.size(), expected.numbers.size());
  for (std::size_t i = 0; i < expected.numbers.size(); ++i)
    ASSERT_NEAR(found.numbers[i], expected.numbers[i], rounding * (1.0 + expected.numbers[i])) << i;
  ASSERT_EQ(found.parameters.size(), expected.parameters.size());
  for (std::size_t i = 0; i < expected.parameters.size(); ++i)
    ASSERT_NEAR(found.parameters[i], expected.parameters[i],
                rounding * (1.0 + std::abs(static_cast<double>(expected.parameters[i]))))
        << i;
}

/// Of every model; `rounding`: of float32.
void check_trainings(const std::vector<team::TeamOptions>& teams, double rounding) {
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const bool is_directed : {false, true}) {
      const Problem p = problem(is_directed, false, kind == ModelKind::sage && is_directed);
      TrainOptions options = in_batches(kind, 17);
      options.optimizer.kind = OptimizerKind::sgd;
      // Attention by larger steps goes apart a million times as far as its rounding in four epochs.
      const bool attends = kind == ModelKind::gat || kind == ModelKind::gatv2;
      options.optimizer.rate = attends ? 0.004f : 0.02f;
      if (kind == ModelKind::sage && !is_directed) options.model.aggregate = SageAggregate::max;
      if (is_directed) options.model.norm = NormKind::none;
      options.sampled->exact_evaluation = !is_directed;
      for (const auto& team : teams) {
        SCOPED_TRACE(name_of(kind) + (is_directed ? ", directed, " : ", ") +
                     testing_support::name_of(team));
        options.sampled->pad = false;
        const Epochs expected = train(p, options, team);
        EXPECT_EQ(expected.padded, 0u);
        options.sampled->pad = true;
        const Epochs found = train(p, options, team);
        // All but those of ranks that have run out, the last ones of odd sizes among them.
        EXPECT_GE(found.padded,
                  found.batches - options.epochs * static_cast<std::uint64_t>(team.ranks - 1));
        expect_near(found, expected, rounding);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(PaddedTraining, IsThatOfBatchesAsTheyAre) {
  check_trainings({ranks(1), ranks(2), ranks(3)}, 5e-5);
}
TEST(PaddedTrainingCuda, IsThatOfBatchesAsTheyAre) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_trainings(gpus, 1e-3);
}

TEST(PaddedTraining, LeavesLargerBatchesAsTheyAre) {
  Problem p = problem(false, false, false);
  // One vertex has edges to all others, and they have none.
  p.graph = fixtures::star(p.graph.vertices, false);
  Vertex hub = 0;
  while (p.graph.degree(hub) == 0) ++hub;
  if (p.dataset.splits[hub] != kTrain) {
    p.dataset.splits[hub] = kTrain;
    p.dataset.counts = {};
    finish_dataset(p.dataset, "the test's dataset");
  }
  for (const ModelKind kind : {ModelKind::gcn, ModelKind::gat}) {
    TrainOptions options = in_batches(kind, 1);
    options.optimizer.kind = OptimizerKind::sgd;
    options.optimizer.rate = 1e-3f;
    options.sampled->fanouts.assign(3, -1);
    options.epochs = 2;
    const Epochs expected = train(p, options, ranks(1));
    options.sampled->pad = true;
    const Epochs found = train(p, options, ranks(1));
    ASSERT_GT(found.batches, 64u);
    EXPECT_EQ(found.padded, found.batches - options.epochs);
    expect_near(found, expected, 1e-5);
  }
}

TEST(PaddedTraining, OfNarrowRowsIsTheSame) {
  const Problem p = problem(false, false, false);
  for (const NumberType type : {NumberType::bfloat16, NumberType::float16}) {
    for (const ModelKind kind : {ModelKind::sage, ModelKind::gat}) {
      TrainOptions options = in_batches(kind, 17);
      options.type = type;
      options.optimizer.kind = OptimizerKind::sgd;
      const Epochs expected = train(p, options, ranks(1));
      options.sampled->pad = true;
      const Epochs found = train(p, options, ranks(1));
      EXPECT_EQ(found.padded, found.batches);
      expect_near(found, expected, 0.02);
    }
  }
}

TEST(PaddedTraining, EndsWhereRanksHaveNothing) {
  Problem p = problem(false, false, false);
  std::uint64_t kept = 0;
  for (auto& split : p.dataset.splits) {
    if (split == kTrain && ++kept > 2) split = kTest;
  }
  p.dataset.counts = {};
  finish_dataset(p.dataset, "the test's dataset");
  TrainOptions options = in_batches(ModelKind::gcn, 8);
  options.optimizer.kind = OptimizerKind::sgd;
  const Epochs expected = train(p, options, ranks(4));
  options.sampled->pad = true;
  const Epochs found = train(p, options, ranks(4));
  EXPECT_EQ(found.padded, 2 * options.epochs);
  expect_near(found, expected, 1e-5);
}

TEST(PaddedTraining, IsRefusedWherePaddingWouldCount) {
  const Problem p = problem(false, false, false);
  TrainOptions options = in_batches(ModelKind::gin, 10);
  options.sampled->pad = true;
  options.model.norm = NormKind::batch;
  EXPECT_THROW((void)train(p, options, ranks(1)), UsageError);
}

/// Where NCCL does not carry what ranks exchange nothing is captured.
bool may_capture(const team::TeamOptions& options) {
  bool may = options.ranks == 1;
  if (may) return true;
  team::run_team(options, [&](team::Team& team) {
    const bool is_nccl = std::string_view(team.collectives_name()) == "nccl";
    if (team.rank() == 0) may = is_nccl;
  });
  return may;
}

class CapturedBatchesOfCuda : public testing::TestWithParam<ModelKind> {};

TEST_P(CapturedBatchesOfCuda, AreTheSameOfEveryType) {
  if (fixtures::cuda_teams().empty()) GTEST_SKIP() << "no GPU";
  const ModelKind kind = GetParam();
  for (const bool is_directed : {false, true}) {
    const Problem p = problem(is_directed, false, kind == ModelKind::sage && is_directed);
    TrainOptions options = in_batches(kind, 9);
    options.epochs = 12;
    options.sampled->pad = true;
    if (kind == ModelKind::sage && !is_directed) options.model.aggregate = SageAggregate::max;
    options.optimizer.schedule = Schedule::cosine;
    options.sampled->exact_evaluation = !is_directed;
    for (const auto& team : fixtures::cuda_teams()) {
      for (const NumberType type :
           {NumberType::float32, NumberType::bfloat16, NumberType::float16}) {
        SCOPED_TRACE(std::string(name_of(type)) + ", " + testing_support::name_of(team));
        options.type = type;
        // Steps are left out at first.
        options.loss_scale = {.initial = 0x1p24f, .interval = 3};
        options.capture = true;
        const Epochs captured = train(p, options, team);
        options.capture = false;
        const Epochs plain = train(p, options, team);
        EXPECT_EQ(captured.numbers, plain.numbers);
        EXPECT_EQ(captured.parameters, plain.parameters);
        EXPECT_EQ(plain.captured, 0u);
        // The first ones of each place take memory, with times and without.
        if (may_capture(team)) {
          EXPECT_GT(captured.captured, captured.padded / 3);
        } else {
          EXPECT_EQ(captured.captured, 0u);
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(EveryModel, CapturedBatchesOfCuda, testing::ValuesIn(fixtures::kAllKinds),
                         [](const auto& given) { return std::string(name_of(given.param)); });

TEST(CapturedBatchesCuda, ContinueWhereMemoryChangesHands) {
  if (fixtures::cuda_teams().empty()) GTEST_SKIP() << "no GPU";
  const Problem p = problem(false, false, false);
  TrainOptions options = in_batches(ModelKind::sage, 9);
  options.sampled->pad = true;
  options.epochs = 16;
  const auto team = fixtures::cuda_teams().front();
  options.capture = false;
  const Epochs plain = train(p, options, team);
  options.capture = true;
  memory::Buffer<float> taken;
  const Epochs found = train(p, options, team, [&](team::Team& t, std::uint64_t e) {
    if (e == 8) taken = memory::Buffer<float>(t.device(), 1000);
  });
  EXPECT_EQ(found.numbers, plain.numbers);
  EXPECT_EQ(found.parameters, plain.parameters);
  EXPECT_GT(found.captured, found.padded / 3);
}

}  // namespace
}  // namespace warren::learn
