// SPDX-License-Identifier: Apache-2.0
// Link prediction: what is held out and drawn, the loss and its gradient, what models are judged
// by, and trainings.
#include "warren/learn/links.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>

#include "warren/core/error.hpp"

#include "learn/batch/link_loss.hpp"
#include "learn/problems.hpp"
#include "reference/links.hpp"

namespace warren::learn {
namespace {

using fixtures::in_random_order;
using fixtures::Problem;
using fixtures::problem;
using fixtures::ranks;
using fixtures::Trained;
using testing_support::on_device;

constexpr std::uint64_t kSeed = 1;

LinkSplit held_out(GraphPair& graphs, std::uint64_t seed = kSeed) {
  exec::ThreadPool pool(2);
  return hold_out_links(graphs, seed, "the test's graph", pool);
}

std::set<std::pair<Vertex, Vertex>> edges_of(const GraphPair& graphs) {
  std::set<std::pair<Vertex, Vertex>> edges;
  const auto id = [&](Vertex v) { return graphs.input_ids.empty() ? v : graphs.input_ids[v]; };
  for (Vertex v = 0; v < graphs.out->vertices; ++v) {
    for (const Vertex w : graphs.out->neighbours(v)) edges.emplace(id(v), id(w));
  }
  return edges;
}

TEST(Links, AreHeldOutInBothDirectionsWhateverTheOrder) {
  for (const bool is_directed : {false, true}) {
    const Problem p = problem(is_directed, false, false);
    GraphPair plain = fixtures::pair_of(p.graph, 1);
    const auto all = edges_of(plain);
    const LinkSplit split = held_out(plain);
    const auto left = edges_of(plain);
    EXPECT_EQ(split.is_undirected, !is_directed);
    EXPECT_EQ(plain.is_symmetric(), !is_directed);
    std::uint64_t examples = 0;
    for (std::size_t s = 0; s < kSplits; ++s) {
      examples += split.counts.at(s);
      for (const Link& link : split.judged.at(s).links) {
        EXPECT_TRUE(all.contains({link.source, link.target}));
        EXPECT_EQ(left.contains({link.source, link.target}), s == 0);
        if (all.contains({link.target, link.source})) {
          EXPECT_EQ(left.contains({link.target, link.source}), s == 0);
        }
      }
    }
    std::uint64_t expected = 0;
    for (const auto& [v, w] : all) expected += v < w || (is_directed && v > w) ? 1 : 0;
    EXPECT_EQ(examples, expected);
    EXPECT_NEAR(static_cast<double>(split.counts[1]) / static_cast<double>(expected), 0.05, 0.02);
    EXPECT_NEAR(static_cast<double>(split.counts[2]) / static_cast<double>(expected), 0.1, 0.02);
    // The reversed edges are those of the graph that is left.
    for (Vertex v = 0; v < plain.in->vertices; ++v) {
      for (const Vertex w : plain.in->neighbours(v)) EXPECT_TRUE(left.contains({w, v}));
    }
    GraphPair shuffled = in_random_order(p.graph, 3);
    const LinkSplit same = held_out(shuffled);
    EXPECT_EQ(same.training, split.training);
    for (std::size_t s = 0; s < kSplits; ++s) {
      EXPECT_EQ(same.judged.at(s).links, split.judged.at(s).links);
      EXPECT_EQ(same.judged.at(s).negatives, split.judged.at(s).negatives);
    }
    EXPECT_EQ(edges_of(shuffled), left);
    GraphPair other = fixtures::pair_of(p.graph, 1);
    EXPECT_NE(held_out(other, 2).training, split.training);
  }
}

TEST(Links, SelfLoopsAndParallelEdgesAreNoExamples) {
  graph::BuildOptions keep;
  keep.keep_duplicates = true;
  std::vector<graph::Edge> edges;
  for (Vertex v = 0; v < 100; ++v) {
    edges.push_back({v, v});
    for (int twice = 0; twice < 2; ++twice) edges.push_back({v, (v + 1) % 100});
  }
  GraphPair graphs = fixtures::pair_of(fixtures::from_list(100, edges, keep), 2);
  const LinkSplit split = held_out(graphs);
  EXPECT_EQ(split.counts[0] + split.counts[1] + split.counts[2], 100u);
  EXPECT_EQ(graphs.out->edges(), 100 + 2 * split.counts[0]);
}

TEST(Links, AGraphOfTooFewEdgesIsRefused) {
  for (const auto& graph :
       {fixtures::from_list(6, {}), fixtures::from_list(3, {{0, 0}, {1, 1}}), fixtures::path(3)}) {
    GraphPair graphs = fixtures::pair_of(graph, 1);
    EXPECT_THROW((void)held_out(graphs), InputError);
  }
}

TEST(Links, NegativesAreNoNeighboursWhereThereAreOthers) {
  // Vertex 0 is linked to all but 0, 7 and 9.
  const auto is_edge = [](Vertex v) { return v != 0 && v != 7 && v != 9; };
  std::set<Vertex> seen;
  for (std::uint64_t key = 0; key < 200; ++key)
    seen.insert(draw_negative(mix(key), 16, 0, is_edge));
  EXPECT_EQ(seen, (std::set<Vertex>{7, 9}));
  for (std::uint64_t key = 0; key < 20; ++key)
    EXPECT_FALSE(is_edge(draw_negative(mix(key), 100000, 0, is_edge)));
  // All are neighbours: one of them, and an end.
  EXPECT_LT(draw_negative(5, 4, 1, [](Vertex) { return true; }), 4u);
  // Uniform over ten: chi-square of nine degrees of freedom, P = 0.001 at 27.9.
  std::array<double, 10> count{};
  for (std::uint64_t key = 0; key < 20000; ++key)
    count.at(draw_negative(mix(key), 11, 10, [](Vertex) { return false; })) += 1.0;
  double sum = 0.0;
  for (const double c : count) sum += (c - 2000.0) * (c - 2000.0) / 2000.0;
  EXPECT_LT(sum, 27.9);
}

TEST(Links, PermutationsArePermutations) {
  for (const std::uint64_t size : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 1000u, 4096u, 5000u}) {
    std::vector<bool> seen(size, false);
    const Permutation order(size, 77 + size);
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_LT(order(i), size);
      ASSERT_FALSE(seen[order(i)]);
      seen[order(i)] = true;
    }
  }
  // Places are spread: of the first thousand of a million about half come from the lower half.
  const Permutation order(1000000, 3);
  std::uint64_t low = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) low += order(i) < 500000 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(low), 500.0, 65.0);
}

/// A batch's pairs as the arrays say.
std::vector<std::pair<Vertex, Vertex>> pairs_of(const LinkBatch& batch) {
  const LinkPairs at = batch.at(batch.words.data());
  std::vector<std::pair<Vertex, Vertex>> pairs;
  for (std::uint64_t p = 0; p < at.pairs; ++p)
    pairs.emplace_back(batch.words[at.first[p]], batch.words[at.second[p]]);
  return pairs;
}

TEST(Links, BatchesAreEachEdgeOnceAndTheirArraysAgree) {
  for (const bool is_directed : {false, true}) {
    const Problem p = problem(is_directed, false, false);
    GraphPair graphs = fixtures::pair_of(p.graph, 1);
    const auto split = std::make_shared<const LinkSplit>(held_out(graphs));
    const auto left = edges_of(graphs);
    LinkDrawer drawer(graphs, split, 3, kSeed);
    drawer.begin_epoch(2);
    std::set<std::pair<Vertex, Vertex>> seen;
    std::vector<std::pair<Vertex, Vertex>> all;
    LinkBatch batch;
    for (std::uint64_t at = 0; at < drawer.links(); at += 100) {
      drawer.make(at, std::min<std::uint64_t>(100, drawer.links() - at), batch);
      EXPECT_LE(batch.words.size(), LinkBatch::most_words(100, 4));
      const std::set<std::uint32_t> seeds(
          batch.words.begin(), batch.words.begin() + static_cast<std::ptrdiff_t>(batch.seeds));
      EXPECT_EQ(seeds.size(), batch.seeds);
      const auto pairs = pairs_of(batch);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (i % 4 != 0) {
          EXPECT_EQ(pairs[i].first, pairs[i - 1].first);
          EXPECT_FALSE(left.contains(pairs[i]));
          EXPECT_NE(pairs[i].first, pairs[i].second);
          continue;
        }
        EXPECT_TRUE(left.contains(pairs[i]));
        auto link = pairs[i];
        if (!is_directed && link.second < link.first) std::swap(link.first, link.second);
        EXPECT_TRUE(seen.insert(link).second);
      }
      const LinkPairs arrays = batch.at(batch.words.data());
      ASSERT_EQ(arrays.offsets[batch.seeds], 2 * batch.pairs);
      for (std::uint64_t s = 0; s < batch.seeds; ++s) {
        for (std::uint32_t e = arrays.offsets[s]; e < arrays.offsets[s + 1]; ++e) {
          const std::uint32_t pair = arrays.entries[e] / 2;
          EXPECT_EQ((arrays.entries[e] % 2 == 0 ? arrays.first : arrays.second)[pair], s);
          if (e > arrays.offsets[s]) {
            EXPECT_LT(arrays.entries[e - 1], arrays.entries[e]);
          }
        }
      }
      all.insert(all.end(), pairs.begin(), pairs.end());
    }
    EXPECT_EQ(seen.size(), drawer.links());
    // Neither the batches' size nor the vertices' order changes what is drawn.
    drawer.make(0, drawer.links(), batch);
    EXPECT_EQ(pairs_of(batch), all);
    GraphPair shuffled = in_random_order(p.graph, 2);
    const auto same = std::make_shared<const LinkSplit>(held_out(shuffled));
    LinkDrawer other(shuffled, same, 3, kSeed);
    other.begin_epoch(2);
    other.make(0, other.links(), batch);
    auto pairs = pairs_of(batch);
    for (auto& [v, w] : pairs) v = shuffled.input_ids[v], w = shuffled.input_ids[w];
    EXPECT_EQ(pairs, all);
    drawer.begin_epoch(3);
    drawer.make(0, drawer.links(), batch);
    EXPECT_NE(pairs_of(batch), all);
  }
}

/// The kernels' loss and gradient against differences of the definition in double precision.
void check_gradient(const team::TeamOptions& options) {
  constexpr std::uint64_t kWidth = 13;
  const Problem p = problem(true, false, false);
  GraphPair graphs = fixtures::pair_of(p.graph, 1);
  const auto split = std::make_shared<const LinkSplit>(held_out(graphs));
  LinkDrawer drawer(graphs, split, 2, kSeed);
  drawer.begin_epoch(1);
  LinkBatch batch;
  drawer.make(5, 21, batch);
  auto z = fixtures::random_values(batch.seeds * kWidth, 3);
  // Large logits, too, of which the exponential is beyond single precision.
  for (std::uint64_t i = 0; i < 2 * kWidth; ++i) z[i] *= 40.0;
  std::vector<reference::Pair> pairs;
  const LinkPairs host = batch.at(batch.words.data());
  for (std::uint64_t i = 0; i < host.pairs; ++i)
    pairs.push_back({host.first[i], host.second[i], i % host.group == 0});
  team::run_team(options, [&](team::Team& team) {
    Context context(team);
    const exec::Stream& stream = context.stream();
    const auto words = on_device(stream, batch.words);
    const auto values = on_device(stream, std::vector<float>(z.begin(), z.end()));
    memory::Buffer<float> gradient(team.device(), z.size());
    LinkLoss loss;
    loss.begin_batches(context, host.pairs, 0.0);
    loss.run(context, batch.at(words.data()), values.data(), kWidth,
             1.0f / static_cast<float>(host.pairs), gradient.data());
    const double expected = reference::link_loss(z, kWidth, pairs);
    EXPECT_NEAR(loss.sum(context) / static_cast<double>(host.pairs), expected, 1e-5 * expected);
    const std::vector<float> found = gradient.to_host(stream);
    for (std::size_t i = 2 * kWidth; i < z.size(); ++i) {
      constexpr double kStep = 1e-5;
      auto moved = z;
      moved[i] += kStep;
      const double above = reference::link_loss(moved, kWidth, pairs);
      moved[i] -= 2 * kStep;
      const double slope = (above - reference::link_loss(moved, kWidth, pairs)) / (2 * kStep);
      EXPECT_NEAR(static_cast<double>(found[i]), slope, 2e-5 * (1.0 + std::abs(slope))) << i;
    }
    // Scaled on the device.
    const auto scale = on_device(stream, std::vector<float>{1024.0f});
    loss.run(context, batch.at(words.data()), values.data(), kWidth,
             1.0f / static_cast<float>(host.pairs), gradient.data(), scale.data());
    const std::vector<float> scaled = gradient.to_host(stream);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(scaled[i], 1024.0f * found[i], 1e-4f * (1.0f + std::abs(scaled[i])));
    loss.begin_batches(context, host.pairs, expected * static_cast<double>(host.pairs));
    // Twice the same, and without a gradient the same loss again.
    loss.run(context, batch.at(words.data()), values.data(), kWidth,
             1.0f / static_cast<float>(host.pairs), gradient.data());
    EXPECT_EQ(gradient.to_host(stream), found);
    loss.run(context, batch.at(words.data()), values.data(), kWidth, 1.0f, nullptr);
    EXPECT_NEAR(loss.sum(context) / static_cast<double>(host.pairs), 3 * expected, 3e-5 * expected);
  });
}

TEST(Links, GradientIsThatOfTheDefinition) { check_gradient(ranks(1)); }
TEST(LinksCuda, GradientIsThatOfTheDefinition) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_gradient(gpus.front());
}

TEST(Links, RanksAndAreasAreThoseOfTheDefinition) {
  constexpr std::uint64_t kLinks = 40;
  std::mt19937 draw(5);
  for (const int values : {4, 1000000}) {  // With many equal ones, and with few.
    std::vector<float> positives(kLinks), negatives(kLinks * LinkSplit::kJudges);
    for (float& x : positives) x = static_cast<float>(draw() % static_cast<unsigned>(values) + 1);
    for (float& x : negatives) x = static_cast<float>(draw() % static_cast<unsigned>(values));
    auto sorted = positives;
    std::sort(sorted.begin(), sorted.end());
    const RankSums sums = rank_links(positives, negatives, sorted);
    EXPECT_NEAR(sums.reciprocal / kLinks, reference::reciprocal_rank(positives, negatives), 1e-12);
    EXPECT_NEAR(static_cast<double>(sums.above_twice) /
                    (2.0 * kLinks * static_cast<double>(negatives.size())),
                reference::roc_area(positives, negatives), 1e-12);
  }
}

TrainOptions of_links(ModelKind kind, std::int64_t fanout, std::uint64_t batch,
                      std::uint64_t negatives = 1) {
  TrainOptions options = fixtures::quick(kind);
  options.model.layers = 2;
  options.model.dropout = 0.0f;
  options.optimizer.weight_decay = 0.0f;
  options.sampled.emplace();
  options.sampled->fanouts.assign(2, fanout);
  options.sampled->batch = batch;
  options.links.emplace();
  options.links->negatives = negatives;
  return options;
}

Trained train_links(const Problem& p, TrainOptions options, const team::TeamOptions& team_options,
                    bool in_order = true, bool resumes = false) {
  GraphPair graphs = in_order ? fixtures::pair_of(p.graph, team_options.ranks)
                              : in_random_order(p.graph, team_options.ranks);
  options.links->split = std::make_shared<const LinkSplit>(held_out(graphs));
  Dataset dataset = p.dataset;
  drop_labels(dataset, 16);
  return fixtures::train_team(graphs, dataset, options, team_options, resumes,
                              [](const SplitScore& score, std::vector<double>& numbers) {
                                numbers.push_back(score.loss);
                                numbers.push_back(score.accuracy);
                                numbers.push_back(score.mrr);
                              });
}

void expect_near(const Trained& found, const Trained& expected, double tolerance) {
  ASSERT_EQ(found.numbers.size(), expected.numbers.size());
  for (std::size_t i = 0; i < expected.numbers.size(); ++i)
    ASSERT_NEAR(found.numbers[i], expected.numbers[i], tolerance) << "number " << i;
}

/// One batch of all edges with all neighbours: the same for every team.
void check_teams(const std::vector<team::TeamOptions>& teams) {
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const bool is_directed : {false, true}) {
      SCOPED_TRACE(name_of(kind) + (is_directed ? ", directed" : ""));
      const Problem p = problem(is_directed, false, false);
      TrainOptions options = of_links(kind, -1, 3000, 2);
      // Norms of batches see a vertex once for each rank that has it.
      options.model.norm = NormKind::none;
      options.optimizer.kind = OptimizerKind::sgd;
      options.optimizer.rate = 0.002f;
      options.epochs = 3;
      options.allow_tf32 = false;
      const Trained expected = train_links(p, options, ranks(1));
      for (const auto& team : teams) {
        SCOPED_TRACE(testing_support::name_of(team));
        options.sampled->exact_evaluation = team.ranks != 3;
        expect_near(train_links(p, options, team, team.ranks != 4), expected, 2e-3);
      }
    }
  }
}

TEST(LinkTraining, OfOneBatchOfAllIsTheSameForEveryTeam) {
  check_teams({ranks(2), ranks(3), ranks(4)});
}
TEST(LinkTrainingCuda, OfOneBatchOfAllIsTheSameForEveryTeam) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_teams(gpus);
}

TEST(LinkTraining, FindsTheLinksOfCommunities) {
  Problem p;
  p.graph = fixtures::generated("community:2000,20", true);
  exec::ThreadPool pool(1);
  p.dataset = generate_dataset(p.graph.vertices, 16, 10, 1, pool);
  for (const bool is_exact : {true, false}) {
    TrainOptions options = of_links(ModelKind::sage, 10, 512);
    options.sampled->exact_evaluation = is_exact;
    options.epochs = 8;
    const Trained found = train_links(p, options, ranks(2));
    EXPECT_GT(found.result.test_accuracy, 0.8);
    EXPECT_GT(found.result.test_mrr, 0.15);
  }
}

/// In 16 bits: near float32's numbers, the same again, judged by batches and by the whole graph.
void check_types(const std::vector<team::TeamOptions>& teams) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const auto& team : teams) {
      for (const NumberType type : {NumberType::float16, NumberType::bfloat16}) {
        SCOPED_TRACE(name_of(kind) + ", " + name_of(type) + ", " + testing_support::name_of(team));
        TrainOptions options = of_links(kind, 5, 300, 2);
        // Sums of GIN grow without one.
        options.model.norm = NormKind::layer;
        options.optimizer.kind = OptimizerKind::sgd;
        options.optimizer.rate = 0.002f;
        options.epochs = 2;
        options.sampled->exact_evaluation = team.ranks != 2;
        const Trained expected = train_links(p, options, team);
        options.type = type;
        const Trained found = train_links(p, options, team);
        const double rounding = type == NumberType::float16 ? 0x1p-11 : 0x1p-8;
        // Mean reciprocal ranks jump where two scores that are near each other change places.
        expect_near(found, expected, 16 * rounding);
        EXPECT_EQ(train_links(p, options, team).parameters, found.parameters);
        EXPECT_NE(found.parameters, expected.parameters);
      }
    }
  }
}

TEST(LinkTraining, InSixteenBitsIsNearThatInThirtyTwo) { check_types({ranks(1), ranks(2)}); }
TEST(LinkTrainingCuda, InSixteenBitsIsNearThatInThirtyTwo) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_types({gpus.front()});
}

void check_uneven(const std::vector<team::TeamOptions>& teams) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : {ModelKind::sage, ModelKind::gin}) {
    for (const auto& team : teams) {
      SCOPED_TRACE(name_of(kind) + ", " + testing_support::name_of(team));
      TrainOptions options = of_links(kind, 3, 211);
      options.epochs = 2;
      options.sampled->exact_evaluation = team.ranks != 3;
      const Trained one = train_links(p, options, team);
      const Trained other = train_links(p, options, team);
      EXPECT_EQ(one.result.epochs, 2u);
      EXPECT_EQ(one.numbers, other.numbers);
      EXPECT_EQ(one.parameters, other.parameters);
    }
  }
}

TEST(LinkTraining, OfUnevenBatchesEndsAndRepeats) { check_uneven({ranks(1), ranks(3), ranks(5)}); }
TEST(LinkTrainingCuda, OfUnevenBatchesEndsAndRepeats) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_uneven(gpus);
}

/// A ring of a few vertices: fewer training edges than ranks, and false targets that repeat.
void check_few_edges(const team::TeamOptions& team_options) {
  Problem p;
  p.graph = fixtures::from_list(3, {{0, 1}, {1, 2}, {2, 0}});
  exec::ThreadPool pool(1);
  p.dataset.vertices = 3;
  p.dataset.width = 2;
  p.dataset.dense = {1.0f, 0.0f, 0.0f, 1.0f, 1.0f, 1.0f};
  GraphPair graphs = fixtures::pair_of(p.graph, team_options.ranks);
  std::uint64_t seed = 1;
  std::shared_ptr<const LinkSplit> split;
  for (; split == nullptr; ++seed) {
    try {
      split = std::make_shared<const LinkSplit>(held_out(graphs, seed));
    } catch (const InputError&) {
    }
  }
  EXPECT_EQ(split->counts, (std::array<std::uint64_t, kSplits>{1, 1, 1}));
  drop_labels(p.dataset, 4);
  TrainOptions options = of_links(ModelKind::gcn, 2, 8, 3);
  options.links->split = split;
  options.model.hidden = 4;
  options.epochs = 2;
  team::run_team(team_options, [&](team::Team& team) {
    Trainer trainer(team, graphs, p.dataset, options);
    EXPECT_EQ(trainer.run([](const EpochRecord&) {}).epochs, 2u);
  });
}

TEST(LinkTraining, OfFewerEdgesThanRanks) { check_few_edges(ranks(4)); }
TEST(LinkTrainingCuda, OfFewerEdgesThanRanks) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_few_edges(gpus.back());
}

void check_going_on(const team::TeamOptions& team_options) {
  const Problem p = problem(true, false, false);
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("warren_links_" + std::to_string(::getpid())))
          .string();
  TrainOptions options = of_links(ModelKind::sage, 3, 300);
  options.epochs = 3;
  const Trained whole = train_links(p, options, team_options);
  options.checkpoint = folder;
  options.checkpoint_batches = 2;
  options.checkpoint_every = 100;
  struct Stopped {};
  GraphPair graphs = fixtures::pair_of(p.graph, team_options.ranks);
  options.links->split = std::make_shared<const LinkSplit>(held_out(graphs));
  Dataset dataset = p.dataset;
  drop_labels(dataset, 16);
  team::run_team(team_options, [&](team::Team& team) {
    Trainer trainer(team, graphs, dataset, options);
    try {
      (void)trainer.run([](const EpochRecord& record) {
        if (record.epoch == 2) throw Stopped();
      });
    } catch (const Stopped&) {
    }
  });
  EXPECT_NE(read_tensors(folder + "/state.safetensors").text("batches", folder), "0");
  EXPECT_EQ(read_state_settings(folder).at("task"), "link");
  const Trained rest = train_links(p, options, team_options, true, true);
  ASSERT_EQ(rest.numbers.size() * 3, whole.numbers.size() * 2);
  for (std::size_t i = 0; i < rest.numbers.size(); ++i)
    EXPECT_NEAR(rest.numbers[i], whole.numbers[i + whole.numbers.size() / 3], 1e-12) << i;
  EXPECT_EQ(rest.parameters, whole.parameters);
  EXPECT_EQ(rest.result.test_mrr, whole.result.test_mrr);
  // Not for classes of vertices.
  TrainOptions other = options;
  other.links.reset();
  EXPECT_THROW((void)fixtures::train_on(p, other, team_options, false, true), InputError);
  std::filesystem::remove_all(folder);
}

TEST(LinkTraining, GoesOnFromTheMiddleOfAnEpoch) { check_going_on(ranks(2)); }
TEST(LinkTrainingCuda, GoesOnFromTheMiddleOfAnEpoch) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  for (const auto& team : gpus) check_going_on(team);
}

TEST(LinkTraining, RefusesWhatDoesNotFitTogether) {
  const Problem p = problem(false, false, false);
  EXPECT_THROW((void)train_links(p, of_links(ModelKind::gcn, 3, 100, 0), ranks(1)), UsageError);
  EXPECT_THROW((void)train_links(p, of_links(ModelKind::gcn, 3, 1u << 30, 100), ranks(1)),
               UsageError);
  TrainOptions options = of_links(ModelKind::gcn, 3, 100);
  options.sampled.reset();
  EXPECT_THROW((void)train_links(p, options, ranks(1)), UsageError);
}

}  // namespace
}  // namespace warren::learn
