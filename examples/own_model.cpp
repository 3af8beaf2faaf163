// SPDX-License-Identifier: Apache-2.0
// A graph neural network of one's own, from the library's parts: a graph convolution whose output
// is added to a linear layer of the features, and a second convolution on top; trained on two
// ranks. Prints the share of test vertices that it gets right.
#include <cstdio>

#include "warren/dataset/dataset.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/partition.hpp"
#include "warren/learn/loss.hpp"
#include "warren/learn/model.hpp"
#include "warren/learn/optimizer.hpp"

using namespace warren;

constexpr std::uint64_t kFeatures = 16, kHidden = 32, kClasses = 4, kEpochs = 60;
constexpr int kRanks = 2;

int main() {
  exec::ThreadPool pool(2);
  const auto spec = graph::parse_generator("community:2000,6", 1);
  auto graph = std::make_shared<graph::Graph>(
      graph::build(*graph::make_source(*spec), graph::effective_options(*spec, {}), pool));
  const auto data = learn::generate_dataset(graph->vertices, kFeatures, kClasses, 1, pool);
  // Undirected: the graph is its own reverse.
  const learn::GraphPair graphs{graph, graph, graph::partition_ranges(*graph, kRanks).cuts, {}};

  team::run_team({exec::DeviceKind::cpu, kRanks, 2}, [&](team::Team& team) {
    learn::Context context(team);
    const exec::Stream& stream = context.stream();
    const learn::Neighbourhood neighbours(team, stream, graphs);
    const std::uint64_t n = neighbours.out->rows();
    const std::uint64_t first = neighbours.out->first();
    context.set_rows(n, neighbours.out->input_ids());
    const auto mean = std::make_shared<const learn::Aggregation>(context, neighbours, graphs,
                                                                 learn::Weighting::symmetric);
    learn::Parameters parameters;
    auto below = make_gcn(parameters, {.name = "below", .in = kFeatures, .out = kHidden}, mean);
    auto skip = make_linear(parameters, {.name = "skip", .in = kFeatures, .out = kHidden});
    auto above = make_gcn(parameters, {.name = "above", .in = kHidden, .out = kClasses}, mean);
    parameters.allocate(stream, 1);
    learn::Optimizer adam(stream, {.rate = 0.02f}, parameters);
    learn::Loss loss(learn::LossKind::cross_entropy);

    const auto device_rows = [&]<class T>(const std::vector<T>& all, std::uint64_t width) {
      memory::Buffer<T> mine(team.device(), n * width);
      mine.upload(stream, std::span(all).subspan(first * width, n * width));
      stream.synchronize();
      return mine;
    };
    const auto features = device_rows(data.dense, kFeatures);
    learn::Targets targets;
    targets.classes = device_rows(data.labels, 1);
    targets.splits = device_rows(data.splits, 1);
    targets.counts = data.counts;
    const auto room = [&](std::uint64_t k) { return memory::Buffer<float>(team.device(), n * k); };
    const auto hidden = room(kHidden), dh = room(kHidden), dx = room(kFeatures),
               scores = room(kClasses), ds = room(kClasses), skipped = room(kHidden);
    const auto x = learn::Operand::of(n, features.data(), kFeatures);
    const auto h = learn::Operand::of(n, hidden.data(), kHidden);
    const learn::Epilogue relu{.residual = skipped.data(), .activation = learn::Activation::relu};

    for (std::uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
      parameters.clear_gradients(stream);
      below->forward(context, x, hidden.data());
      skip->forward(context, x, skipped.data());
      apply(stream, relu, n, kHidden, hidden.data());
      above->forward(context, h, scores.data());
      loss.run(context, targets, scores.data(), kClasses, ds.data());
      above->backward(context, h, ds.data(), dh.data());
      apply_backward(stream, relu, n, kHidden, hidden.data(), dh.data());
      below->backward(context, x, dh.data(), dx.data());
      skip->backward(context, x, dh.data(), dx.data());
      parameters.reduce_gradients(context);
      adam.update(stream, epoch, 0.02f);
    }
    const double right = loss.result(context, targets)[2].accuracy;
    if (team.rank() == 0) std::printf("%.0f%% of the test vertices\n", 100.0 * right);
  });
}
