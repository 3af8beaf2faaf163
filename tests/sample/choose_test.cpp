// SPDX-License-Identifier: Apache-2.0
// The generator against its published answers, and the ways to choose against the process that
// they all stand for, with one thread and with workers of several.
#include "sample/choose.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"

#include "reference/sample.hpp"

namespace warren::sample::detail {
namespace {

TEST(Philox, GivesThePublishedAnswers) {
  // The known answers of Random123 for Philox4x32 with 10 rounds.
  const auto check = [](RandomWords counter, std::uint32_t k0, std::uint32_t k1,
                        RandomWords expected) {
    const RandomWords got = philox(counter, k0, k1);
    const auto again = reference::philox(
        {counter.word[0], counter.word[1], counter.word[2], counter.word[3]}, k0, k1);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got.word[i], expected.word[i]);
      EXPECT_EQ(again[i], expected.word[i]);
    }
  };
  check({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}});
  constexpr std::uint32_t kOnes = 0xffffffffu;
  check({{kOnes, kOnes, kOnes, kOnes}}, kOnes, kOnes,
        {{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}});
  check({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u,
        {{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}});
}

TEST(Exponential, IsTheLogarithm) {
  const auto expected = [](std::uint64_t bits) {
    return static_cast<double>(-std::log(static_cast<long double>((bits >> 12) * 2 + 1) / 0x1p53L));
  };
  for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{1} << 12, ~std::uint64_t{0},
                                   ~std::uint64_t{0} - (1 << 12), std::uint64_t{1} << 63})
    EXPECT_NEAR(exponential(bits) / expected(bits), 1.0, 1e-14);
  std::uint64_t bits = 1;
  for (int i = 0; i < 100'000; ++i) {
    bits = bits * 6364136223846793005ull + 1442695040888963407ull;
    ASSERT_NEAR(exponential(bits) / expected(bits), 1.0, 1e-14) << bits;
    ASSERT_NEAR(exponential(bits >> (i % 60)) / expected(bits >> (i % 60)), 1.0, 1e-14);
  }
}

TEST(Below, HasNoBias) {
  // A bound of 2/3 of all words: without the repeated draws, numbers would differ by half.
  constexpr std::uint32_t kBound = 0xaaaaaaabu;
  constexpr int kDraws = 60'000;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) {
    const TargetDraws draws(7, 1, 0, static_cast<std::uint32_t>(i));
    const std::uint32_t drawn = draws.below(kBound, 2);
    ASSERT_LT(drawn, kBound);
    low += drawn % 2 == 0 ? 1 : 0;
  }
  EXPECT_NEAR(low, kDraws / 2, 4 * std::sqrt(kDraws / 4.0));
}

/// What the process gives, the list being written out.
std::vector<std::uint32_t> by_process(const TargetDraws& draws, std::uint32_t n, std::uint32_t m) {
  std::vector<std::uint32_t> places(n);
  std::iota(places.begin(), places.end(), 0u);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < m; ++i) {
    const std::uint32_t drawn = draws.below(n - i, i);
    chosen.push_back(places[drawn]);
    places[drawn] = places.back();
    places.pop_back();
  }
  return chosen;
}

std::vector<std::uint64_t> scratch_words(std::uint64_t bytes) {
  return std::vector<std::uint64_t>((bytes + 7) / 8);
}

constexpr std::uint32_t kShapes[][2] = {{2, 1},       {3, 2},       {5, 4},
                                        {16, 15},     {50, 15},     {50, 5},
                                        {33, 32},     {34, 33},     {64, 33},
                                        {100, 99},    {1000, 10},   {1000, 32},
                                        {1000, 500},  {1025, 1024}, {5000, 1},
                                        {5000, 7},    {5000, 64},   {5000, 4999},
                                        {70'000, 20}, {70'000, 40}, {4'000'000'000u, 100}};

TEST(Choose, OneThreadFollowsTheProcess) {
  const exec::Serial worker;
  for (const auto& [n, m] : kShapes) {
    if (n > 1'000'000) continue;
    for (std::uint32_t position = 0; position < 20; ++position) {
      const TargetDraws draws(1, 2, 3, position);
      const auto expected = by_process(draws, n, m);
      auto scratch = scratch_words(path_doubling_bytes(m));
      std::vector<std::uint32_t> chosen(m, kNowhere);
      const auto emit = [&](std::uint32_t i, std::uint32_t place) { chosen[i] = place; };
      choose_uniformly(worker, draws, n, m, scratch.data(), emit);
      ASSERT_EQ(chosen, expected) << n << " " << m;
      choose_by_path_doubling(worker, draws, n, m, scratch.data(), emit);
      ASSERT_EQ(chosen, expected) << n << " " << m;
      if (m > kFewDraws) continue;
      choose_few(draws, n, m, emit);
      ASSERT_EQ(chosen, expected) << n << " " << m;
    }
  }
}

struct ChooseKernel {
  std::uint32_t n, m;
  bool by_lanes;
  std::uint32_t* chosen;

  template <class W>
  void operator()(const W& worker, std::uint64_t task) const {
    const TargetDraws draws(5, 1, 0, static_cast<std::uint32_t>(task));
    const auto emit = [&](std::uint32_t i, std::uint32_t place) { chosen[task * m + i] = place; };
    if (by_lanes) {
      choose_by_lanes(worker, draws, n, m, emit);
    } else {
      choose_by_path_doubling(worker, draws, n, m, worker.template scratch<std::uint64_t>(), emit);
    }
  }
};

TEST(Choose, WorkersOfSeveralThreadsFollowTheProcess) {
  // Few lanes and short sorts: barriers are slow where other work takes the cores.
  constexpr std::uint64_t kTasks = 2;
  constexpr std::uint32_t kMost = 64;
  for (const int lanes : {2, 5}) {
    exec::ThreadPool pool(lanes);
    for (const auto& [n, m] : kShapes) {
      if (n > 1'000'000 || m > kMost || n > 100) continue;
      for (const bool by_lanes : {false, true}) {
        if (by_lanes && m > static_cast<std::uint32_t>(lanes)) continue;
        std::vector<std::uint32_t> chosen(kTasks * m, kNowhere);
        exec::launch_cpu_block(pool, kTasks, ChooseKernel{n, m, by_lanes, chosen.data()},
                               static_cast<std::uint32_t>(path_doubling_bytes(m)));
        for (std::uint64_t task = 0; task < kTasks; ++task) {
          const TargetDraws draws(5, 1, 0, static_cast<std::uint32_t>(task));
          const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(task * m);
          ASSERT_EQ(std::vector<std::uint32_t>(begin, begin + m), by_process(draws, n, m))
              << n << " " << m << " " << by_lanes;
        }
      }
    }
  }
}

TEST(Choose, ListsLongerThanMemory) {
  const exec::Serial worker;
  constexpr std::uint32_t kPlaces = 4'000'000'000u;
  for (const std::uint32_t m : {20u, 1000u}) {
    auto scratch = scratch_words(path_doubling_bytes(m));
    std::set<std::uint32_t> chosen;
    choose_uniformly(worker, TargetDraws(1, 1, 1, 1), kPlaces, m, scratch.data(),
                     [&](std::uint32_t, std::uint32_t place) {
                       EXPECT_LT(place, kPlaces);
                       chosen.insert(place);
                     });
    EXPECT_EQ(chosen.size(), m);
  }
}

struct KeysKernel {
  std::uint32_t n, m;
  std::uint32_t* chosen;
  static double weight(std::uint32_t place) { return place % 7 == 0 ? 0.0 : 0.5 + place % 13; }

  template <class W>
  void operator()(const W& worker, std::uint64_t task) const {
    const TargetDraws draws(3, 0, 0, static_cast<std::uint32_t>(task));
    choose_by_keys(
        worker, n, m, worker.template scratch<std::uint64_t>(),
        [&](std::uint32_t place) { return weighted_key(draws, place, weight(place)); },
        [&](std::uint32_t i, std::uint32_t place) { chosen[task * m + i] = place; });
  }
};

TEST(Choose, KeysOfNeighboursAreTheirsAlone) {
  const NeighbourDraws draws(3, 5, 1), again(3, 5, 1);
  std::set<double> different;
  double sum = 0.0;
  constexpr Vertex kVertices = 20'000;
  for (Vertex t = 0; t < kVertices; ++t) {
    const double r = draws.uniform(t);
    ASSERT_TRUE(r > 0.0 && r < 1.0);
    ASSERT_EQ(again.uniform(t), r);
    different.insert(r);
    sum += r;
  }
  EXPECT_EQ(different.size(), kVertices);
  EXPECT_NEAR(sum / kVertices, 0.5, 4 / std::sqrt(12.0 * kVertices));
  EXPECT_GT(draws.uniform(kNoVertex), 0.0);
  for (const NeighbourDraws& other :
       {NeighbourDraws(4, 5, 1), NeighbourDraws(3, 6, 1), NeighbourDraws(3, 5, 2),
        NeighbourDraws(3, 5, NeighbourDraws::kAllHops), NeighbourDraws(3, (1ull << 40) + 5, 1)})
    EXPECT_NE(other.uniform(7), draws.uniform(7));
  EXPECT_EQ(shared_key(draws, 7, 0.0), kNoKey);
  EXPECT_LT(shared_key(draws, 7, 2.0), shared_key(draws, 7, 1.0));
}

TEST(Choose, OfEqualKeysTheFirstPlacesAreTaken) {
  for (const int lanes : {1, 3}) {
    exec::ThreadPool pool(lanes);
    constexpr std::uint32_t kPlaces = 60, kChosen = 7;
    std::vector<std::uint32_t> chosen(kChosen, kNowhere);
    const auto kernel = [&](const auto& worker, std::uint64_t) {
      choose_by_keys(
          worker, kPlaces, kChosen, worker.template scratch<std::uint64_t>(),
          [](std::uint32_t place) { return std::uint64_t{place / 20 == 1 ? 1u : 2u + place % 2}; },
          [&](std::uint32_t i, std::uint32_t place) { chosen[i] = place; });
    };
    exec::launch_cpu_block(
        pool, 1, kernel,
        static_cast<std::uint32_t>(keyed_bytes(kChosen, static_cast<std::uint32_t>(lanes))));
    EXPECT_EQ(chosen, (std::vector<std::uint32_t>{20, 21, 22, 23, 24, 25, 26}));
  }
}

TEST(Choose, WeightedTakesTheSmallestKeys) {
  constexpr std::uint64_t kTasks = 2;
  for (const int lanes : {1, 3}) {
    exec::ThreadPool pool(lanes);
    for (const auto& [n, m] :
         {std::pair{2u, 1u}, {10u, 3u}, {200u, 5u}, {3000u, 64u}, {70u, 69u}}) {
      if (lanes > 1 && n > 100) continue;
      std::vector<std::uint32_t> chosen(kTasks * m, kNowhere);
      exec::launch_cpu_block(
          pool, kTasks, KeysKernel{n, m, chosen.data()},
          static_cast<std::uint32_t>(keyed_bytes(m, static_cast<std::uint32_t>(lanes))));
      for (std::uint64_t task = 0; task < kTasks; ++task) {
        const TargetDraws draws(3, 0, 0, static_cast<std::uint32_t>(task));
        std::vector<std::pair<double, std::uint32_t>> keys;
        for (std::uint32_t place = 0; place < n; ++place) {
          if (KeysKernel::weight(place) > 0.0)
            keys.emplace_back(exponential(draws.bits(place)) / KeysKernel::weight(place), place);
        }
        std::sort(keys.begin(), keys.end());
        for (std::uint32_t i = 0; i < m; ++i) {
          ASSERT_EQ(chosen[task * m + i], i < keys.size() ? keys[i].second : kNowhere)
              << n << " " << m << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace warren::sample::detail
