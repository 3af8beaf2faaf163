// SPDX-License-Identifier: Apache-2.0
// Dense matrices for the tests of sparse products: random values that all storage types hold
// exactly, and comparison with a reference.
#pragma once

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/half.hpp"

#include "reference/sparse.hpp"
#include "support/on_device.hpp"

namespace warren::testing_support {

/// Multiples of 1/8 within [-2, 2].
inline std::vector<double> random_dense(std::uint64_t elements, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(elements);
  for (double& value : values) value = static_cast<double>(random() % 33) / 8.0 - 2.0;
  return values;
}

/// rows x k values at a stride, `gap` elsewhere.
template <class T>
std::vector<T> strided(const std::vector<double>& values, std::uint64_t k, std::uint64_t stride,
                       float gap = 77.0f) {
  const std::uint64_t rows = k == 0 ? 0 : values.size() / k;
  std::vector<T> result(rows * stride, from_float<T>(gap));
  for (std::uint64_t i = 0; i < values.size(); ++i)
    result[i / k * stride + i % k] = from_float<T>(static_cast<float>(values[i]));
  return result;
}

/// Unit roundoff of storage, and of sums in float32 of up to some thousand terms.
template <class T>
constexpr double tolerance() {
  if constexpr (std::is_same_v<T, Half>) return 1.0 / 1024;
  if constexpr (std::is_same_v<T, BFloat16>) return 1.0 / 128;
  return 2e-6;
}

/// |c - sum| <= tolerance * size, element by element.
template <class T>
::testing::AssertionResult near(const std::vector<T>& c, std::uint64_t stride,
                                const reference::Product& expected, std::uint64_t k,
                                double factor = 1.0) {
  for (std::uint64_t i = 0; i < expected.sum.size(); ++i) {
    const auto found = static_cast<double>(to_float(c[i / k * stride + i % k]));
    const double error = std::abs(found - expected.sum[i]);
    if (!(error <= factor * tolerance<T>() * expected.size[i] + 1e-30)) {
      return ::testing::AssertionFailure()
             << "row " << i / k << ", column " << i % k << ": " << found << ", not "
             << expected.sum[i] << " (sum of sizes " << expected.size[i] << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace warren::testing_support
