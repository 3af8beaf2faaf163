// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits: every one survives a round trip; rounding is to the nearest, ties to even;
// packs convert as single numbers do.
#include "warren/exec/half.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/float_pack.hpp"

namespace warren {
namespace {

/// The value of a number with `exponent_bits` and `fraction_bits`, from its definition.
double value_of(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const std::uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const std::uint32_t exponent = bits >> fraction_bits & ((1u << exponent_bits) - 1);
  const double sign = (bits >> (exponent_bits + fraction_bits)) != 0 ? -1.0 : 1.0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1u << exponent_bits) - 1)
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1u << fraction_bits),
                           static_cast<int>(exponent) - bias - fraction_bits);
}

template <class T>
void check_all(int exponent_bits, int fraction_bits) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T number{static_cast<std::uint16_t>(bits)};
    const double expected = value_of(bits, exponent_bits, fraction_bits);
    const float found = to_float(number);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found)) << bits;
      ASSERT_TRUE(std::isnan(to_float(from_float<T>(found)))) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(found), expected) << bits;
    ASSERT_EQ(from_float<T>(found).bits, bits);
    // Half way to the next larger number, and a little to both sides.
    const T next{static_cast<std::uint16_t>(bits + 1)};
    const double above = value_of(bits + 1, exponent_bits, fraction_bits);
    if (bits % 32768 == 32767 || !std::isfinite(above) || !std::isfinite(expected)) continue;
    const auto middle = static_cast<float>((expected + above) / 2);
    ASSERT_EQ(from_float<T>(middle).bits, bits % 2 == 0 ? number.bits : next.bits) << bits;
    const float beyond = std::nextafter(middle, bits < 32768 ? HUGE_VALF : -HUGE_VALF);
    ASSERT_EQ(from_float<T>(beyond).bits, next.bits) << bits;
    const float before = std::nextafter(middle, found);
    ASSERT_EQ(from_float<T>(before).bits, number.bits) << bits;
  }
}

TEST(Half, EveryNumberAndRounding) { check_all<Half>(5, 10); }
TEST(BFloat16, EveryNumberAndRounding) { check_all<BFloat16>(8, 7); }

TEST(Half, BeyondTheLargest) {
  EXPECT_EQ(from_float<Half>(65504.0f).bits, 0x7bff);
  EXPECT_EQ(from_float<Half>(65519.0f).bits, 0x7bff);
  EXPECT_EQ(from_float<Half>(65520.0f).bits, 0x7c00);
  EXPECT_EQ(from_float<Half>(-1e30f).bits, 0xfc00);
  EXPECT_EQ(from_float<Half>(0x1p-25f).bits, 0u);
  EXPECT_EQ(from_float<Half>(0x1.8p-25f).bits, 1u);
}

template <class T>
void check_packs() {
  std::mt19937 random(1);
  std::vector<float> values;
  values.reserve(16 * 4096);
  for (int i = 0; i < 16 * 4096; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  const float edges[] = {0.0f, -0.0f, 1e-40f, 65504.0f, 65520.0f, 6e-8f, 3e-8f, 1e-5f};
  std::copy(std::begin(edges), std::end(edges), values.begin());
  // Most random bits are far beyond Half's range: half of them within it.
  for (std::size_t i = 8; i < values.size(); i += 2)
    values[i] = std::ldexp(1.0f + static_cast<float>(random() % 65536) / 65536.0f,
                           static_cast<int>(random() % 48) - 28);
  for (std::size_t i = 0; i < values.size(); i += 16) {
    exec::FloatPack<16> pack;
    pack.load(values.data() + i);
    T stored[16];
    pack.store(stored);
    exec::FloatPack<16> again;
    again.load(stored);
    for (std::uint32_t l = 0; l < 16; ++l) {
      const T expected = from_float<T>(values[i + l]);
      if (std::isnan(values[i + l])) {
        ASSERT_TRUE(std::isnan(to_float(stored[l])) && std::isnan(again.at(l)));
        continue;
      }
      ASSERT_EQ(stored[l].bits, expected.bits) << values[i + l];
      ASSERT_EQ(again.at(l), to_float(expected));
    }
  }
}

TEST(FloatPack, ConvertsAsSingleNumbersDo) {
  check_packs<Half>();
  check_packs<BFloat16>();
}

}  // namespace
}  // namespace warren
