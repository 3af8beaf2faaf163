// SPDX-License-Identifier: Apache-2.0
// Gathers in every order of reading against the sequential reference: placements, teams, sizes
// around the pieces in which a batch is sorted and moved, repeated rows, rows that do not exist.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "warren/memory/cached_array.hpp"
#include "warren/memory/ordered_gather.hpp"

#include "memory/ordered_gather_kernels.hpp"
#include "memory/tables.hpp"
#include "reference/gather.hpp"
#include "support/backends.hpp"

namespace warren::memory {

using testing_support::name_of;
using testing_support::teams;

inline constexpr RowOrder kOrders[] = {RowOrder::automatic, RowOrder::asked, RowOrder::sorted};

/// A batch of row numbers, and what a gather of it should give.
template <class T>
struct Batch {
  std::vector<std::uint64_t> indices;
  std::vector<T> rows;
  std::uint64_t missing = 0;

  Batch(std::vector<std::uint64_t> numbers, std::uint64_t table_rows, std::uint64_t width)
      : indices(std::move(numbers)),
        rows(reference::gather(whole_table<T>(table_rows, width), width, indices)),
        missing(static_cast<std::uint64_t>(std::count_if(
            indices.begin(), indices.end(), [&](std::uint64_t i) { return i >= table_rows; }))) {}
};

/// Random row numbers, many of them more than once, some of rows that do not exist.
inline std::vector<std::uint64_t> with_repeats(std::uint64_t count, std::uint64_t rows,
                                               unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> indices(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random() % 8;
    indices[i] = kind == 0            ? rows + random() % 5
                 : kind < 3 && i != 0 ? indices[random() % i]
                                      : random() % (rows + 1);
  }
  return indices;
}

/// Checks one batch by `gather(indices, count, out, out_of_range)`.
template <class T, class Gather>
void check_batch(const exec::Stream& stream, const Batch<T>& batch, Gather&& gather) {
  const auto where = on_device(stream, batch.indices);
  auto counter = on_device(stream, std::vector<std::uint64_t>{1000});
  auto out = on_device(stream, std::vector<T>(batch.rows.size() + 1, T{77}));
  gather(where.data(), batch.indices.size(), out.data(), counter.data());
  std::vector<T> got = out.to_host(stream);
  EXPECT_EQ(got.back(), T{77}) << "wrote past the end";
  got.pop_back();
  EXPECT_EQ(got, batch.rows);
  EXPECT_EQ(counter.to_host(stream)[0], 1000 + batch.missing);
}

/// The first `few` of a batch of vertices, as the device says.
template <class T, class Gather>
void check_few(const exec::Stream& stream, const Batch<T>& batch, std::uint32_t few,
               Gather&& gather) {
  const std::vector<Vertex> vertices(batch.indices.begin(), batch.indices.end());
  const auto where = on_device(stream, vertices);
  const auto count_at = on_device(stream, std::vector<std::uint32_t>{few});
  const auto out = on_device(stream, std::vector<T>(batch.rows.size(), T{77}));
  gather(where.data(), vertices.size(), out.data(), count_at.data());
  const std::uint64_t width = batch.rows.size() / vertices.size();
  std::vector<T> expected = batch.rows;
  std::fill(expected.begin() +
                static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(few, vertices.size()) * width),
            expected.end(), T{77});
  EXPECT_EQ(out.to_host(stream), expected);
}

/// One object gathers all batches, so that its memory grows and is used again.
template <class T>
void check_orders(team::Team& team, const exec::Stream& stream, std::uint64_t rows,
                  std::uint64_t width, const std::vector<std::uint64_t>& counts,
                  Placement placement, std::uint64_t bytes_in_flight = 1 << 20) {
  const GlobalArray<T> table = make_table<T>(team, stream, rows, width, placement);
  for (const RowOrder order : kOrders) {
    OrderedGather ordered({order, bytes_in_flight});
    for (const std::uint64_t count : counts) {
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(width) + ", " +
                   std::to_string(count) + " gathered in order " +
                   std::to_string(static_cast<int>(order)));
      const Batch<T> batch(with_repeats(count, rows, static_cast<unsigned>(team.rank())), rows,
                           width);
      check_batch(stream, batch, [&](auto* indices, auto size, T* out, auto* missing) {
        ordered.gather(stream, table, indices, size, out, missing);
      });
      if (count == 0) continue;
      for (const std::uint32_t few : {0u, 1u, 100u}) {
        check_few(stream, batch, few, [&](auto* vertices, auto size, T* out, auto* count_at) {
          ordered.gather_vertices(stream, table, vertices, size, out, nullptr, count_at);
        });
        check_few(stream, batch, few, [&](auto* vertices, auto size, T* out, auto* count_at) {
          ordered.gather_vertices(stream, table, vertices, size, out, nullptr, count_at, 2);
        });
      }
    }
  }
  team.barrier();
}

template <class T>
void check_cached_orders(team::Team& team, const exec::Stream& stream, std::uint64_t rows,
                         std::uint64_t width, std::uint64_t count, std::uint64_t cached,
                         CacheSpread spread) {
  const GlobalArray<T> host = make_table<T>(team, stream, rows, width, Placement::host);
  std::vector<std::uint64_t> hot(rows);
  std::iota(hot.begin(), hot.end(), std::uint64_t{0});
  std::shuffle(hot.begin(), hot.end(), std::mt19937_64(5));
  hot.resize(std::min(cached, rows));
  const Batch<T> batch(with_repeats(count, rows, static_cast<unsigned>(team.rank())), rows, width);
  for (const RowOrder order : kOrders) {
    SCOPED_TRACE(std::to_string(cached) + " of " + std::to_string(rows) + " rows cached, order " +
                 std::to_string(static_cast<int>(order)));
    CachedArray<T> array(team, host, hot, spread, {order});
    for (int turn = 0; turn < 2; ++turn) {
      check_batch(stream, batch, [&](auto* indices, auto size, T* out, auto* missing) {
        array.gather(stream, indices, size, out, missing);
      });
    }
    for (const std::uint32_t processors : {0u, 1u, 5u}) {
      check_few(stream, batch, 50, [&](auto* vertices, auto size, T* out, auto* count_at) {
        array.gather_vertices(stream, vertices, size, out, nullptr, count_at, processors);
      });
    }
    team.barrier();
  }
}

template <class Backend>
class OrderedGatherTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(OrderedGatherTest);

TYPED_TEST_P(OrderedGatherTest, EveryTeamAndPlacement) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      for (const Placement placement : {Placement::device, Placement::replicated, Placement::host})
        check_orders<float>(team, stream, 1000, 12, {777}, placement);
    });
  }
}

TYPED_TEST_P(OrderedGatherTest, EveryWidth) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    for (const std::uint64_t width :
         {1u, 2u, 3u, 4u, 7u, 16u, 20u, 32u, 33u, 64u, 96u, 128u, 130u, 300u, 513u}) {
      check_orders<float>(team, stream, 301, width, {150}, Placement::host);
      check_orders<std::uint16_t>(team, stream, 301, width, {150}, Placement::host);
      check_orders<double>(team, stream, 301, width, {150}, Placement::host);
    }
  });
}

TYPED_TEST_P(OrderedGatherTest, SizesAroundThePieces) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    const std::vector<std::uint64_t> counts = {0, 1, 2, 3, 4, 5, 16, 17, 1023, 1024, 1025, 4099};
    for (const std::uint64_t rows : {0u, 1u, 2u, 254u, 255u, 256u, 5000u})
      check_orders<float>(team, stream, rows, 4, counts, Placement::host);
    if (testing_support::is_small()) return;
    check_orders<float>(team, stream, 5000, 5, {16'383, 16'384, 300'007}, Placement::host);
  });
}

TYPED_TEST_P(OrderedGatherTest, LittleAndMuchInFlight) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{4096}, ~std::uint64_t{0}})
      check_orders<float>(team, stream, 2000, 32, {3000}, Placement::host, bytes);
  });
}

TYPED_TEST_P(OrderedGatherTest, AlikeRowsAndRowsInOrder) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    const std::uint64_t rows = 700, width = 8;
    const auto table = make_table<float>(team, stream, rows, width, Placement::host);
    std::vector<std::uint64_t> ascending(rows);
    std::iota(ascending.begin(), ascending.end(), std::uint64_t{0});
    const std::vector<std::uint64_t> descending(ascending.rbegin(), ascending.rend());
    for (const RowOrder order : kOrders) {
      OrderedGather ordered({order});
      for (const auto& indices :
           {ascending, descending, std::vector<std::uint64_t>(2500, 699),
            std::vector<std::uint64_t>(2500, 700), std::vector<std::uint64_t>(9, ~0ull)}) {
        check_batch(stream, Batch<float>(indices, rows, width),
                    [&](auto* where, auto size, float* out, auto* missing) {
                      ordered.gather(stream, table, where, size, out, missing);
                    });
      }
    }
  });
}

TYPED_TEST_P(OrderedGatherTest, CachedRows) {
  for (const auto& options : teams<TypeParam>()) {
    SCOPED_TRACE(name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      for (const CacheSpread spread : {CacheSpread::spread, CacheSpread::replicated}) {
        for (const std::uint64_t cached : {0u, 60u, 600u})
          check_cached_orders<float>(team, stream, 600, 16, 1777, cached, spread);
      }
    });
  }
}

TYPED_TEST_P(OrderedGatherTest, KeysAreWindows) {
  const exec::Device device = testing_support::some_device<TypeParam>();
  const exec::Stream stream(device);
  constexpr std::uint64_t kCount = 3000, kNear = 100, kFar = 900, kBytes = 48, kShift = 10;
  const auto numbers = with_repeats(kCount, kNear + kFar, 3);
  const auto indices = on_device(stream, numbers);
  const auto count_at = on_device(stream, std::vector<std::uint32_t>{2900});
  Buffer<std::uint32_t> keys(device, kCount), places(device, kCount);
  const auto far_rows = on_device(stream, std::vector<std::uint64_t>{7});
  detail::OrderedMove job;
  job.move.table.rows = kNear + kFar;
  job.move.table.row_bytes = kBytes;
  job.move.indices = indices.data();
  job.move.count = kCount;
  job.move.count_at = count_at.data();
  job.far_from = kNear;
  job.window_shift = kShift;
  job.near_key = 43;
  job.keys = keys.data();
  job.places = places.data();
  job.far_rows = far_rows.data();
  detail::key_rows<TypeParam>(stream, job);
  const auto got = keys.to_host(stream), order = places.to_host(stream);
  std::uint64_t far = 7;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const bool is_far = i < 2900 && numbers[i] >= kNear && numbers[i] < kNear + kFar;
    far += is_far ? 1 : 0;
    ASSERT_EQ(got[i], is_far ? (numbers[i] - kNear) * kBytes / 1024 : 43u) << i;
    ASSERT_EQ(order[i], i);
  }
  EXPECT_EQ(far_rows.to_host(stream)[0], far);
}

TYPED_TEST_P(OrderedGatherTest, RefusesWhatItCannotDo) {
  team::run_team(teams<TypeParam>().front(), [](team::Team& team) {
    const exec::Stream stream(team.device());
    const auto table = make_table<float>(team, stream, 10, 4, Placement::host);
    Buffer<float> out(team.device(), 40);
    Buffer<std::uint64_t> rows(team.device(), 10);
    EXPECT_THROW(OrderedGather({RowOrder::sorted, 0}), UsageError);
    for (const RowOrder order : kOrders) {
      OrderedGather ordered({order});
      EXPECT_THROW(ordered.gather<float>(stream, table, nullptr, 10, out.data()), UsageError);
      EXPECT_THROW(ordered.gather<float>(stream, table, rows.data(), 10, nullptr), UsageError);
      ordered.gather<float>(stream, table, nullptr, 0, nullptr);
    }
    OrderedGather sorted({RowOrder::sorted});
    EXPECT_THROW(sorted.gather(stream, table, rows.data(), std::uint64_t{1} << 32, out.data()),
                 UsageError);
  });
}

TYPED_TEST_P(OrderedGatherTest, SortsWhereItPays) {
  const exec::Device device = testing_support::some_device<TypeParam>();
  constexpr std::uint64_t kRows = (std::uint64_t{8} << 30) / 512;
  const OrderedGather automatic, asked({RowOrder::asked}), sorted({RowOrder::sorted});
  EXPECT_EQ(automatic.sorts(device, kRows, 512, 1 << 20), device.is_cuda());
  EXPECT_FALSE(automatic.sorts(device, kRows, 512, 100));
  EXPECT_FALSE(automatic.sorts(device, kRows, 512, std::uint64_t{1} << 32));
  EXPECT_FALSE(asked.sorts(device, kRows, 512, 1 << 20));
  EXPECT_TRUE(sorted.sorts(device, 10, 512, 1));
}

REGISTER_TYPED_TEST_SUITE_P(OrderedGatherTest, EveryTeamAndPlacement, EveryWidth,
                            SizesAroundThePieces, LittleAndMuchInFlight, AlikeRowsAndRowsInOrder,
                            CachedRows, KeysAreWindows, RefusesWhatItCannotDo, SortsWhereItPays);

}  // namespace warren::memory
