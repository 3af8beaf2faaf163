// SPDX-License-Identifier: Apache-2.0
// P values of the ways to choose, each from as many trials as are asked for.
#pragma once

#include "reference/chi_square.hpp"
#include "sample/choose.hpp"

namespace warren::sample::detail {

enum class Algorithm { best, path_doubling };

/// Calls choose(draws, scratch, emit) for every trial, and count(slot, place) for what it emits.
template <class Choose, class Count>
void for_each_trial(std::uint64_t seed, std::uint64_t trials, std::uint32_t m, Choose&& choose,
                    Count&& count) {
  std::vector<std::uint64_t> scratch(keyed_bytes(m, 1) / 8 + path_doubling_bytes(m) / 8 + 2);
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const TargetDraws draws(seed, trial >> 32, 0, static_cast<std::uint32_t>(trial));
    choose(draws, scratch.data(),
           [&](std::uint32_t slot, std::uint32_t place) { count(trial, slot, place); });
  }
}

struct UniformP {
  double inclusion = 1.0;  ///< How often each place is chosen at all.
  double last = 1.0;       ///< Which place the last draw takes.
};
inline UniformP uniform_p(std::uint64_t seed, std::uint32_t n, std::uint32_t m,
                          std::uint64_t trials, Algorithm algorithm) {
  std::vector<std::uint64_t> chosen(n);
  std::vector<std::uint64_t> last(n);
  for_each_trial(
      seed, trials, m,
      [&](const TargetDraws& draws, std::uint64_t* scratch, auto&& emit) {
        if (algorithm == Algorithm::path_doubling && m < n) {
          choose_by_path_doubling(exec::Serial(), draws, n, m, scratch, emit);
        } else {
          choose_uniformly(exec::Serial(), draws, n, m, scratch, emit);
        }
      },
      [&](std::uint64_t, std::uint32_t slot, std::uint32_t place) {
        ++chosen[place];
        if (slot + 1 == m) ++last[place];
      });
  UniformP result;
  result.inclusion = reference::inclusion_p(chosen, trials, m);
  if (m < n) result.last = reference::multinomial_p(last, std::vector<double>(n, 1.0 / n));
  return result;
}

inline double replacement_p(std::uint64_t seed, std::uint32_t n, std::uint32_t m,
                            std::uint64_t trials) {
  std::vector<std::uint64_t> chosen(n);
  for_each_trial(
      seed, trials, m,
      [&](const TargetDraws& draws, std::uint64_t*, auto&& emit) {
        choose_with_replacement(exec::Serial(), draws, n, m, emit);
      },
      [&](std::uint64_t, std::uint32_t, std::uint32_t place) { ++chosen[place]; });
  return reference::multinomial_p(chosen, std::vector<double>(n, 1.0 / n));
}

/// Weights of very different sizes, some 0.
inline std::vector<double> uneven_weights(std::uint32_t n) {
  std::vector<double> weights(n);
  for (std::uint32_t place = 0; place < n; ++place)
    weights[place] = place % 8 == 7 ? 0.0 : 0.25 * (1 + place * 7 % 16);
  return weights;
}
inline std::vector<double> shares(std::vector<double> weights) {
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// The second of draws without replacement takes place j with the probability
///   w_j sum_{i != j} w_i / (W (W - w_i)),
/// over all i that the first may have taken; W is the weights' sum. Needs two weights above 0.
inline std::vector<double> second_shares(const std::vector<double>& weights) {
  double all = 0.0;
  for (const double weight : weights) all += weight;
  double sum = 0.0;
  for (const double weight : weights) sum += weight / (all - weight);
  std::vector<double> result;
  for (const double weight : weights)
    result.push_back(weight / all * (sum - weight / (all - weight)));
  return result;
}

struct WeightedP {
  double first = 1.0;
  double second = 1.0;  ///< Where there are two places of a weight and m is 2 or more.
};
/// Of the first two of m weighted draws without replacement.
inline WeightedP weighted_p(std::uint64_t seed, std::uint32_t n, std::uint32_t m,
                            std::uint64_t trials) {
  const std::vector<double> weights = uneven_weights(n);
  std::vector<std::uint64_t> counts[2] = {std::vector<std::uint64_t>(n),
                                          std::vector<std::uint64_t>(n)};
  for_each_trial(
      seed, trials, m,
      [&](const TargetDraws& draws, std::uint64_t* scratch, auto&& emit) {
        choose_by_keys(
            exec::Serial(), n, m, scratch,
            [&](std::uint32_t place) { return weighted_key(draws, place, weights[place]); }, emit);
      },
      [&](std::uint64_t, std::uint32_t slot, std::uint32_t place) {
        if (slot < 2) ++counts[slot][place];
      });
  WeightedP result;
  result.first = reference::multinomial_p(counts[0], shares(weights));
  if (n >= 2 && m >= 2) result.second = reference::multinomial_p(counts[1], second_shares(weights));
  return result;
}

/// Of the neighbours that a target takes by shared numbers, batch for batch: how often each is
/// taken at all, which should be m / n, and which is taken last.
inline UniformP shared_p(std::uint64_t seed, std::uint32_t n, std::uint32_t m,
                         std::uint64_t trials) {
  std::vector<std::uint64_t> chosen(n), last(n);
  std::vector<std::uint64_t> scratch(keyed_bytes(m, 1) / 8 + 2);
  const auto neighbour = [](std::uint32_t place) { return Vertex{place * 37u + 11u}; };
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const NeighbourDraws draws(seed, trial, 1);
    choose_by_keys(
        exec::Serial(), n, m, scratch.data(),
        [&](std::uint32_t place) { return shared_key(draws, neighbour(place), 1.0); },
        [&](std::uint32_t slot, std::uint32_t place) {
          ++chosen[place];
          if (slot + 1 == m) ++last[place];
        });
  }
  UniformP result;
  result.inclusion = reference::inclusion_p(chosen, trials, m);
  result.last = reference::multinomial_p(last, std::vector<double>(n, 1.0 / n));
  return result;
}

inline double weighted_replacement_p(std::uint64_t seed, std::uint32_t n, std::uint32_t m,
                                     std::uint64_t trials) {
  const std::vector<double> weights = uneven_weights(n);
  std::vector<double> sums(n);
  double sum = 0.0;
  for (std::uint32_t place = 0; place < n; ++place) sums[place] = sum += weights[place];
  std::vector<std::uint64_t> chosen(n);
  for_each_trial(
      seed, trials, m,
      [&](const TargetDraws& draws, std::uint64_t*, auto&& emit) {
        choose_by_sums(exec::Serial(), draws, sums.data(), n, m, emit);
      },
      [&](std::uint64_t, std::uint32_t, std::uint32_t place) { ++chosen[place]; });
  return reference::multinomial_p(chosen, shares(weights));
}

}  // namespace warren::sample::detail
