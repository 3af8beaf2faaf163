// SPDX-License-Identifier: Apache-2.0
#include "learn/train/class_weights.hpp"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "warren/core/error.hpp"

namespace warren::learn {

std::vector<float> class_factors(const Dataset& dataset, const TrainOptions& options) {
  if (!options.class_weights) return {};
  const std::vector<float>& given = *options.class_weights;
  require(!options.links && dataset.loss == LossKind::cross_entropy,
          "--class-weights: got a task without classes, expected vertices of one class each");
  require(given.empty() || given.size() == dataset.classes,
          fmt::format("--class-weights: got {} numbers, expected {}, one for each class",
                      given.size(), dataset.classes));
  std::vector<std::uint64_t> counts(dataset.classes);
  for (std::uint64_t v = 0; v < dataset.vertices; ++v)
    if (dataset.splits[v] == kTrain) ++counts[static_cast<std::uint64_t>(dataset.labels[v])];
  std::vector<double> weights(dataset.classes);
  double sum = 0.0;
  std::uint64_t training = 0;
  for (std::uint64_t c = 0; c < dataset.classes; ++c) {
    const double of_class = counts[c] == 0 ? 0.0 : 1.0 / static_cast<double>(counts[c]);
    weights[c] = given.empty() ? of_class : static_cast<double>(given[c]);
    require(weights[c] >= 0.0 && std::isfinite(weights[c]),
            fmt::format("--class-weights: got {} for class {}, expected a finite number, 0 or more",
                        weights[c], c));
    sum += weights[c] * static_cast<double>(counts[c]);
    training += counts[c];
  }
  require(sum > 0.0 || training == 0,
          "--class-weights: got 0 for every class that training vertices have, expected more");
  std::vector<float> factors(dataset.classes);
  for (std::uint64_t c = 0; c < dataset.classes && sum > 0.0; ++c)
    factors[c] = static_cast<float>(weights[c] * static_cast<double>(training) / sum);
  return factors;
}

}  // namespace warren::learn
