// SPDX-License-Identifier: Apache-2.0
// The search for parameters on made-up costs whose least is known.
#include "sparse/parameter_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace warren::sparse {
namespace {

using Cost = std::function<double(const ParameterPlace&)>;

constexpr std::uint32_t kTries = 12;
const std::vector<std::size_t> kSizes = {6, 6, 6};
const ParameterPlace kStart = {3, 5, 2};

double apart(std::size_t a, std::size_t b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

template <class F>
void for_each_place(F&& f) {
  for (std::size_t a = 0; a < kSizes[0]; ++a) {
    for (std::size_t b = 0; b < kSizes[1]; ++b) {
      for (std::size_t c = 0; c < kSizes[2]; ++c) f(ParameterPlace{a, b, c});
    }
  }
}

double least_of(const Cost& cost) {
  double least = std::numeric_limits<double>::infinity();
  for_each_place([&](const ParameterPlace& place) { least = std::min(least, cost(place)); });
  return least;
}

/// Searches with twelve measurements, the start's among them; no place is measured twice.
FoundPlace search(const Cost& cost, std::uint32_t tries = kTries) {
  std::set<ParameterPlace> seen{kStart};
  const FoundPlace found = search_parameters(
      kSizes, {kStart, cost(kStart)}, tries - 1, [&](const ParameterPlace& place) {
        EXPECT_TRUE(seen.insert(place).second);
        for (std::size_t axis = 0; axis < place.size(); ++axis)
          EXPECT_LT(place[axis], kSizes[axis]);
        return cost(place);
      });
  EXPECT_LE(seen.size(), tries);
  EXPECT_EQ(found.cost, cost(found.place));
  for (const ParameterPlace& place : seen) EXPECT_GE(cost(place), found.cost);
  return found;
}

/// Each parameter for itself, with its best value at `best`.
Cost bowl(const ParameterPlace& best, const std::array<double, 3>& slopes) {
  return [=](const ParameterPlace& place) {
    double cost = 1.0;
    for (std::size_t i = 0; i < best.size(); ++i)
      cost += slopes[i] * std::pow(apart(place[i], best[i]), 1.3);
    return cost;
  };
}

TEST(ParameterSearch, FindsTheBestNearTheStart) {
  for_each_place([](const ParameterPlace& best) {
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (apart(best[i], kStart[i]) > 1) return;
    }
    EXPECT_EQ(search(bowl(best, {0.1, 0.05, 0.2})).place, best);
  });
}

TEST(ParameterSearch, FindsTheBestWhereverItIs) {
  for_each_place([](const ParameterPlace& best) {
    EXPECT_LE(search(bowl(best, {0.1, 0.05, 0.2})).cost, 1.05);
    EXPECT_LE(search(bowl(best, {0.03, 0.15, 0.08})).cost, 1.05);
  });
}

/// The search by which the first value that does not help ends a parameter stops at the start here.
TEST(ParameterSearch, PassesABadValueBesideTheStart) {
  for (std::size_t axis = 0; axis < kSizes.size(); ++axis) {
    for (const std::size_t bad : {kStart[axis] - 1, kStart[axis] + 1}) {
      if (bad >= kSizes[axis]) continue;
      ParameterPlace best = kStart;
      best[axis] = bad < kStart[axis] ? bad - 1 : bad + 1;
      const Cost smooth = bowl(best, {0.1, 0.05, 0.2});
      const auto cost = [&](const ParameterPlace& place) {
        return smooth(place) + (place[axis] == bad ? 0.3 : 0.0);
      };
      EXPECT_EQ(search(cost).place, best);
    }
  }
}

/// More of the first parameter asks for less of the last: neither alone gains anything.
TEST(ParameterSearch, RetreatsAlongAValley) {
  for (const std::size_t first : {std::size_t{2}, std::size_t{4}}) {
    const ParameterPlace best = {first, 5, 5 - first};
    const auto cost = [&](const ParameterPlace& place) {
      return 1.0 + 0.3 * apart(place[0] + place[2], 5) + 0.05 * apart(place[1], best[1]) +
             0.1 * apart(place[0], best[0]);
    };
    EXPECT_EQ(search(cost).place, best);
  }
}

/// Costs that differ by some percent from place to place, as measured times do.
TEST(ParameterSearch, IsNotMisledByNoise) {
  for_each_place([](const ParameterPlace& best) {
    const Cost smooth = bowl(best, {0.08, 0.08, 0.08});
    const auto cost = [&](const ParameterPlace& place) {
      const std::uint64_t mixed =
          (place[0] * 36 + place[1] * 6 + place[2] + 1) * 0x9e3779b97f4a7c15ull;
      return smooth(place) * (1.0 + 0.02 * static_cast<double>(mixed >> 40) / 0x1p24);
    };
    EXPECT_LE(search(cost).cost, 1.06 * least_of(cost));
  });
}

/// Microseconds of `pull` on two H100s, k = 128, by pieces of 16 to 512 entries and distances of 1,
/// 4, 16 and none (a line each), and by 2 to 32 warps a block
/// (bench/results/sweep-pull-h100x2.json).
constexpr std::array<std::array<int, 5>, 24> kMeasured = {
    {{784, 721, 706, 711, 713}, {732, 665, 710, 712, 714}, {777, 718, 679, 683, 713},
     {842, 759, 717, 716, 749}, {656, 598, 575, 570, 599}, {585, 568, 575, 574, 592},
     {628, 591, 561, 554, 593}, {685, 606, 596, 587, 651}, {591, 528, 520, 526, 545},
     {531, 494, 521, 528, 537}, {554, 507, 494, 491, 533}, {640, 588, 536, 504, 602},
     {587, 519, 516, 530, 578}, {529, 502, 516, 532, 565}, {537, 503, 492, 492, 568},
     {638, 521, 511, 540, 628}, {585, 604, 526, 564, 662}, {533, 517, 525, 558, 655},
     {547, 525, 505, 520, 649}, {615, 536, 519, 597, 702}, {586, 538, 538, 573, 676},
     {545, 522, 534, 576, 665}, {555, 524, 513, 532, 668}, {611, 549, 553, 683, 748}}};

TEST(ParameterSearch, FindsTheBestOfWhatWasMeasured) {
  const std::vector<std::size_t> sizes = {6, 4, 5};
  const auto cost = [](const ParameterPlace& place) {
    return static_cast<double>(kMeasured[place[0] * 4 + place[1]][place[2]]);
  };
  double least = std::numeric_limits<double>::infinity();
  for (const auto& line : kMeasured)
    least = std::min(least, static_cast<double>(*std::min_element(line.begin(), line.end())));
  const auto found_from = [&](const ParameterPlace& start) {
    return search_parameters(sizes, {start, cost(start)}, kTries - 1, cost).cost;
  };
  EXPECT_LE(found_from({3, 2, 3}), 1.05 * least);  // What stands without a tuner.
  EXPECT_LE(found_from({3, 3, 2}), 1.05 * least);  // Without interleaving.
  EXPECT_LE(found_from({0, 0, 0}), 1.06 * least);  // The paper's, the farthest: 1.6 times the best.
}

TEST(ParameterSearch, KeepsTheStartWhereNothingIsBetter) {
  EXPECT_EQ(search([](const ParameterPlace&) { return 1.0; }).place, kStart);
  EXPECT_EQ(search(bowl({0, 0, 0}, {1, 1, 1}), 1).place, kStart);
}

TEST(ParameterSearch, TakesSpacesWithoutChoices) {
  const auto one = [](const ParameterPlace&) { return 1.0; };
  EXPECT_TRUE(search_parameters({}, {{}, 2.0}, 5, one).place.empty());
  const std::vector<std::size_t> sizes = {1, 1};
  EXPECT_EQ(search_parameters(sizes, {{0, 0}, 2.0}, 5, one).cost, 2.0);
  const std::vector<std::size_t> line = {9};
  const auto falling = [](const ParameterPlace& place) {
    return 10.0 - static_cast<double>(place[0]);
  };
  EXPECT_EQ(search_parameters(line, {{0}, 10.0}, kTries, falling).place[0], 8u);
}

}  // namespace
}  // namespace warren::sparse
