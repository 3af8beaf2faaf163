// SPDX-License-Identifier: Apache-2.0
// Rows of tables, and sums and means of bags of them, against plain loops, for every placement and
// number of ranks; and arguments that are refused.
#include "warren/api/table.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/exec/half.hpp"
#include "warren/sparse/lookup.hpp"

#include "support/message_of.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;
using testing_support::message_of;

/// The CPU, and GPUs where there are some, which more ranks share.
std::vector<Session> places() {
  std::vector<Session> all{Session({.device = DeviceKind::cpu})};
  if (exec::cuda_device_count() > 0)
    all.emplace_back(SessionOptions{.device = DeviceKind::cuda, .share_devices = true});
  return all;
}

template <class T>
std::vector<T> some_values(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i * 2654435761u % 251);
  return values;
}

std::vector<std::uint64_t> random_ids(std::size_t count, std::uint64_t rows, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> ids(count);
  for (std::uint64_t& id : ids) id = random() % rows;
  return ids;
}

template <class T>
void expect_rows(const std::vector<T>& values, std::uint64_t k, const TableOptions& options) {
  const std::uint64_t rows = values.size() / k;
  const Table<T> table(std::span<const T>(values), k, options);
  EXPECT_EQ(table.rows(), rows);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{97}}) {
    const std::vector<std::uint64_t> ids = random_ids(count, rows, 3);
    const GatherResult<T> found = gather(table, std::span<const std::uint64_t>(ids));
    ASSERT_EQ(found.values.size(), count * k);
    EXPECT_EQ(found.rows, count);
    EXPECT_EQ(found.info.devices, options.devices);
    for (std::size_t i = 0; i < count; ++i)
      for (std::uint64_t c = 0; c < k; ++c)
        ASSERT_EQ(found.values[i * k + c], values[ids[i] * k + c]) << i << ", " << c;
  }
}

void expect_rows_of_every_type(const Session& session) {
  for (const TablePlacement placement :
       {TablePlacement::device, TablePlacement::host, TablePlacement::cached}) {
    for (const int devices : {1, 2, 3, 4}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(placement)) + ", " + std::to_string(devices));
      TableOptions options;
      options.placement = placement;
      options.devices = devices;
      options.session = session;
      expect_rows(some_values<float>(40 * 8), 8, options);
      expect_rows(some_values<std::uint8_t>(35 * 3), 3, options);
      expect_rows(some_values<double>(2), 2, options);  // One row, of which some ranks have none.
      expect_rows(some_values<std::int64_t>(21), 1, options);
    }
  }
}

TEST(ApiTable, GathersRowsOfEveryTypeAndPlacement) {
  for (const Session& session : places()) expect_rows_of_every_type(session);
}

TEST(ApiTable, CachedRowsAreCountedAndKept) {
  TableOptions options;
  options.placement = TablePlacement::cached;
  options.device = DeviceKind::cpu;
  options.devices = 2;
  options.cached = std::vector<std::uint64_t>{7, 3};
  const std::vector<float> values = some_values<float>(10 * 4);
  const Table<float> table(std::span<const float>(values), 4, options);
  const std::vector<std::uint64_t> ids = {3, 7, 7, 1, 9};
  for (int turn = 0; turn < 2; ++turn) {
    const auto found = gather(table, std::span<const std::uint64_t>(ids));
    EXPECT_EQ(found.cached_hits, 3u);
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(found.values[i * 4], values[ids[i] * 4]);
  }
  table.release();
  EXPECT_EQ(gather(table, std::span<const std::uint64_t>(ids)).cached_hits, 3u);
}

/// Bags of 0 to 6 ids.
struct Batch {
  std::vector<std::uint64_t> ids;
  std::vector<EdgeOffset> offsets{0};
  std::vector<float> weights;

  Batch(std::size_t bags, std::uint64_t rows) {
    for (std::size_t b = 0; b < bags; ++b)
      offsets.push_back(offsets.back() + (b * 7919) % 7 * (rows > 0 ? 1 : 0));
    ids = random_ids(offsets.back(), rows == 0 ? 1 : rows, 11);
    for (std::size_t i = 0; i < ids.size(); ++i)
      weights.push_back(static_cast<float>(i % 5) * 0.5f - 1.0f);
  }
};

template <class T>
void expect_bags(const LookupResult<T>& found, const std::vector<float>& values, std::uint64_t k,
                 const Batch& batch, const LookupOptions& options, double tolerance) {
  ASSERT_EQ(found.values.size(), (batch.offsets.size() - 1) * k);
  for (std::size_t b = 0; b + 1 < batch.offsets.size(); ++b) {
    for (std::uint64_t c = 0; c < k; ++c) {
      double sum = 0.0;
      for (EdgeOffset e = batch.offsets[b]; e < batch.offsets[b + 1]; ++e)
        sum += (options.weights.empty() ? 1.0 : static_cast<double>(options.weights.host()[e])) *
               static_cast<double>(values[batch.ids[e] * k + c]);
      const auto count = static_cast<double>(batch.offsets[b + 1] - batch.offsets[b]);
      if (options.mode == BagMode::mean && count > 0) sum /= count;
      double value = 0.0;
      if constexpr (std::is_same_v<T, float>)
        value = static_cast<double>(found.values[b * k + c]);
      else
        value = static_cast<double>(to_float(found.values[b * k + c]));
      ASSERT_NEAR(value, sum, tolerance * (1.0 + std::abs(sum))) << b << ", " << c;
    }
  }
}

void expect_bags_of_every_kind(const Session& session) {
  constexpr std::uint64_t kRows = 50;
  for (const int devices : {1, 2, 4}) {
    for (const std::uint64_t k : {1u, 4u, 9u}) {
      const std::vector<float> values = some_values<float>(kRows * k);
      TableOptions options;
      options.devices = devices;
      options.session = session;
      options.placement = k == 4 ? TablePlacement::host : TablePlacement::device;
      const Table<float> table(std::span<const float>(values), k, options);
      for (const std::size_t bags : {std::size_t{0}, std::size_t{1}, std::size_t{60}}) {
        const Batch batch(bags, kRows);
        const auto look = [&](const LookupOptions& how) {
          const auto found = lookup(table, std::span<const std::uint64_t>(batch.ids),
                                    std::span<const EdgeOffset>(batch.offsets), how);
          expect_bags(found, values, k, batch, how, 1e-5);
          return found;
        };
        EXPECT_EQ(look({}).strategy, "pull");  // Of means.
        (void)look({.mode = BagMode::sum});
        (void)look({.mode = BagMode::sum, .weights = batch.weights});
        for (const char* strategy : {"pull", "owner-sum", "messages"}) {
          const auto found = look({.mode = BagMode::sum, .strategy = strategy});
          EXPECT_EQ(found.strategy, strategy);
          EXPECT_EQ(found.rows_moved > 0, devices > 1 && bags > 1);
        }
      }
    }
  }
}

TEST(ApiTable, LooksUpSumsMeansAndWeightedSums) {
  for (const Session& session : places()) expect_bags_of_every_kind(session);
}

TEST(ApiTable, LooksUpHalves) {
  const std::vector<float> values = some_values<float>(20 * 3);
  std::vector<Half> halves;
  std::vector<BFloat16> brains;
  for (const float value : values) {
    halves.push_back(from_float<Half>(value));
    brains.push_back(from_float<BFloat16>(value));
  }
  const Batch batch(30, 20);
  const LookupOptions how{.mode = BagMode::mean};
  const TableOptions two{.device = DeviceKind::cpu, .devices = 2};
  expect_bags(lookup(Table<Half>(std::span<const Half>(halves), 3, two),
                     std::span<const std::uint64_t>(batch.ids),
                     std::span<const EdgeOffset>(batch.offsets), how),
              values, 3, batch, how, 1e-3);
  expect_bags(lookup(Table<BFloat16>(std::span<const BFloat16>(brains), 3, two),
                     std::span<const std::uint64_t>(batch.ids),
                     std::span<const EdgeOffset>(batch.offsets), how),
              values, 3, batch, how, 1e-2);
}

TEST(ApiTable, BadArgumentsAreRefusedByName) {
  const std::vector<float> values(12, 1.0f);
  const std::span<const float> all(values);
  const auto made = [&](std::uint64_t k, const TableOptions& options) {
    return message_of<UsageError>([&] { (void)Table<float>(all, k, options); });
  };
  EXPECT_EQ(made(0, {}), "columns: got 0, expected one or more");
  EXPECT_EQ(made(5, {}), "values: got 12 elements, expected rows of 5");
  EXPECT_THAT(made(4, {.devices = -1}), HasSubstr("devices: got -1"));
  const std::vector<std::uint64_t> twice = {1, 2, 1}, beyond = {3};
  EXPECT_THAT(made(4, {.cached = twice}), HasSubstr("cached: got rows for a table"));
  EXPECT_EQ(made(4, {.placement = TablePlacement::cached, .cached = twice}),
            "cached: got row 1 twice, expected each once");
  EXPECT_EQ(made(4, {.placement = TablePlacement::cached, .cached = beyond}),
            "cached: got row 3, expected rows below 3");

  const Table<float> table(all, 4, {.device = DeviceKind::cpu, .devices = 2});
  const std::vector<std::uint64_t> ids = {0, 2, 3}, below = {~std::uint64_t{0}};
  const auto gathered = [&](const std::vector<std::uint64_t>& rows) {
    return message_of<UsageError>(
        [&] { (void)gather(table, std::span<const std::uint64_t>(rows)); });
  };
  EXPECT_EQ(gathered(ids), "ids[2]: got 3, expected a row, 0 to 2");
  EXPECT_EQ(gathered(below), "ids[0]: got -1, expected a row, 0 to 2");
  EXPECT_THROW((void)gather(table, std::span<const std::uint64_t>(ids)), RowError);

  const auto looked = [&](std::vector<std::uint64_t> rows, std::vector<EdgeOffset> offsets,
                          const LookupOptions& how) {
    return message_of<UsageError>([&] {
      (void)lookup(table, std::span<const std::uint64_t>(rows),
                   std::span<const EdgeOffset>(offsets), how);
    });
  };
  const std::vector<float> two(2, 1.0f);
  EXPECT_THAT(looked({0, 1}, {}, {}), HasSubstr("offsets: got none"));
  EXPECT_THAT(looked({0, 1}, {1, 2}, {}), HasSubstr("offsets[0]: got 1, expected 0"));
  EXPECT_THAT(looked({0, 1}, {0, 1}, {}),
              HasSubstr("offsets[1]: got 1, expected the number of ids, 2"));
  EXPECT_THAT(looked({0, 1}, {0, 3, 2}, {}),
              HasSubstr("offsets[1]: got 3, expected at most the number of ids, 2"));
  EXPECT_THAT(looked({0, 1}, {0, 2, 1, 2}, {}), HasSubstr("offsets[2]: got 1 after 2"));
  EXPECT_EQ(looked({0, 5}, {0, 2}, {}), "ids[1]: got 5, expected a row, 0 to 2");
  EXPECT_THAT(looked({0, 1}, {0, 2}, {.weights = two}), HasSubstr("weights: got some for means"));
  EXPECT_THAT(looked({0}, {0, 1}, {.mode = BagMode::sum, .weights = two}),
              HasSubstr("weights: got 2, expected one an id, 1"));
  EXPECT_THAT(looked({0}, {0, 1}, {.strategy = "owner-sum"}), HasSubstr("strategy: got owner-sum"));
  EXPECT_THAT(looked({0}, {0, 1}, {.mode = BagMode::sum, .strategy = "pul"}), HasSubstr("pul"));
  const Table<float> cached(all, 4, {.placement = TablePlacement::cached});
  EXPECT_THAT(message_of<UsageError>([&] {
                (void)lookup(cached, std::span<const std::uint64_t>(ids),
                             std::span<const EdgeOffset>());
              }),
              HasSubstr("table: got one that is cached"));
}

TEST(ApiTable, IdsOf32BitsAndLargestOfBags) {
  const std::vector<float> values = {1, -2, 3, 4, -5, 6};
  const std::vector<std::int32_t> ids = {2, 0, 1}, below = {0, -3};
  const std::vector<std::uint32_t> beyond = {0, 4000000000u};
  const std::vector<EdgeOffset> offsets = {0, 0, 2, 3};
  for (const Session& session : places()) {
    for (const int devices : {1, 2}) {
      const Table<float> table(std::span<const float>(values), 2,
                               {.devices = devices, .session = session});
      EXPECT_EQ(gather(table, ids).values, (std::vector<float>{-5, 6, 1, -2, 3, 4}));
      EXPECT_EQ(message_of<UsageError>([&] { (void)gather(table, below); }),
                "ids[1]: got -3, expected a row, 0 to 2");
      EXPECT_EQ(message_of<UsageError>([&] { (void)gather(table, beyond); }),
                "ids[1]: got 4000000000, expected a row, 0 to 2");
      const auto found = lookup(table, ids, std::span(offsets), {.mode = BagMode::max});
      EXPECT_EQ(found.values, (std::vector<float>{0, 0, 1, 6, 3, 4}));
    }
  }
}

TEST(ApiTable, ReadsAGpusArraysThere) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "needs a GPU";
  const exec::Stream stream(exec::Device::cuda(0));
  const std::vector<float> values = some_values<float>(40 * 6);
  const std::vector<std::int64_t> ids = {39, 0, 7, 7}, wrong = {0, 40, -1};
  memory::Buffer<float> rows(stream.device(), values.size());
  memory::Buffer<std::int64_t> near(stream.device(), ids.size()), bad(stream.device(), 3);
  rows.upload(stream, values);
  near.upload(stream, ids);
  bad.upload(stream, wrong);
  const ArrayView<float> view(rows.data(), rows.size(), 0, stream.native());
  const ArrayView<std::int64_t> chosen(near.data(), near.size(), 0, stream.native());
  const ArrayView<std::int64_t> refused(bad.data(), bad.size(), 0, stream.native());
  const std::vector<EdgeOffset> offsets = {0, 1, 4}, whole = {0, 3};
  const Session gpus({.device = DeviceKind::cuda, .share_devices = true});
  for (const int devices : {1, 3}) {
    const TableOptions options{.devices = devices, .session = gpus};
    const Table<float> there(view, nullptr, 6, options);
    const Table<float> copied(std::span<const float>(values), 6, options);
    const auto found = gather(there, chosen);
    EXPECT_EQ(found.values.gpu(), 0);
    EXPECT_EQ(found.values, gather(copied, ids).values.host());
    EXPECT_EQ(gather(copied, chosen).values, found.values.host());
    EXPECT_EQ(message_of<UsageError>([&] { (void)gather(there, refused); }),
              "ids[1]: got 40, expected a row, 0 to 39");
    for (const BagMode mode : {BagMode::sum, BagMode::mean, BagMode::max}) {
      EXPECT_EQ(lookup(there, chosen, std::span(offsets), {.mode = mode}).values,
                lookup(copied, ids, std::span(offsets), {.mode = mode}).values.host());
      EXPECT_EQ(message_of<UsageError>(
                    [&] { (void)lookup(there, refused, std::span(whole), {.mode = mode}); }),
                "ids[1]: got 40, expected a row, 0 to 39");
    }
  }
  const Table<float> on_cpu(view, nullptr, 6, {.device = DeviceKind::cpu});
  EXPECT_EQ(gather(on_cpu, chosen).values.gpu(), -1);
}

TEST(ApiTable, EmptyTablesAndClosedSessions) {
  const Table<float> empty(std::span<const float>(), 4);
  EXPECT_TRUE(gather(empty, std::span<const std::uint64_t>()).values.empty());
  const std::vector<EdgeOffset> offsets = {0, 0, 0};
  const auto zeros =
      lookup(empty, std::span<const std::uint64_t>(), std::span<const EdgeOffset>(offsets));
  EXPECT_EQ(zeros.values, std::vector<float>(8, 0.0f));
  const std::vector<std::uint64_t> ids = {0};
  EXPECT_EQ(
      message_of<UsageError>([&] { (void)gather(empty, std::span<const std::uint64_t>(ids)); }),
      "ids[0]: got 0, expected none: the table has no rows");
  Session session;
  const std::vector<float> values(4, 2.0f);
  const Table<float> table(std::span<const float>(values), 2, {.session = session});
  EXPECT_EQ(gather(table, std::span<const std::uint64_t>(ids)).values, std::vector<float>(2, 2.0f));
  session.close();
  EXPECT_THAT(
      message_of<UsageError>([&] { (void)gather(table, std::span<const std::uint64_t>(ids)); }),
      HasSubstr("session is closed"));
}

}  // namespace
}  // namespace warren
