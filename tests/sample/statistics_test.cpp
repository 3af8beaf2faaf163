// SPDX-License-Identifier: Apache-2.0
// The distribution of what is chosen, by chi-square at fixed seeds; bench_sample_statistics does
// the same with more draws.
#include <map>

#include <gtest/gtest.h>

#include "sample/draw_statistics.hpp"
#include "support/size.hpp"

namespace warren::sample::detail {
namespace {

constexpr double kLeastP = 0.001;
const std::uint64_t kDraws = testing_support::is_small() ? 30'000 : 200'000;
constexpr std::uint32_t kPlaces[] = {1, 2, 3, 10, 50, 257, 1000, 4096};
constexpr std::uint32_t kChosen[] = {1, 2, 5, 15, 33, 64, 256};

/// Enough of them that five of every place are to be expected.
std::uint64_t trials_for(std::uint32_t n, std::uint32_t m, std::uint32_t counted) {
  const std::uint64_t trials = kDraws / m + 1;
  const std::uint64_t least = std::uint64_t{n} * 8 / counted + 1;
  return trials < least ? least : trials;
}

TEST(ChiSquare, HasTheTablesValues) {
  EXPECT_NEAR(reference::chi_square_tail(3.841, 1), 0.05, 1e-4);
  EXPECT_NEAR(reference::chi_square_tail(18.307, 10), 0.05, 1e-4);
  EXPECT_NEAR(reference::chi_square_tail(149.449, 100), 0.001, 1e-5);
  EXPECT_NEAR(reference::chi_square_tail(67.328, 100), 0.995, 1e-4);
}

TEST(ChiSquare, FindsWhatIsWrong) {
  // One place of 50 with a tenth more than its share.
  std::vector<double> shares(50, 1.0 / 50.1);
  shares[7] = 1.1 / 50.1;
  std::vector<std::uint64_t> counts(50);
  for (std::uint64_t i = 0; i < 200'000; ++i)
    ++counts[TargetDraws(1, 0, 0, static_cast<std::uint32_t>(i)).below(50, 0)];
  EXPECT_LT(reference::multinomial_p(counts, shares), 1e-4);
  EXPECT_GT(reference::multinomial_p(counts, std::vector<double>(50, 0.02)), kLeastP);
}

TEST(Distribution, UniformWithoutReplacement) {
  for (const Algorithm algorithm : {Algorithm::best, Algorithm::path_doubling}) {
    for (const std::uint32_t n : kPlaces) {
      for (const std::uint32_t m : kChosen) {
        const UniformP p = uniform_p(1, n, m, trials_for(n, m, m), algorithm);
        EXPECT_GT(p.inclusion, kLeastP) << n << " " << m;
        if (trials_for(n, m, m) >= 5 * n) {
          EXPECT_GT(p.last, kLeastP) << n << " " << m;
        }
      }
    }
  }
}

TEST(Distribution, EveryOrderOfAFewPlaces) {
  for (const auto& [n, m] : {std::pair{3u, 2u}, {5u, 3u}, {6u, 4u}}) {
    std::map<std::vector<std::uint32_t>, std::uint64_t> counts;
    std::vector<std::uint32_t> order(m);
    for_each_trial(
        2, kDraws / 4, m,
        [&, many = n, few = m](const TargetDraws& draws, std::uint64_t* scratch, auto&& emit) {
          choose_uniformly(exec::Serial(), draws, many, few, scratch, emit);
        },
        [&, few = m](std::uint64_t, std::uint32_t slot, std::uint32_t place) {
          order[slot] = place;
          if (slot + 1 == few) ++counts[order];
        });
    EXPECT_GT(reference::orders_p(counts, std::vector<double>(n, 1.0), m), kLeastP) << n;
  }
}

TEST(Distribution, WithReplacement) {
  for (const std::uint32_t n : kPlaces) {
    for (const std::uint32_t m : kChosen)
      EXPECT_GT(replacement_p(1, n, m, trials_for(n, m, m)), kLeastP) << n << " " << m;
  }
}

TEST(Distribution, WeightedFirstAndSecondDraws) {
  // Two draws of four lists: draws are the same for every m. Any of them may be the least.
  constexpr double kLeast = kLeastP / 8;
  for (const std::uint32_t n : {2u, 10u, 50u, 257u}) {
    for (std::uint32_t m = 1; m <= 256; m *= 2) {
      const WeightedP p = weighted_p(4, n, m, kDraws / n + n * 40);
      EXPECT_GT(p.first, kLeast) << n << " " << m;
      EXPECT_GT(p.second, kLeast) << n << " " << m;
    }
  }
}

TEST(Distribution, SecondSharesAreSumsOverTheFirst) {
  const std::vector<double> weights = {1.0, 0.0, 2.0, 5.0};
  const std::vector<double> found = second_shares(weights);
  double sum = 0.0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    double expected = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (i != j) expected += weights[i] / 8.0 * weights[j] / (8.0 - weights[i]);
    }
    EXPECT_NEAR(found[j], expected, 1e-15);
    sum += found[j];
  }
  EXPECT_NEAR(sum, 1.0, 1e-15);
}

TEST(Distribution, WeightedInEveryOrder) {
  const std::vector<double> weights = {1.0, 2.0, 0.5, 6.0, 3.0};
  std::map<std::vector<std::uint32_t>, std::uint64_t> counts;
  std::vector<std::uint32_t> order(3);
  for_each_trial(
      5, kDraws / 4, 3,
      [&](const TargetDraws& draws, std::uint64_t* scratch, auto&& emit) {
        choose_by_keys(
            exec::Serial(), 5, 3, scratch,
            [&](std::uint32_t place) { return weighted_key(draws, place, weights[place]); }, emit);
      },
      [&](std::uint64_t, std::uint32_t slot, std::uint32_t place) {
        order[slot] = place;
        if (slot == 2) ++counts[order];
      });
  EXPECT_GT(reference::orders_p(counts, weights, 3), kLeastP);
  EXPECT_LT(reference::orders_p(counts, {1.0, 2.0, 0.5, 6.0, 3.4}, 3), kLeastP);
}

TEST(Distribution, BySharedNumbersEachNeighbourIsAsLikely) {
  for (const std::uint32_t n : {2u, 10u, 50u, 257u}) {
    for (const std::uint32_t m : {1u, 5u, 15u, 64u}) {
      if (m >= n) continue;
      const UniformP p = shared_p(2, n, m, trials_for(n, m, m));
      EXPECT_GT(p.inclusion, kLeastP) << n << " " << m;
      EXPECT_GT(p.last, kLeastP) << n << " " << m;
    }
  }
}

TEST(Distribution, BySharedNumbersOverWeights) {
  // Of two neighbours t and u the one with the smaller r / w: t with the probability
  //   P(r_t / w_t < r_u / w_u) = 1 - w_u / (2 w_t) where w_t >= w_u.
  constexpr double kWeights[] = {3.0, 1.0};
  std::uint64_t first = 0;
  std::uint64_t scratch[16];
  for (std::uint64_t trial = 0; trial < kDraws; ++trial) {
    const NeighbourDraws draws(8, trial, NeighbourDraws::kAllHops);
    choose_by_keys(
        exec::Serial(), 2, 1, scratch,
        [&](std::uint32_t place) { return shared_key(draws, place, kWeights[place]); },
        [&](std::uint32_t, std::uint32_t place) { first += place == 0 ? 1 : 0; });
  }
  const double share = 1.0 - kWeights[1] / (2.0 * kWeights[0]);
  EXPECT_GT(reference::multinomial_p({first, kDraws - first}, {share, 1.0 - share}), kLeastP);
}

TEST(Distribution, WeightedWithReplacement) {
  for (const std::uint32_t n : kPlaces) {
    for (const std::uint32_t m : {1u, 15u, 256u})
      EXPECT_GT(weighted_replacement_p(1, n, m, trials_for(n, m, m) * 4), kLeastP) << n << " " << m;
  }
}

}  // namespace
}  // namespace warren::sample::detail
