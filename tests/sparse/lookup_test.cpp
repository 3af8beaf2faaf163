// SPDX-License-Identifier: Apache-2.0
// Sums of bags of rows against plain loops, on teams of every size.
#include "warren/sparse/lookup.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/partition.hpp"

#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"

namespace warren::sparse {
namespace {

using testing_support::on_device;
using testing_support::random_dense;
using testing_support::strided;

/// A batch of one rank's, and a table that all ranks make alike.
template <class T>
struct Lookup {
  std::uint64_t rows, k;
  std::vector<double> values;
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> indices;
  memory::GlobalArray<T> table;

  /// Collective. `skew`: most indices are among the first rows.
  Lookup(team::Team& team, const exec::Stream& stream, std::uint64_t rows_, std::uint64_t k_,
         memory::Placement placement, const std::vector<std::uint64_t>& lengths, bool skew)
      : rows(rows_),
        k(k_),
        values(random_dense(rows * k, 3)),
        table(team, graph::dealt_cuts(rows, team.size()), k, placement) {
    const auto all = strided<T>(values, k, k);
    const auto mine = placement == memory::Placement::replicated
                          ? std::span<const T>(all)
                          : std::span<const T>(all).subspan(table.view().first() * k,
                                                            table.view().local_rows() * k);
    table.buffer().upload(stream, mine);
    std::mt19937_64 random(static_cast<std::uint64_t>(team.rank()) + 1);
    for (const std::uint64_t length : lengths) {
      for (std::uint64_t i = 0; i < length; ++i) {
        const std::uint64_t limit = skew && random() % 8 != 0 ? rows / 10 : rows;
        indices.push_back(static_cast<Vertex>(random() % limit));
      }
      offsets.push_back(indices.size());
    }
    stream.synchronize();
    team.barrier();
  }

  [[nodiscard]] reference::Product expected() const {
    reference::Product result;
    for (std::size_t bag = 0; bag + 1 < offsets.size(); ++bag) {
      for (std::uint64_t c = 0; c < k; ++c) {
        double sum = 0.0;
        double size = 0.0;
        for (EdgeOffset i = offsets[bag]; i < offsets[bag + 1]; ++i) {
          sum += values[indices[i] * k + c];
          size += std::abs(values[indices[i] * k + c]);
        }
        result.sum.push_back(sum);
        result.size.push_back(size);
      }
    }
    return result;
  }

  /// Rows of others that are read, or sums of them.
  [[nodiscard]] std::uint64_t moved(LookupStrategy strategy) const {
    const auto& view = table.view();
    if (view.is_replicated) return 0;
    std::uint64_t count = 0;
    for (std::size_t bag = 0; bag + 1 < offsets.size(); ++bag) {
      std::set<int> owners;
      for (EdgeOffset i = offsets[bag]; i < offsets[bag + 1]; ++i) {
        if (view.owner(indices[i]) == view.rank) continue;
        owners.insert(view.owner(indices[i]));
        ++count;
      }
      if (strategy != LookupStrategy::owner_sum) continue;
      count += owners.size();
      for (EdgeOffset i = offsets[bag]; i < offsets[bag + 1]; ++i)
        count -= view.owner(indices[i]) == view.rank ? 0 : 1;
    }
    return count;
  }
};

const std::vector<std::uint64_t> kLengths = {3, 0, 1, 40, 2000, 7, 0, 33};

template <class T>
void check(team::Team& team, std::uint64_t k, memory::Placement placement, bool skew,
           const std::vector<std::uint64_t>& lengths = kLengths) {
  const exec::Stream stream(team.device());
  const Lookup<T> lookup(team, stream, 500, k, placement, lengths, skew);
  const auto indices = on_device(stream, lookup.indices);
  const reference::Product expected = lookup.expected();
  for (const LookupStrategy strategy : all_lookup_strategies()) {
    SCOPED_TRACE(std::to_string(team.size()) + " ranks, k " + std::to_string(k) + ", " +
                 name_of(strategy));
    if (placement == memory::Placement::replicated && strategy != LookupStrategy::pull) continue;
    const auto way = make_lookup<T>(team, stream, lookup.offsets, k, strategy);
    std::vector<T> first;
    for (int run = 0; run < 3; ++run) {
      memory::Buffer<T> out(team.device(), lengths.size() * k);
      memory::Buffer<std::uint64_t> moved(team.device(), 1);
      exec::fill_bytes(stream, moved.data(), 0, sizeof(std::uint64_t));
      exec::fill_bytes(stream, out.data(), 0xff, out.bytes());
      stream.synchronize();
      way->run(lookup.table.view(), indices.data(), out.data(), moved.data());
      const std::vector<T> found = out.to_host(stream);
      EXPECT_EQ(moved.to_host(stream)[0], lookup.moved(strategy));
      EXPECT_TRUE(testing_support::near(found, k, expected, k));
      if (run == 0) first = found;
      EXPECT_TRUE(found.empty() ||
                  std::memcmp(found.data(), first.data(), found.size() * sizeof(T)) == 0);
    }
    team.barrier();
  }
}

void check_team(const team::TeamOptions& options) {
  team::run_team(options, [](team::Team& team) {
    for (const std::uint64_t k : {1, 5, 16, 33, 64, 132}) {
      if (testing_support::sees_few() && k != 5 && k != 64) continue;
      for (const bool skew : {false, true}) {
        check<float>(team, k, memory::Placement::device, skew);
        check<Half>(team, k, memory::Placement::device, skew);
      }
      check<BFloat16>(team, k, memory::Placement::host, false);
      check<BFloat16>(team, k, memory::Placement::replicated, false);
    }
    // Batches of different shapes, none at all among them.
    std::vector<std::uint64_t> lengths(static_cast<std::size_t>(team.rank()) * 5, 9);
    check<float>(team, 20, memory::Placement::device, false, lengths);
    check<float>(team, 4, memory::Placement::device, false, {0, 0});
    // More bags than a block counts at a time.
    lengths.assign(2500, 2);
    check<float>(team, 3, memory::Placement::device, true, lengths);
  });
}

/// An infinite row makes its bags' sums infinite, one that is NaN or both infinities NaN, and other
/// bags are as they are without.
void check_non_finite(const team::TeamOptions& options) {
  team::run_team(options, [](team::Team& team) {
    constexpr std::uint64_t kRows = 40;
    constexpr std::uint64_t kWide = 6;
    const float infinity = std::numeric_limits<float>::infinity();
    const exec::Stream stream(team.device());
    memory::GlobalArray<float> table(team, graph::dealt_cuts(kRows, team.size()), kWide,
                                     memory::Placement::device);
    std::vector<float> rows;
    for (std::uint64_t r = table.view().first(); r < kRows; ++r) {
      for (std::uint64_t c = 0; c < kWide && rows.size() < table.view().local_rows() * kWide; ++c)
        rows.push_back(r == 3 ? infinity : r == 20 ? -infinity : r == 39 ? std::nanf("") : 1.0f);
    }
    table.buffer().upload(stream, rows);
    stream.synchronize();
    team.barrier();
    const std::vector<EdgeOffset> offsets{0, 2, 4, 6, 8, 9};
    const auto indices = on_device(stream, std::vector<Vertex>{3, 7, 20, 20, 3, 20, 1, 2, 39});
    for (const LookupStrategy strategy : all_lookup_strategies()) {
      SCOPED_TRACE(name_of(strategy));
      const auto way = make_lookup<float>(team, stream, offsets, kWide, strategy);
      memory::Buffer<float> out(team.device(), 5 * kWide);
      way->run(table.view(), indices.data(), out.data());
      const std::vector<float> found = out.to_host(stream);
      for (std::uint64_t c = 0; c < kWide; ++c) {
        EXPECT_EQ(found[c], infinity);
        EXPECT_EQ(found[kWide + c], -infinity);
        EXPECT_TRUE(std::isnan(found[2 * kWide + c]));
        EXPECT_EQ(found[3 * kWide + c], 2.0f);
        EXPECT_TRUE(std::isnan(found[4 * kWide + c]));
      }
      team.barrier();
    }
  });
}

/// The teams of all tests, and one of six.
std::vector<team::TeamOptions> cpu_teams() {
  auto teams = fixtures::cpu_teams();
  teams.push_back({.ranks = 6, .threads = 6});
  return teams;
}

TEST(BagLookup, MatchesReferenceOnEveryTeam) {
  for (const auto& options : cpu_teams()) check_team(options);
}

TEST(BagLookup, NonFiniteRowsStayInTheirBags) {
  for (const auto& options : cpu_teams()) check_non_finite(options);
}

TEST(BagLookup, ChoosesByWhatCrosses) {
  const auto choice = [](int ranks, double bag, std::uint64_t bytes = 4, bool is_near = false) {
    const LookupChoice made = choose_lookup(ranks, bag, bytes, is_near);
    EXPECT_FALSE(made.why.empty());
    return made.strategy;
  };
  EXPECT_EQ(choice(1, 100), LookupStrategy::pull);
  EXPECT_EQ(choice(4, 32), LookupStrategy::owner_sum);
  EXPECT_EQ(choice(4, 32, 2), LookupStrategy::owner_sum);
  EXPECT_EQ(choice(4, 32, 4, true), LookupStrategy::pull);
  EXPECT_EQ(choice(4, 1), LookupStrategy::pull);
  EXPECT_EQ(choice(4, 0), LookupStrategy::pull);
  EXPECT_EQ(choice(8, 8), LookupStrategy::pull);
  EXPECT_EQ(choice(8, 16, 2), LookupStrategy::pull);
  EXPECT_EQ(parse_lookup_strategy("owner-sum"), LookupStrategy::owner_sum);
  EXPECT_THROW((void)parse_lookup_strategy("owners"), UsageError);
}

TEST(BagLookup, RefusesTablesThatDoNotFit) {
  team::TeamOptions options;
  options.ranks = 1;
  for (const LookupStrategy strategy : all_lookup_strategies()) {
    team::run_team(options, [&](team::Team& team) {
      const exec::Stream stream(team.device());
      const std::vector<EdgeOffset> offsets{0, 1};
      const std::vector<std::uint64_t> cuts{0, 10};
      memory::GlobalArray<float> wide(team, cuts, 8, memory::Placement::device);
      memory::GlobalArray<float> copied(team, cuts, 4, memory::Placement::replicated);
      const auto index = on_device(stream, std::vector<Vertex>{3});
      exec::fill_bytes(stream, copied.buffer().data(), 0, copied.buffer().bytes());
      memory::Buffer<float> out(team.device(), 8);
      const auto lookup = make_lookup<float>(team, stream, offsets, 4, strategy);
      EXPECT_THROW(lookup->run(wide.view(), index.data(), out.data()), UsageError);
      EXPECT_THROW(lookup->run(copied.view(), index.data(), out.data() + 1), UsageError);
      if (strategy == LookupStrategy::pull) {
        lookup->run(copied.view(), index.data(), out.data());
      } else {
        EXPECT_THROW(lookup->run(copied.view(), index.data(), out.data()), UsageError);
      }
      EXPECT_THROW((void)make_lookup<float>(team, stream, offsets, 0, strategy), UsageError);
      const std::vector<EdgeOffset> falling{0, 3, 2};
      EXPECT_THROW((void)make_lookup<float>(team, stream, falling, 4, strategy), UsageError);
    });
  }
}

TEST(BagLookup, RefusesOffsetsThatDoNotAscend) {
  const exec::Stream stream(exec::Device::cpu(1));
  EXPECT_THROW(BagLookup(stream, std::vector<EdgeOffset>{}), UsageError);
  EXPECT_THROW(BagLookup(stream, std::vector<EdgeOffset>{1, 2}), UsageError);
  EXPECT_THROW(BagLookup(stream, std::vector<EdgeOffset>{0, 3, 2}), UsageError);
}

TEST(BagLookupCuda, MatchesReferenceOnEveryTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  std::vector<team::TeamOptions> teams = fixtures::cuda_teams();
  // Ranks that share GPUs, where there are not as many.
  for (const int ranks : {4, 6}) {
    const bool is_among = ranks <= exec::cuda_device_count() + 2;
    if (!is_among && !testing_support::is_small()) teams.push_back(fixtures::cuda_team(ranks));
  }
  for (const auto& options : teams) {
    check_team(options);
    check_non_finite(options);
  }
}

}  // namespace
}  // namespace warren::sparse
