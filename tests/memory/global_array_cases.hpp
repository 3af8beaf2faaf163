// SPDX-License-Identifier: Apache-2.0
// GlobalArray: placements, views, remote reads, writes and atomics, replicated writes, and errors
// that all ranks get.
#pragma once

#include <gmock/gmock.h>

#include "memory/tables.hpp"
#include "support/backends.hpp"

namespace warren::memory {

using testing_support::name_of;
using testing_support::teams;

/// Every element of the whole table, read through the view.
struct ReadAll {
  GlobalView<std::uint32_t> view;
  std::uint32_t* out;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    out[i] = view.at(i / view.width, i % view.width);
  }
};

struct WriteRemote {
  GlobalView<std::uint32_t> view;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t row) const {
    if (row % static_cast<std::uint64_t>(view.ranks) == static_cast<std::uint64_t>(view.rank)) {
      for (std::uint64_t column = 0; column < view.width; ++column)
        view.at(row, column) = static_cast<std::uint32_t>(row * 1000 + column);
    }
  }
};

struct AddEverywhere {
  GlobalView<std::uint32_t> sums;
  GlobalView<std::uint32_t> minima;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t row) const {
    sums.atomic_add(row, static_cast<std::uint32_t>(sums.rank + 1), 1);
    minima.atomic_min(
        row, static_cast<std::uint32_t>(row + 100 - static_cast<std::uint64_t>(minima.rank)));
  }
};

struct WriteAllCopies {
  GlobalView<std::uint32_t> view;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    view.write_all(view.first() + i, static_cast<std::uint32_t>(view.first() + i + 7));
  }
};

template <class Backend>
class GlobalArrayTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(GlobalArrayTest);

TYPED_TEST_P(GlobalArrayTest, ReadsFromEverywhere) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      for (const Placement placement :
           {Placement::device, Placement::replicated, Placement::host}) {
        const auto table = make_table<std::uint32_t>(team, stream, 211, 5, placement);
        Buffer<std::uint32_t> out(team.device(), 211 * 5);
        exec::launch<TypeParam, exec::Thread>(stream, out.size(),
                                              ReadAll{table.view(), out.data()});
        EXPECT_EQ(out.to_host(stream), whole_table<std::uint32_t>(211, 5));
        EXPECT_EQ(table.to_host(team, stream), whole_table<std::uint32_t>(211, 5));
        EXPECT_EQ(table.placement(), placement);
        EXPECT_EQ(table.view().rows(), 211u);
        EXPECT_EQ(table.local_size(), table.view().local_rows() * 5);
        team.barrier();
      }
    });
  }
}

TYPED_TEST_P(GlobalArrayTest, WritesAndAtomicsFromEverywhere) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      const auto ranks = static_cast<std::uint32_t>(team.size());
      for (const Placement placement : {Placement::device, Placement::host}) {
        auto table = make_table<std::uint32_t>(team, stream, 301, 3, placement);
        exec::launch<TypeParam, exec::Thread>(stream, 301, WriteRemote{table.view()});
        stream.synchronize();
        team.barrier();
        const auto written = table.to_host(team, stream);
        for (std::uint32_t i = 0; i < 301 * 3; ++i) ASSERT_EQ(written[i], i / 3 * 1000 + i % 3);

        auto minima = make_table<std::uint32_t>(team, stream, 301, 1, placement);
        exec::fill_bytes(stream, minima.local_data(), 0xff, minima.local_size() * 4);
        stream.synchronize();
        team.barrier();
        exec::launch<TypeParam, exec::Thread>(stream, 301,
                                              AddEverywhere{table.view(), minima.view()});
        stream.synchronize();
        team.barrier();
        const auto sums = table.to_host(team, stream);
        const auto least = minima.to_host(team, stream);
        // The host link carries no atomics between GPUs: see GlobalView.
        const bool is_atomic =
            placement == Placement::device || !team.device().is_cuda() || ranks == 1;
        for (std::uint32_t row = 0; is_atomic && row < 301; ++row) {
          ASSERT_EQ(sums[row * 3 + 1], row * 1000 + 1 + ranks * (ranks + 1) / 2);
          ASSERT_EQ(least[row], row + 101 - ranks);
        }
        team.barrier();
      }
    });
  }
}

TYPED_TEST_P(GlobalArrayTest, ReplicatedWrites) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      auto table = make_table<std::uint32_t>(team, stream, 157, 1, Placement::replicated);
      exec::launch<TypeParam, exec::Thread>(stream, table.view().local_rows(),
                                            WriteAllCopies{table.view()});
      stream.synchronize();
      team.barrier();
      const auto copy = table.buffer().to_host(stream);
      for (std::uint32_t i = 0; i < 157; ++i) ASSERT_EQ(copy[i], i + 7);
      team.barrier();
    });
  }
}

TYPED_TEST_P(GlobalArrayTest, OneShortageIsAnErrorOnAllRanks) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      // Only the last rank asks for more than any device has.
      std::vector<std::uint64_t> cuts(static_cast<std::size_t>(team.size()), 0);
      cuts.push_back(std::uint64_t{1} << 47);
      using Array = GlobalArray<std::uint64_t>;
      EXPECT_THAT([&] { Array(team, cuts, 1, Placement::device); },
                  ::testing::ThrowsMessage<MemoryError>(
                      ::testing::HasSubstr("(rank " + std::to_string(team.size() - 1) + ")")));
      EXPECT_EQ(team.all_reduce(1, exec::Plus{}), team.size()) << "the team goes on";
    });
  }
}

TYPED_TEST_P(GlobalArrayTest, BadShapesAreRefused) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    using Array = GlobalArray<float>;
    const std::vector<std::uint64_t> too_few = {0}, not_from_zero = {1, 2}, good = {0, 2};
    EXPECT_THROW(Array(team, too_few, 1, Placement::device), UsageError);
    EXPECT_THROW(Array(team, not_from_zero, 1, Placement::device), UsageError);
    EXPECT_THROW(Array(team, good, 0, Placement::device), UsageError);
  });
}

REGISTER_TYPED_TEST_SUITE_P(GlobalArrayTest, ReadsFromEverywhere, WritesAndAtomicsFromEverywhere,
                            ReplicatedWrites, OneShortageIsAnErrorOnAllRanks, BadShapesAreRefused);

}  // namespace warren::memory
