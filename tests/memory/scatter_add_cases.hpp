// SPDX-License-Identifier: Apache-2.0
// Rows added to rows against a loop over the lists: placements, teams, types, rows that come many
// times and rows that do not exist.
#pragma once

#include <random>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/memory/scatter_add.hpp"

#include "memory/tables.hpp"
#include "support/backends.hpp"

namespace warren::memory {

using testing_support::name_of;
using testing_support::teams;

/// A rank's list: one row in three is the same one, one in eight does not exist.
template <class T>
struct AddedRows {
  std::vector<Vertex> rows;
  std::vector<T> added;
  std::uint64_t missing = 0;

  AddedRows(std::uint64_t table_rows, std::uint64_t width, std::uint64_t count, unsigned rank) {
    std::mt19937_64 random(rank + 17);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t kind = random() % 24;
      const std::uint64_t row = kind < 3    ? table_rows + random() % 5
                                : kind < 11 ? table_rows / 2
                                            : random() % table_rows;
      rows.push_back(kind == 0 ? kNoVertex : static_cast<Vertex>(row));
      missing += rows.back() >= table_rows ? 1 : 0;
      // Of floats, sums whose order shows in the last bits.
      for (std::uint64_t c = 0; c < width; ++c)
        added.push_back(static_cast<T>(std::is_integral_v<T>
                                           ? static_cast<double>(random() % 1000)
                                           : 1.0 / static_cast<double>(1 + random() % 1000)));
    }
  }
  void add_to(std::vector<T>& table, std::uint64_t width) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] >= table.size() / width) continue;
      for (std::uint64_t c = 0; c < width; ++c) table[rows[i] * width + c] += added[i * width + c];
    }
  }
};

/// All ranks at once by atomics; then one after the other in order, whose floats are exact, too.
template <class T>
void check_adding(team::Team& team, const exec::Stream& stream, std::uint64_t rows,
                  std::uint64_t width, std::uint64_t count, Placement placement) {
  SCOPED_TRACE(std::to_string(count) + " added to " + std::to_string(rows) + " rows of " +
               std::to_string(width));
  GlobalArray<T> table = make_table<T>(team, stream, rows, width, placement);
  std::vector<T> expected = whole_table<T>(rows, width);
  const auto list_of = [&](int q) {
    return AddedRows<T>(rows, width, count, static_cast<unsigned>(q));
  };
  const AddedRows<T> mine = list_of(team.rank());
  const auto where = on_device(stream, mine.rows);
  const auto values = on_device(stream, mine.added);
  const auto counter = on_device(stream, std::vector<std::uint64_t>{3});
  const auto whole = [&] {
    stream.synchronize();
    team.barrier();
    auto values_now = placement == Placement::replicated ? table.buffer().to_host(stream)
                                                         : table.to_host(team, stream);
    team.barrier();
    return values_now;
  };
  const auto is_seen = [&](int q) {
    return placement != Placement::replicated || q == team.rank();
  };
  scatter_add(stream, table.view(), where.data(), count, values.data(), counter.data());
  for (int q = 0; q < team.size(); ++q) {
    if (is_seen(q)) list_of(q).add_to(expected, width);
  }
  const std::vector<T> found = whole();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto off = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    const double most = std::is_integral_v<T> ? 0.0 : 1e-4 * static_cast<double>(expected[i]);
    EXPECT_LE(off, most) << i;
  }
  EXPECT_EQ(counter.to_host(stream)[0], 3 + mine.missing);

  expected = found;
  ScatterAdd in_order;
  for (int q = 0; q < team.size(); ++q) {
    for (int twice = 0; twice < 2; ++twice) {
      if (q == team.rank())
        in_order.run(stream, table.view(), where.data(), count, values.data(), counter.data());
      if (is_seen(q)) list_of(q).add_to(expected, width);
    }
    stream.synchronize();
    team.barrier();
  }
  EXPECT_EQ(whole(), expected);
  EXPECT_EQ(counter.to_host(stream)[0], 3 + 3 * mine.missing);
  team.barrier();
}

template <class Backend>
class ScatterAddTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(ScatterAddTest);

TYPED_TEST_P(ScatterAddTest, EveryTeamAndPlacement) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      for (const Placement placement :
           {Placement::device, Placement::replicated, Placement::host}) {
        check_adding<float>(team, stream, 97, 12, 700, placement);
        check_adding<std::uint32_t>(team, stream, 40, 3, 500, placement);
      }
    });
  }
}

TYPED_TEST_P(ScatterAddTest, EveryTypeAndSize) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    for (const std::uint64_t count : {0, 1, 2, 33, 5000}) {
      check_adding<float>(team, stream, 1000, 33, count, Placement::device);
      check_adding<double>(team, stream, 50, 1, count, Placement::device);
      check_adding<std::int32_t>(team, stream, 1, 5, count, Placement::device);
      check_adding<std::uint64_t>(team, stream, 128, 2, count, Placement::device);
    }
    const GlobalArray<float> table = make_table<float>(team, stream, 10, 4, Placement::device);
    const Buffer<float> values(team.device(), 40);
    EXPECT_THROW(scatter_add<float>(stream, table.view(), nullptr, 10, values.data()), UsageError);
    EXPECT_THROW(ScatterAdd().run<float>(stream, table.view(), nullptr, 10, values.data()),
                 UsageError);
  });
}

REGISTER_TYPED_TEST_SUITE_P(ScatterAddTest, EveryTeamAndPlacement, EveryTypeAndSize);

}  // namespace warren::memory
