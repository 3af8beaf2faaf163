// SPDX-License-Identifier: Apache-2.0
// A graph convolution of one's own, trained on one rank until it knows most of the test vertices.
#include "warren/learn.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>

#include "warren/dataset.hpp"
#include "warren/graph.hpp"

using namespace warren;

int main() {
  constexpr std::uint64_t kFeatures = 8, kClasses = 4, kEpochs = 60;
  exec::ThreadPool pool(2);
  const auto spec = graph::parse_generator("community:1000,6", 1);
  const auto graph = std::make_shared<graph::Graph>(
      graph::build(*graph::make_source(*spec), graph::effective_options(*spec, {}), pool));
  const auto data = learn::generate_dataset(graph->vertices, kFeatures, kClasses, 1, pool);
  const learn::GraphPair graphs{graph, graph, graph::partition_ranges(*graph, 1).cuts, {}};
  int status = EXIT_SUCCESS;
  team::run_team({exec::DeviceKind::cpu, 1, 2}, [&](team::Team& team) {
    learn::Context context(team);
    const exec::Stream& stream = context.stream();
    const learn::Neighbourhood neighbours(team, stream, graphs);
    const std::uint64_t n = neighbours.out->rows();
    context.set_rows(n, neighbours.out->input_ids());
    const auto mean = std::make_shared<const learn::Aggregation>(context, neighbours, graphs,
                                                                 learn::Weighting::symmetric);
    learn::Parameters parameters;
    const auto layer =
        make_gcn(parameters, {.name = "layer", .in = kFeatures, .out = kClasses}, mean);
    parameters.allocate(stream, 1);
    learn::Optimizer adam(stream, {.rate = 0.05f}, parameters);
    learn::Loss loss(learn::LossKind::cross_entropy);
    memory::Buffer<float> features(team.device(), n * kFeatures);
    features.upload(stream, std::span(data.dense));
    learn::Targets targets;
    targets.classes = memory::Buffer<std::int32_t>(team.device(), n);
    targets.classes.upload(stream, std::span(data.labels));
    targets.splits = memory::Buffer<std::uint8_t>(team.device(), n);
    targets.splits.upload(stream, std::span(data.splits));
    targets.counts = data.counts;
    const memory::Buffer<float> scores(team.device(), n * kClasses);
    const memory::Buffer<float> slope(team.device(), n * kClasses);
    const memory::Buffer<float> back(team.device(), n * kFeatures);
    const auto x = learn::Operand::of(n, features.data(), kFeatures);
    for (std::uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
      parameters.clear_gradients(stream);
      layer->forward(context, x, scores.data());
      loss.run(context, targets, scores.data(), kClasses, slope.data());
      layer->backward(context, x, slope.data(), back.data());
      parameters.reduce_gradients(context);
      adam.update(stream, epoch, 0.05f);
    }
    const double right = loss.result(context, targets)[2].accuracy;
    std::cout << 100.0 * right << "% of the test vertices\n";
    if (right < 0.5) status = EXIT_FAILURE;
  });
  return status;
}
