// SPDX-License-Identifier: Apache-2.0
// Trainings and predictions as calls: of datasets by name and of arrays, on one rank and several,
// with checkpoints; and arguments that are refused.
#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "warren/api/checks.hpp"
#include "warren/api/report_training.hpp"
#include "warren/warren.hpp"

#include "support/message_of.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;
using testing_support::message_of;

/// A folder that goes with the test.
class TrainCall : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "warren-train-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

Dataset drawn() {
  static const Dataset dataset = read_dataset("community:600,6", {.features = 12, .classes = 3});
  return dataset;
}

/// The same as arrays, of a graph in memory.
DatasetArrays arrays_of(const Dataset& dataset, std::array<std::vector<Vertex>, 3>& splits) {
  const learn::Dataset& content = dataset.content();
  for (Vertex v = 0; v < content.vertices; ++v)
    if (content.splits[v] != learn::kNoSplit) splits.at(content.splits[v] - 1u).push_back(v);
  return {.features = content.dense,
          .labels = content.labels,
          .train = splits[0],
          .validation = splits[1],
          .test = splits[2]};
}

TrainOptions few(const std::string& model = "gcn") {
  TrainOptions options;
  options.model = model;
  options.hidden = 16;
  options.epochs = 4;
  options.device = DeviceKind::cpu;
  return options;
}

TEST_F(TrainCall, EveryModelIsTrainedAndAskedInBothModes) {
  for (const char* model : {"gcn", "sage", "gat", "gatv2", "gin"}) {
    for (const char* mode : {"full", "sampled"}) {
      SCOPED_TRACE(std::string(model) + ", " + mode);
      TrainOptions options = few(model);
      options.mode = mode;
      options.epochs = 2;
      std::vector<double> losses;
      options.progress = [&](const learn::EpochRecord& epoch) { losses.push_back(epoch.loss); };
      const TrainResult result = train(drawn(), options);
      ASSERT_EQ(result.history.size(), 2u);
      EXPECT_EQ(losses, (std::vector<double>{result.history[0].loss, result.history[1].loss}));
      EXPECT_EQ(result.batches == 0, options.mode == "full");
      EXPECT_GT(result.info.seconds, 0.0);
      ASSERT_EQ(result.scores.size(), 600u * 3);
      const PredictResult asked = predict(drawn(), result.model, {.device = DeviceKind::cpu});
      EXPECT_EQ(asked.scores, result.scores);
      ASSERT_TRUE(asked.accuracy);
      EXPECT_EQ((*asked.accuracy)[2].accuracy, result.summary.test_accuracy);
      EXPECT_EQ(asked.is_trained_on, true);
      ASSERT_EQ(asked.labels.size(), 600u);
      const float* row = asked.scores.data();
      EXPECT_EQ(asked.labels[0], std::max_element(row, row + 3) - row);
      const std::string told = api::to_json(*asked.report);
      EXPECT_THAT(told, HasSubstr("\"task\":\"node\",\"normalize\""));
      EXPECT_THAT(told, HasSubstr("\"vertices\":600"));
      EXPECT_THAT(told, HasSubstr("\"trained_on\":true"));
    }
  }
}

TEST_F(TrainCall, ItLearnsAndRepeats) {
  TrainOptions options = few("sage");
  options.epochs = 30;
  const TrainResult first = train(drawn(), options);
  EXPECT_GT(first.summary.test_accuracy, 0.8);
  EXPECT_LT(first.history.back().loss, first.history.front().loss);
  EXPECT_EQ(train(drawn(), options).scores, first.scores);
  options.devices = 3;
  options.reorder = "degree";
  const TrainResult several = train(drawn(), options);
  EXPECT_EQ(several.info.devices, 3);
  for (std::size_t i = 0; i < first.scores.size(); ++i)
    ASSERT_NEAR(several.scores[i], first.scores[i], 0.02) << i;
}

/// Of a generated set whose edges have weights.
TEST_F(TrainCall, EdgesCountTheirWeights) {
  DatasetOptions how{.features = 12, .classes = 3};
  how.graph.weights = "uniform:1:9";
  const Dataset weighted = read_dataset("community:600,6", how);
  for (const char* model : {"gcn", "sage", "gat", "gatv2"}) {
    SCOPED_TRACE(model);
    TrainOptions options = few(model);
    const TrainResult plain = train(weighted, options);
    EXPECT_EQ(plain.scores, train(drawn(), options).scores);
    options.edge_weights = true;
    const TrainResult found = train(weighted, options);
    EXPECT_NE(found.scores, plain.scores);
    EXPECT_TRUE(found.model.facts().model.edge_weights);
    options.devices = 3;
    const TrainResult several = train(weighted, options);
    for (std::size_t i = 0; i < found.scores.size(); ++i)
      ASSERT_NEAR(several.scores[i], found.scores[i], 1e-3) << i;
    const PredictResult asked = predict(weighted, found.model, {.device = DeviceKind::cpu});
    EXPECT_EQ(asked.scores, found.scores);
    EXPECT_EQ(asked.is_trained_on, true);
    EXPECT_EQ(message_of([&] { (void)predict(drawn(), found.model); }),
              "dataset: got a graph without weights, expected weights: the model was trained with "
              "edge_weights");
    // Read as for training.
    const Dataset again =
        read_dataset("community:600,6", dataset_options(found.model, "community:600,6"));
    EXPECT_EQ(predict(again, found.model, {.device = DeviceKind::cpu}).scores, found.scores);
  }
}

TEST_F(TrainCall, DrawnEdgesCountTheirWeights) {
  DatasetOptions how{.features = 12, .classes = 3};
  how.graph.weights = "uniform:1:9";
  const Dataset weighted = read_dataset("community:600,6", how);
  for (const char* model : {"gcn", "sage", "gat", "gatv2"}) {
    SCOPED_TRACE(model);
    TrainOptions options = few(model);
    options.mode = "sampled";
    options.fanout = {{4, 3}};
    const TrainResult plain = train(weighted, options);
    options.edge_weights = true;
    const TrainResult found = train(weighted, options);
    EXPECT_NE(found.scores, plain.scores);
    EXPECT_TRUE(found.model.facts().model.edge_weights);
    for (const char* edges : {"host", "replicated"}) {
      options.edges = edges;
      EXPECT_EQ(train(weighted, options).scores, found.scores) << edges;
    }
    const PredictResult asked = predict(weighted, found.model, {.device = DeviceKind::cpu});
    EXPECT_EQ(asked.scores, found.scores);
    EXPECT_EQ(asked.is_trained_on, true);
  }
}

TEST_F(TrainCall, ArraysAreADatasetToo) {
  std::array<std::vector<Vertex>, 3> splits;
  const DatasetArrays arrays = arrays_of(drawn(), splits);
  const Dataset made = make_dataset(drawn().graph(), arrays);
  EXPECT_EQ(made.classes(), 3u);
  EXPECT_EQ(made.content().counts, drawn().content().counts);
  TrainOptions options = few();
  EXPECT_EQ(train(made, options).scores, train(drawn(), options).scores);

  // Any number of labels a vertex.
  std::vector<std::uint8_t> rows;
  for (const std::int32_t label : arrays.labels)
    for (std::int32_t c = 0; c < 3; ++c) rows.push_back(label == c || c == 0 ? 1 : 0);
  DatasetArrays several = arrays;
  several.labels = {};
  several.label_rows = rows;
  const Dataset of_several = make_dataset(drawn().graph(), several);
  const TrainResult result = train(of_several, options);
  EXPECT_EQ(result.model.facts().loss, learn::LossKind::binary);
  EXPECT_TRUE(predict(of_several, result.model).labels.empty());

  // Features alone are enough to ask a model.
  const Dataset unlabelled = make_dataset(drawn().graph(), {.features = arrays.features});
  EXPECT_EQ(unlabelled.classes(), 0u);
  const TrainResult trained = train(drawn(), options);
  const PredictResult asked = predict(unlabelled, trained.model, {.embeddings = true});
  EXPECT_FALSE(asked.accuracy);
  EXPECT_EQ(asked.scores, trained.scores);
  EXPECT_EQ(asked.embeddings.size(), 600u * 16);
}

TEST_F(TrainCall, LinksAreLearntWithoutLabels) {
  TrainOptions options = few("sage");
  options.mode = "sampled";
  options.task = "link";
  options.epochs = 1;
  options.fanout = {{4, 3}};
  const Dataset dataset = read_dataset("community:600,6", {.features = 12});
  EXPECT_FALSE(dataset.is_labelled());
  const TrainResult result = train(dataset, options);
  EXPECT_TRUE(result.model.facts().is_of_links);
  EXPECT_EQ(result.scores.size(), 600u * 16);
  EXPECT_EQ(predict(dataset, result.model).columns, 16u);
  EXPECT_THAT(message_of([&] { (void)train(dataset, few()); }),
              HasSubstr("dataset: got one without"));
}

TEST_F(TrainCall, ModelsGoToFilesAndBack) {
  const TrainResult result = train(drawn(), few("gat"));
  result.model.save(in("model"));
  const Model loaded = load_model(in("model"));
  ASSERT_EQ(loaded.weights().size(), result.model.weights().size());
  for (std::size_t i = 0; i < loaded.weights().size(); ++i) {
    EXPECT_EQ(loaded.weights()[i].name, result.model.weights()[i].name);
    EXPECT_EQ(loaded.weights()[i].values, result.model.weights()[i].values);
  }
  EXPECT_EQ(predict(drawn(), loaded).scores, result.scores);
  // How the dataset was read is in it.
  const DatasetOptions again = dataset_options(loaded, "community:600,6");
  EXPECT_EQ(again.features, 12u);
  EXPECT_EQ(again.classes, 3u);
  EXPECT_THROW((void)load_model(in("none")), InputError);
}

TEST_F(TrainCall, ATrainingGoesOnFromItsCheckpoint) {
  TrainOptions options = few();
  options.epochs = 6;
  const TrainResult whole = train(drawn(), options);
  options.checkpoint = in("checkpoint");
  options.epochs = 3;
  (void)train(drawn(), options);
  EXPECT_THAT(message_of([&] { (void)train(drawn(), options); }),
              HasSubstr("resume to go on from it, overwrite to replace it"));
  options.resume = true;
  options.epochs = 6;
  const TrainResult resumed = train(drawn(), options);
  EXPECT_EQ(resumed.history.size(), 6u);
  EXPECT_EQ(resumed.scores, whole.scores);
  EXPECT_EQ(resumed.warnings, std::vector<std::string>{});
  EXPECT_THAT(train(drawn(), options).warnings,
              testing::ElementsAre(HasSubstr("nothing was trained")));
  options.lr = 0.5;
  EXPECT_THAT(message_of([&] { (void)train(drawn(), options); }), HasSubstr("lr 0.01"));
  EXPECT_EQ(predict(drawn(), load_model(options.checkpoint)).scores, whole.scores);
}

TEST_F(TrainCall, OptionsWithoutEffectAreTold) {
  TrainOptions options = few();
  EXPECT_EQ(train(drawn(), options).warnings, std::vector<std::string>{});
  options.residual = true;
  options.heads = 4;
  EXPECT_THAT(train(drawn(), options).warnings,
              testing::UnorderedElementsAre(HasSubstr("residual has no effect"),
                                            HasSubstr("heads has no effect")));
}

TEST_F(TrainCall, AProgressFunctionEndsIt) {
  TrainOptions options = few();
  int calls = 0;
  options.progress = [&](const learn::EpochRecord& epoch) {
    ++calls;
    if (epoch.epoch == 2) throw Interrupted("enough");
  };
  options.devices = 2;
  EXPECT_EQ(message_of([&] { (void)train(drawn(), options); }), "enough");
  EXPECT_EQ(calls, 2);
  // A call of the same session would wait for the training.
  options.progress = [&](const learn::EpochRecord&) {
    (void)connected_components(drawn().graph(), {.device = DeviceKind::cpu, .devices = 2});
  };
  EXPECT_THAT(message_of([&] { (void)train(drawn(), options); }),
              HasSubstr("wait for it for ever"));
  options.progress = {};
  EXPECT_EQ(train(drawn(), options).history.size(), 4u);
}

TEST_F(TrainCall, AnInterruptEndsIt) {
  TrainOptions options = few();
  options.epochs = 10'000'000;
  bool may_end = false;
  options.progress = [&](const learn::EpochRecord&) { may_end = true; };
  std::atomic<int> asked{0};
  set_interrupt_check([&] { return ++asked > 2; });
  EXPECT_THROW((void)train(drawn(), options), Interrupted);
  set_interrupt_check({});
  EXPECT_TRUE(may_end);
}

TEST_F(TrainCall, BadOptionsAreRefusedByName) {
  const auto refused = [](auto&& change) {
    TrainOptions options = few();
    change(options);
    return message_of([&] { (void)train(drawn(), options); });
  };
  EXPECT_EQ(
      refused([](auto& o) { o.model = "gnc"; }),
      "model \"gnc\" is unknown; did you mean \"gcn\"?; there is: gcn, sage, gat, gatv2, gin");
  EXPECT_EQ(refused([](auto& o) { o.layers = 0; }), "layers: got 0, expected 1 to 64");
  EXPECT_EQ(refused([](auto& o) { o.dropout = 1.5; }), "dropout: got 1.5, expected 0 to 0.999");
  EXPECT_THAT(refused([](auto& o) { o.weight_decay = -1.0; }), HasSubstr("weight_decay: got -1"));
  EXPECT_THAT(refused([](auto& o) { o.fanout = {{3}}; }), HasSubstr("fanout is for mode sampled"));
  EXPECT_THAT(refused([](auto& o) {
                o.mode = "sampled", o.fanout = {{3, 0}};
              }),
              HasSubstr("fanout 0: a hop takes"));
  EXPECT_THAT(refused([](auto& o) {
                o.mode = "sampled", o.fanout = {{3, 2}}, o.layers = 3;
              }),
              HasSubstr("layers 3 and fanout 3,2"));
  EXPECT_THAT(refused([](auto& o) { o.mode = "sampled", o.batch = 5000; }),
              HasSubstr("batch 5000: there are"));
  EXPECT_THAT(refused([](auto& o) { o.mode = "sampled", o.weighted = true; }),
              HasSubstr("dataset: got a graph without weights"));
  EXPECT_EQ(refused([](auto& o) { o.edge_weights = true; }),
            "dataset: got a graph without weights, expected weights: edge_weights sums over "
            "neighbours by them");
  EXPECT_THAT(refused([](auto& o) { o.model = "gin", o.edge_weights = true; }),
              HasSubstr("model gin has no form with weights of edges: edge_weights is for model "
                        "gcn, gat and gatv2, and sage with aggregate mean or sum"));
  EXPECT_THAT(refused([](auto& o) { o.task = "link", o.mode = "sampled", o.edge_weights = true; }),
              HasSubstr("task link has no form with weights of edges"));
  EXPECT_THAT(refused([](auto& o) { o.task = "link"; }), HasSubstr("give mode sampled"));
  EXPECT_THAT(refused([](auto& o) { o.resume = true; }), HasSubstr("resume needs checkpoint"));
  EXPECT_THAT(refused([](auto& o) { o.model = "gat", o.heads = 7; }), HasSubstr("7 heads"));
  EXPECT_THAT(refused([](auto& o) { o.reorder = "rabit"; }), HasSubstr("reorder \"rabit\""));
}

TEST_F(TrainCall, BadArraysAreRefusedByName) {
  const Graph graph = read("grid:2x2");
  const std::vector<float> x(8, 1.0f);
  std::vector<float> bad = x;
  bad[5] = std::numeric_limits<float>::infinity();
  const std::vector<std::int32_t> labels = {0, 1, -1, 1}, same = {0, 0, 0, 0}, high = {0, 1, -2, 0};
  const std::vector<Vertex> first = {0}, second = {1}, third = {3}, none = {2}, outside = {4};
  const auto refused = [&](const DatasetArrays& arrays) {
    return message_of([&] { (void)make_dataset(graph, arrays); });
  };
  EXPECT_EQ(refused({.features = std::span(x).first(7)}),
            "features: got 7 numbers, expected 4 x f, a row for each vertex");
  EXPECT_EQ(refused({.features = bad}),
            "features: got inf in row 2, column 1, expected finite numbers");
  EXPECT_THAT(refused({.features = x, .labels = std::span(labels).first(3)}),
              HasSubstr("labels: got 3, expected 4"));
  EXPECT_THAT(refused({.features = x, .labels = high}), HasSubstr("labels[2]: got -2"));
  EXPECT_THAT(refused({.features = x, .labels = same}), HasSubstr("labels: got 1 classes"));
  EXPECT_THAT(refused({.features = x, .train = first}), HasSubstr("labels: got none"));
  EXPECT_THAT(refused({.features = x, .labels = labels, .train = outside}),
              HasSubstr("train[0]: got 4, expected a vertex, 0 to 3"));
  EXPECT_THAT(refused({.features = x, .labels = labels, .train = none}),
              HasSubstr("train[0]: got 2, expected a vertex with a label"));
  EXPECT_THAT(refused({.features = x, .labels = labels, .train = first, .validation = first}),
              HasSubstr("validation[0]: got 0 for the second time"));
  EXPECT_THAT(refused({.features = x, .labels = labels, .train = first, .validation = second}),
              HasSubstr("test: got no vertices"));
  EXPECT_THROW((void)read_dataset("no-such-dataset"), InputError);
  EXPECT_THAT(message_of([] { (void)read_dataset("grid:3x3", {.classes = 2}); }),
              HasSubstr("give features and classes"));
  EXPECT_THAT(message_of([] { (void)read_dataset("grid:3x3", {.features = 2, .labels = "all"}); }),
              HasSubstr("labels \"all\" is unknown"));
}

TEST_F(TrainCall, AModelIsAskedOfWhatFitsIt) {
  const Model model = train(drawn(), few()).model;
  const Dataset wider = read_dataset("community:600,6", {.features = 13, .classes = 3});
  EXPECT_EQ(message_of([&] { (void)predict(wider, model); }),
            "model: the model is of 12 features, but this dataset has 13");
  const Dataset finer = read_dataset("community:600,6", {.features = 12, .classes = 4});
  EXPECT_THAT(message_of([&] { (void)predict(finer, model); }), HasSubstr("3 classes"));
}

TEST(LibraryWords, OptionsAreNamedAsTheLibraryNamesThem) {
  EXPECT_EQ(api::in_library_words("--weight-decay 1 and (--lr): a-b, x -- y"),
            "weight_decay 1 and (lr): a-b, x -- y");
  EXPECT_EQ(api::in_library_words("--resume needs --checkpoint DIR"), "resume needs checkpoint");
  EXPECT_EQ(api::in_library_words("give --features F and --classes C: --type FP16-like"),
            "give features and classes: type FP16-like");
  EXPECT_EQ(api::in_library_words("--weights uniform:LO:HI draws, of --devices N each"),
            "weights uniform:LO:HI draws, of devices each");
}

TEST(LibraryWords, CommandsAreLeftAsTheyAreTyped) {
  const std::string text =
      "write it ('warren convert g OUT.wgr --symmetrize'), docker run --gpus all, srun --mpi=pmix";
  EXPECT_EQ(api::in_library_words(text + ": --edges file"), text + ": edges file");
  EXPECT_EQ(api::in_library_words("'warren convert --again"), "'warren convert --again");
}

}  // namespace
}  // namespace warren
