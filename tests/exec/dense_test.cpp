// SPDX-License-Identifier: Apache-2.0
// Dense products against plain loops in double precision.
#include "warren/exec/dense.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/half.hpp"

#include "support/on_device.hpp"

namespace warren::exec {
namespace {

using testing_support::on_device;

template <class T>
std::vector<T> random_matrix(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<T> values(size);
  for (T& value : values) value = from_float<T>(uniform(draw));
  return values;
}

template <class T, class C = T>
void check(const Stream& stream, DenseProducts& products, const DenseShape& s, float alpha,
           float beta, double tolerance) {
  SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
  const auto a = random_matrix<T>(s.m * s.k, 1);
  const auto b = random_matrix<T>(s.k * s.n, 2);
  const auto c = random_matrix<C>(s.m * s.n, 3);
  const auto a_there = on_device(stream, a);
  const auto b_there = on_device(stream, b);
  const auto c_there = on_device(stream, c);
  products.multiply(stream, s, a_there.data(), b_there.data(), c_there.data(), alpha, beta);
  const std::vector<C> found = c_there.to_host(stream);
  for (std::uint64_t i = 0; i < s.m; ++i) {
    for (std::uint64_t j = 0; j < s.n; ++j) {
      double sum = 0.0;
      for (std::uint64_t t = 0; t < s.k; ++t) {
        const T left = s.transpose_a ? a[t * s.m + i] : a[i * s.k + t];
        const T right = s.transpose_b ? b[j * s.k + t] : b[t * s.n + j];
        sum += static_cast<double>(to_float(left)) * static_cast<double>(to_float(right));
      }
      sum = static_cast<double>(alpha) * sum +
            static_cast<double>(beta) * static_cast<double>(to_float(c[i * s.n + j]));
      ASSERT_NEAR(static_cast<double>(to_float(found[i * s.n + j])), sum,
                  tolerance * (1.0 + static_cast<double>(s.k)));
    }
  }
}

void check_all(const Device& device) {
  const Stream stream(device);
  DenseProducts products(device, {.allow_tf32 = false});
  const std::uint64_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {64, 16, 33}, {200, 7, 50}, {8, 16, 900},
                                    {0, 4, 4}, {4, 0, 4}, {4, 4, 0},    {1, 300, 2},  {17, 1, 400}};
  for (const auto& size : sizes) {
    for (int way = 0; way < 4; ++way) {
      const DenseShape shape{size[0], size[1], size[2], (way & 1) != 0, (way & 2) != 0};
      check<float>(stream, products, shape, 1.0f, 0.0f, 2e-6);
      if (shape.k == 0) continue;
      check<float>(stream, products, shape, -0.5f, 2.0f, 2e-6);
      check<Half>(stream, products, shape, 1.0f, 0.0f, 1e-3);
      check<BFloat16>(stream, products, shape, 1.0f, 1.0f, 1e-2);
      // Sums of 16 bits' products, not rounded.
      check<Half, float>(stream, products, shape, 1.0f, 1.0f, 2e-6);
      check<BFloat16, float>(stream, products, shape, 0.5f, 0.0f, 2e-6);
    }
  }
}

/// So many rows that the operands' places are chosen by what is fastest, rounded to TF32 on GPUs.
void check_many_rows(const Device& device) {
  const Stream stream(device);
  DenseProducts products(device);
  for (const auto& [n, k] : {std::pair{24, 40}, {47, 100}, {1, 3}, {33, 1}, {8, 0}}) {
    for (int way = 0; way < 4; ++way) {
      const DenseShape shape{5000, static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(k),
                             (way & 1) != 0, (way & 2) != 0};
      check<float>(stream, products, shape, 1.0f, 0.0f, 1e-3);
      if (k != 0) check<float>(stream, products, shape, 0.5f, 1.0f, 1e-3);
    }
  }
}

TEST(DenseProducts, EqualPlainLoopsForManyRows) { check_many_rows(Device::cpu()); }

TEST(DenseProducts, EqualPlainLoops) {
  for (const int threads : {1, 2, 3}) check_all(Device::cpu(threads));
}

TEST(DenseProducts, RepeatBitForBit) {
  const Stream stream(Device::cpu(3));
  DenseProducts products(stream.device());
  const auto a = random_matrix<float>(5000 * 8, 1);
  const auto b = random_matrix<float>(5000 * 8, 2);
  std::vector<float> first(64), second(64);
  const DenseShape shape{8, 8, 5000, true, false};
  products.multiply<float>(stream, shape, a.data(), b.data(), first.data());
  products.multiply<float>(stream, shape, a.data(), b.data(), second.data());
  EXPECT_EQ(first, second);
}

TEST(DenseProducts, RefusesWhatIsTooLarge) {
  const Stream stream(Device::cpu(1));
  DenseProducts products(stream.device());
  const DenseShape shape{std::uint64_t{1} << 31, 1, 1};
  float* const none = nullptr;
  EXPECT_THROW(products.multiply(stream, shape, none, none, none), UsageError);
}

TEST(DenseProductsCuda, EqualPlainLoops) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_all(Device::cuda(0));
}

TEST(DenseProductsCuda, EqualPlainLoopsForManyRows) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_many_rows(Device::cuda(0));
}

}  // namespace
}  // namespace warren::exec
