// SPDX-License-Identifier: Apache-2.0
// Cached arrays and gathers of vertices against the sequential reference: what comes out does not
// depend on what is cached, and the hits are those of the list.
#pragma once

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "warren/memory/cached_array.hpp"

#include "memory/tables.hpp"
#include "reference/gather.hpp"
#include "support/backends.hpp"

namespace warren::memory {

using testing_support::name_of;
using testing_support::teams;

inline std::vector<std::uint64_t> every_third(std::uint64_t rows, std::uint64_t most) {
  std::vector<std::uint64_t> hot;
  for (std::uint64_t row = 1; row < rows && hot.size() < most; row += 3)
    hot.push_back(rows - row);  // Not in ascending order.
  return hot;
}

template <class T>
void check_cached(team::Team& team, const exec::Stream& stream, std::uint64_t rows,
                  std::uint64_t width, std::uint64_t most, CacheSpread spread) {
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(width) + ", cached " +
               std::to_string(most));
  const GlobalArray<T> host = make_table<T>(team, stream, rows, width, Placement::host);
  const auto hot = every_third(rows, most);
  CachedArray<T> array(team, host, hot, spread);
  EXPECT_EQ(array.cached_rows(), hot.size());
  std::mt19937_64 random(static_cast<unsigned>(team.rank()));
  std::vector<std::uint64_t> indices(777);
  for (auto& index : indices) index = random() % (rows + rows / 8 + 1);
  std::vector<Vertex> vertices(indices.begin(), indices.end());
  const auto expected = reference::gather(whole_table<T>(rows, width), width, indices);
  const auto missing = static_cast<std::uint64_t>(
      std::count_if(indices.begin(), indices.end(), [&](auto i) { return i >= rows; }));
  const auto hits = static_cast<std::uint64_t>(std::count_if(
      indices.begin(), indices.end(),
      [&](std::uint64_t i) { return std::find(hot.begin(), hot.end(), i) != hot.end(); }));
  const auto where = on_device(stream, indices);
  const auto short_where = on_device(stream, vertices);
  Buffer<std::uint64_t> counter = on_device(stream, std::vector<std::uint64_t>{5});
  Buffer<T> out = on_device(stream, std::vector<T>(expected.size(), T{77}));
  array.gather(stream, where.data(), indices.size(), out.data(), counter.data());
  EXPECT_EQ(out.to_host(stream), expected);
  EXPECT_EQ(counter.to_host(stream)[0], 5 + missing);
  EXPECT_EQ(array.use(stream).hits, hits);
  EXPECT_EQ(array.use(stream).rows, indices.size());

  // Of the first 100 alone, as the device says.
  const auto few = on_device(stream, std::vector<std::uint32_t>{100});
  out = on_device(stream, std::vector<T>(expected.size(), T{77}));
  array.gather_vertices(stream, short_where.data(), vertices.size(), out.data(), nullptr,
                        few.data());
  std::vector<T> first(expected.begin(),
                       expected.begin() + static_cast<std::ptrdiff_t>(100 * width));
  first.resize(expected.size(), T{77});
  EXPECT_EQ(out.to_host(stream), first);
  out = on_device(stream, std::vector<T>(expected.size(), T{77}));
  gather_vertices(stream, host.view(), short_where.data(), vertices.size(), out.data(), nullptr,
                  few.data());
  EXPECT_EQ(out.to_host(stream), first);
  gather_vertices(stream, host.view(), short_where.data(), vertices.size(), out.data());
  EXPECT_EQ(out.to_host(stream), expected);
  team.barrier();
}

template <class Backend>
class CachedArrayTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(CachedArrayTest);

TYPED_TEST_P(CachedArrayTest, GathersWhatIsThere) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      for (const CacheSpread spread : {CacheSpread::spread, CacheSpread::replicated}) {
        for (const std::uint64_t most : {0, 1, 50, 1000}) {
          check_cached<float>(team, stream, 500, 12, most, spread);
          check_cached<std::uint16_t>(team, stream, 90, 33, most, spread);
        }
        check_cached<std::int32_t>(team, stream, 1, 4, 1, spread);
      }
    });
  }
}

/// Who has all cached rows itself needs no path to the others.
TYPED_TEST_P(CachedArrayTest, RanksApart) {
  for (auto options : teams<TypeParam>()) {
    if (options.ranks == 1) continue;
    SCOPED_TRACE(name_of(options));
    options.are_apart = true;
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      check_cached<float>(team, stream, 500, 12, 50, CacheSpread::replicated);
      check_cached<float>(team, stream, 500, 12, 50, CacheSpread::automatic);
    });
  }
}

TYPED_TEST_P(CachedArrayTest, RefusesRowsThatAreNotThere) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    const GlobalArray<float> host = make_table<float>(team, stream, 10, 4, Placement::host);
    for (const std::vector<std::uint64_t>& hot : {std::vector<std::uint64_t>{3, 10}, {4, 4}})
      EXPECT_THROW(CachedArray<float>(team, host, hot), UsageError);
    CachedArray<float> array(team, host, {});
    EXPECT_EQ(array.use(stream).hit_rate(), 0.0);
    EXPECT_THROW(array.gather(stream, nullptr, 3, nullptr), UsageError);
  });
}

REGISTER_TYPED_TEST_SUITE_P(CachedArrayTest, GathersWhatIsThere, RanksApart,
                            RefusesRowsThatAreNotThere);

}  // namespace warren::memory
