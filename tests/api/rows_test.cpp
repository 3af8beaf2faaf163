// SPDX-License-Identifier: Apache-2.0
// Products, softmax and largest values over the caller's arrays, against sums in float64.
#include "warren/api/rows.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/device.hpp"

namespace warren {
namespace {

constexpr std::uint64_t kRows = 30, kColumns = 20, kHeads = 3, kWidth = 5;

/// Rows of 0 to 12 entries, whose values stand in another order than the entries.
struct Example {
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
  std::vector<EdgeOffset> value_ids;
  std::vector<float> values;

  Example() {
    std::mt19937 draw(7);
    for (std::uint64_t r = 0; r < kRows; ++r) {
      for (std::uint64_t e = 0; e < r % 13; ++e)
        columns.push_back(static_cast<Vertex>(draw() % kColumns));
      offsets.push_back(columns.size());
    }
    for (std::uint64_t e = 0; e < columns.size(); ++e) value_ids.push_back(columns.size() - 1 - e);
    values = numbers(columns.size() * kHeads);
  }
  [[nodiscard]] RowArrays matrix() const {
    return {kRows, columns.size(), offsets.data(), columns.data(), values.data(), value_ids.data()};
  }
  static std::vector<float> numbers(std::uint64_t count, unsigned seed = 3) {
    std::mt19937 draw(seed);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    std::vector<float> found(count);
    for (float& value : found) value = uniform(draw);
    return found;
  }
};

TEST(ApiRows, GatheredByTheirNumbers) {
  const auto table = Example::numbers(kRows * kWidth);
  const std::vector<std::uint64_t> ids = {kRows - 1, 0, 7, 7, kRows, 3};  // The fifth is no row.
  std::vector<float> out((ids.size() + 1) * kWidth, -1.0f);
  rows_gather({}, table.data(), kRows, kWidth * sizeof(float), ids.data(), ids.size(), out.data());
  for (std::uint64_t i = 0; i < ids.size(); ++i) {
    for (std::uint64_t j = 0; j < kWidth; ++j)
      EXPECT_EQ(out[i * kWidth + j], ids[i] < kRows ? table[ids[i] * kWidth + j] : 0.0f);
  }
  EXPECT_EQ(out[ids.size() * kWidth], -1.0f);
  rows_gather({}, table.data(), kRows, kWidth * sizeof(float), nullptr, 0, nullptr);
}

TEST(ApiRows, ProductsOfHeads) {
  const Example example;
  const RowArrays a = example.matrix();
  const auto b = Example::numbers(kColumns * kHeads * kWidth);
  const auto x = Example::numbers(kRows * kHeads * kWidth, 5);
  std::vector<float> c(x.size(), -1.0f);
  std::vector<float> out(a.entries * kHeads, -1.0f);
  rows_spmm({}, a, kHeads, kWidth, b.data(), c.data());
  rows_sddmm({}, a, kHeads, kWidth, x.data(), b.data(), out.data());
  for (std::uint64_t r = 0; r < kRows; ++r) {
    for (std::uint64_t h = 0; h < kHeads; ++h) {
      std::vector<double> sums(kWidth, 0.0);
      for (EdgeOffset e = a.offsets[r]; e < a.offsets[r + 1]; ++e) {
        double product = 0.0;
        for (std::uint64_t j = 0; j < kWidth; ++j) {
          const double of_b = b[(a.columns[e] * kHeads + h) * kWidth + j];
          sums[j] += double{a.values[h * a.entries + a.value_ids[e]]} * of_b;
          product += double{x[(r * kHeads + h) * kWidth + j]} * of_b;
        }
        EXPECT_NEAR(out[h * a.entries + e], product, 1e-5);
      }
      for (std::uint64_t j = 0; j < kWidth; ++j)
        EXPECT_NEAR(c[(r * kHeads + h) * kWidth + j], sums[j], 1e-5);
    }
  }
}

TEST(ApiRows, ProductsOfScaledRowsAndColumnsWithADiagonal) {
  const Example example;
  RowArrays a = example.matrix();
  a.rows = kColumns;
  a.entries = a.offsets[kColumns];
  const auto row_scale = Example::numbers(kColumns, 11),
             column_scale = Example::numbers(kColumns, 12);
  const auto self = Example::numbers(kColumns, 13), b = Example::numbers(kColumns * kWidth, 14);
  for (const bool is_weighted : {true, false}) {
    if (!is_weighted) a.values = nullptr;
    a.row_scale = row_scale.data();
    a.column_scale = column_scale.data();
    a.self = self.data();
    std::vector<float> c(kColumns * kWidth, -1.0f);
    rows_spmm({}, a, 1, kWidth, b.data(), c.data());
    for (std::uint64_t r = 0; r < kColumns; ++r) {
      for (std::uint64_t j = 0; j < kWidth; ++j) {
        double sum = double{self[r]} * b[r * kWidth + j];
        for (EdgeOffset e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
          sum += (is_weighted ? double{a.values[a.value_ids[e]]} : 1.0) *
                 column_scale[a.columns[e]] * b[a.columns[e] * kWidth + j];
        EXPECT_NEAR(c[r * kWidth + j], row_scale[r] * sum, 1e-5);
      }
    }
  }
}

TEST(ApiRows, OnesWithoutValuesAndEntriesAsColumns) {
  const Example example;
  RowArrays a = example.matrix();
  a.columns = nullptr;
  a.values = nullptr;
  a.value_ids = nullptr;
  const std::vector<float> ones(a.entries, 1.0f);
  std::vector<float> c(kRows);
  rows_spmm({}, a, 1, 1, ones.data(), c.data());
  for (std::uint64_t r = 0; r < kRows; ++r) EXPECT_EQ(c[r], static_cast<float>(r % 13));
}

TEST(ApiRows, SoftmaxAndItsGradient) {
  const Example example;
  const RowArrays a = example.matrix();
  const auto x = Example::numbers(a.entries * kHeads);
  const auto dy = Example::numbers(a.entries * kHeads, 9);
  std::vector<float> y(x.size());
  std::vector<float> dx(x.size());
  rows_softmax({}, a, kHeads, x.data(), y.data());
  rows_softmax_backward({}, a, kHeads, y.data(), dy.data(), dx.data());
  for (std::uint64_t r = 0; r < kRows; ++r) {
    for (std::uint64_t h = 0; h < kHeads; ++h) {
      double sum = 0.0;
      double products = 0.0;
      for (EdgeOffset e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
        sum += std::exp(double{x[e * kHeads + h]});
      for (EdgeOffset e = a.offsets[r]; e < a.offsets[r + 1]; ++e) {
        EXPECT_NEAR(y[e * kHeads + h], std::exp(double{x[e * kHeads + h]}) / sum, 1e-6);
        products += double{y[e * kHeads + h]} * dy[e * kHeads + h];
      }
      for (EdgeOffset e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
        EXPECT_NEAR(dx[e * kHeads + h], y[e * kHeads + h] * (dy[e * kHeads + h] - products), 1e-6);
    }
  }
}

TEST(ApiRows, LargestAndWhoseItIs) {
  const Example example;
  const RowArrays a = example.matrix();
  const auto b = Example::numbers(kColumns * kWidth);
  std::vector<float> c(kRows * kWidth, -1.0f);
  std::vector<Vertex> arg(c.size());
  rows_max({}, a, kWidth, b.data(), c.data(), arg.data());
  for (std::uint64_t r = 0; r < kRows; ++r) {
    for (std::uint64_t j = 0; j < kWidth; ++j) {
      const std::uint64_t at = r * kWidth + j;
      if (a.offsets[r] == a.offsets[r + 1]) {
        EXPECT_EQ(c[at], 0.0f);
        EXPECT_EQ(arg[at], kNoVertex);
        continue;
      }
      float most = -2.0f;
      for (EdgeOffset e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
        most = std::max(most, b[a.columns[e] * kWidth + j]);
      EXPECT_EQ(c[at], most);
      EXPECT_EQ(b[arg[at] * kWidth + j], most);
    }
  }
}

TEST(ApiRows, WhatIsRefused) {
  const Example example;
  float one = 0.0f;
  EXPECT_THROW(rows_spmm({}, example.matrix(), 0, 1, &one, &one), UsageError);
  EXPECT_THROW(rows_sddmm({}, example.matrix(), 1, 0, &one, &one, &one), UsageError);
  EXPECT_THROW(rows_max({}, example.matrix(), 0, &one, &one, nullptr), UsageError);
  EXPECT_THROW(rows_gather({}, &one, 1, 6, nullptr, 0, &one), UsageError);
  EXPECT_THROW(rows_gather({}, &one, 1, 0, nullptr, 0, &one), UsageError);
  const int gpus = exec::cuda_device_count();
  EXPECT_THROW(rows_spmm({gpus, nullptr}, example.matrix(), 1, 1, &one, &one), UsageError);
  rows_spmm({}, {}, 1, 1, nullptr, nullptr);  // No rows.
}

}  // namespace
}  // namespace warren
