// SPDX-License-Identifier: Apache-2.0
// Gather and scatter against the sequential reference: all placements, widths, alignments, teams;
// rows that do not exist.
#pragma once

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "warren/memory/gather.hpp"

#include "memory/tables.hpp"
#include "reference/gather.hpp"
#include "support/backends.hpp"

namespace warren::memory {

using testing_support::name_of;
using testing_support::teams;

/// Random row numbers, about one in eight of them out of range.
inline std::vector<std::uint64_t> random_rows(std::uint64_t count, std::uint64_t rows,
                                              unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> indices(count);
  for (std::uint64_t& index : indices)
    index = random() % 8 == 0 ? rows + random() % 3 * (~std::uint64_t{0} / 3)
                              : random() % std::max<std::uint64_t>(rows, 1);
  return indices;
}

template <class T>
void check_gather(team::Team& team, const exec::Stream& stream, std::uint64_t rows,
                  std::uint64_t width, std::uint64_t count, Placement placement,
                  std::uint64_t misaligned = 0) {
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(width) + ", " +
               std::to_string(count) + " gathered, off by " + std::to_string(misaligned));
  const GlobalArray<T> table = make_table<T>(team, stream, rows, width, placement);
  const auto indices = random_rows(count, rows, static_cast<unsigned>(team.rank()) + 1);
  const auto missing = static_cast<std::uint64_t>(
      std::count_if(indices.begin(), indices.end(), [&](std::uint64_t i) { return i >= rows; }));
  const Buffer<std::uint64_t> where = on_device(stream, indices);
  Buffer<T> out = on_device(stream, std::vector<T>(count * width + misaligned + 1, T{77}));
  Buffer<std::uint64_t> counter = on_device(stream, std::vector<std::uint64_t>{1000});
  gather(stream, table.view(), where.data(), count, out.data() + misaligned, counter.data());
  const std::vector<T> got = out.to_host(stream);
  const auto begin = got.begin() + static_cast<std::ptrdiff_t>(misaligned);
  const std::vector<T> expected = reference::gather(whole_table<T>(rows, width), width, indices);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), begin));
  EXPECT_EQ(got.back(), T{77}) << "wrote past the end";
  for (std::uint64_t i = 0; i < misaligned; ++i)
    EXPECT_EQ(got[i], T{77}) << "wrote before the start";
  EXPECT_EQ(counter.to_host(stream).front(), 1000 + missing);
  if (count > 0)
    gather(stream, table.view(), where.data(), count,
           out.data() + misaligned);  // Without a counter.
  stream.synchronize();
  team.barrier();
}

template <class T>
void check_scatter(team::Team& team, const exec::Stream& stream, std::uint64_t rows,
                   std::uint64_t width, Placement placement) {
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(width) + " scattered");
  GlobalArray<T> table = make_table<T>(team, stream, rows, width, placement);
  // Rank p writes the rows that are p modulo the number of ranks, in a random order, and some that
  // do not exist.
  const auto ranks = static_cast<std::uint64_t>(team.size());
  const auto rows_of = [&](std::uint64_t p) {
    std::vector<std::uint64_t> mine;
    for (std::uint64_t row = p; row < rows; row += ranks) mine.push_back(row);
    mine.push_back(rows + p);
    std::shuffle(mine.begin(), mine.end(), std::mt19937_64(p));
    return mine;
  };
  const auto values_of = [&](const std::vector<std::uint64_t>& indices) {
    std::vector<T> values;
    for (const std::uint64_t row : indices) {
      for (std::uint64_t column = 0; column < width; ++column)
        values.push_back(element<T>(row + 5, column + 7));
    }
    return values;
  };
  const auto mine = rows_of(static_cast<std::uint64_t>(team.rank()));
  const Buffer<std::uint64_t> where = on_device(stream, mine);
  const Buffer<T> values = on_device(stream, values_of(mine));
  Buffer<std::uint64_t> counter = on_device(stream, std::vector<std::uint64_t>{0});
  scatter(stream, table.view(), where.data(), mine.size(), values.data(), counter.data());
  stream.synchronize();
  team.barrier();
  EXPECT_EQ(counter.to_host(stream).front(), 1u);
  std::vector<T> expected = whole_table<T>(rows, width);
  for (std::uint64_t p = 0; p < ranks; ++p) {
    if (placement == Placement::replicated && p != static_cast<std::uint64_t>(team.rank()))
      continue;
    reference::scatter(expected, width, rows_of(p), values_of(rows_of(p)));
  }
  if (placement == Placement::replicated) {
    EXPECT_EQ(table.buffer().to_host(stream), expected);
  } else {
    EXPECT_EQ(table.to_host(team, stream), expected);
  }
  team.barrier();
}

template <class Backend>
class GatherTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(GatherTest);

TYPED_TEST_P(GatherTest, EveryWidth) {
  team::run_team(teams<TypeParam>().back(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    for (std::uint64_t width = 1; width <= 200; ++width)
      check_gather<float>(team, stream, 301, width, 117, Placement::device);
    for (const std::uint64_t width : {256, 512, 1000, 1024, 2049})
      check_gather<float>(team, stream, 57, width, 33, Placement::device);
  });
}

TYPED_TEST_P(GatherTest, EveryTeamAndPlacement) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      for (const Placement placement :
           {Placement::device, Placement::replicated, Placement::host}) {
        for (const std::uint64_t width : {1, 16, 33})
          check_gather<float>(team, stream, 1000, width, 777, placement);
        check_scatter<float>(team, stream, 500, 12, placement);
      }
    });
  }
}

TYPED_TEST_P(GatherTest, EveryType) {
  team::run_team(teams<TypeParam>().back(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    for (const std::uint64_t width : {1, 2, 5, 8, 24, 64}) {
      check_gather<double>(team, stream, 100, width, 99, Placement::device);
      check_gather<std::uint16_t>(team, stream, 100, width, 99, Placement::device);
      check_gather<std::int32_t>(team, stream, 100, width, 99, Placement::device);
      check_gather<std::uint32_t>(team, stream, 100, width, 99, Placement::device);
      check_gather<std::uint64_t>(team, stream, 100, width, 99, Placement::device);
      check_scatter<double>(team, stream, 100, width, Placement::device);
      check_scatter<std::uint16_t>(team, stream, 100, width, Placement::device);
      check_scatter<std::uint64_t>(team, stream, 100, width, Placement::device);
    }
  });
}

TYPED_TEST_P(GatherTest, OutputsThatAreNotAligned) {
  team::run_team(teams<TypeParam>().back(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    for (const std::uint64_t off : {1, 2, 3, 4, 7, 8}) {
      check_gather<float>(team, stream, 100, 32, 50, Placement::device, off);
      check_gather<std::uint16_t>(team, stream, 100, 64, 50, Placement::device, off);
    }
  });
}

TYPED_TEST_P(GatherTest, FewAndManyRows) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    for (const std::uint64_t count : {0, 1, 2, 3, 4, 5, 8, 1'000'003})
      check_gather<float>(team, stream, 5000, 4, count, Placement::device);
    check_gather<float>(team, stream, 0, 4, 10, Placement::device);  // No row exists.
    check_gather<float>(team, stream, 1, 4, 10, Placement::device);
  });
}

TYPED_TEST_P(GatherTest, NullArraysAreRefused) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    const GlobalArray<float> table = make_table<float>(team, stream, 10, 4, Placement::device);
    Buffer<float> out(team.device(), 40);
    EXPECT_THROW(gather<float>(stream, table.view(), nullptr, 10, out.data()), UsageError);
    gather<float>(stream, table.view(), nullptr, 0, nullptr);
  });
}

/// The same comes out, by row numbers of either size.
TYPED_TEST_P(GatherTest, OnFewProcessors) {
  constexpr std::uint64_t kRows = 3000, kWidth = 24, kCount = 20'000;
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    const GlobalArray<float> table =
        make_table<float>(team, stream, kRows, kWidth, Placement::device);
    std::vector<std::uint64_t> indices = random_rows(kCount, kRows, 1);
    for (std::uint64_t& index : indices) index = std::min<std::uint64_t>(index, kRows + 7);
    const auto expected = reference::gather(whole_table<float>(kRows, kWidth), kWidth, indices);
    const auto where = on_device(stream, indices);
    const auto vertices = on_device(stream, std::vector<Vertex>(indices.begin(), indices.end()));
    for (const std::uint32_t processors : {1u, 3u, 1u << 20}) {
      Buffer<float> out = on_device(stream, std::vector<float>(kCount * kWidth, 77.0f));
      gather(stream, table.view(), where.data(), kCount, out.data(), nullptr, processors);
      EXPECT_EQ(out.to_host(stream), expected);
      out = on_device(stream, std::vector<float>(kCount * kWidth, 77.0f));
      gather_vertices(stream, table.view(), vertices.data(), kCount, out.data(), nullptr, nullptr,
                      processors);
      EXPECT_EQ(out.to_host(stream), expected);
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(GatherTest, EveryWidth, EveryTeamAndPlacement, EveryType,
                            OutputsThatAreNotAligned, FewAndManyRows, NullArraysAreRefused,
                            OnFewProcessors);

}  // namespace warren::memory
