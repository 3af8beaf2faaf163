// SPDX-License-Identifier: Apache-2.0
// Whether real numbers are whole in units of a power of ten: then they are int32 weights without
// any rounding.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace warren::graph::io {

/// True if a number has six digits at most, as many as float32 always gives back, and is none of
/// those near 0 of which it holds fewer.
[[nodiscard]] inline bool has_few_digits(double value) {
  if (value == 0.0) return true;
  if (std::fabs(value) < static_cast<double>(std::numeric_limits<float>::min())) return false;
  const double power = std::pow(10.0, 5.0 - std::floor(std::log10(std::fabs(value))));
  const double digits = value * power;
  return std::fabs(digits - std::nearbyint(digits)) <= 1e-9;
}

class DecimalScale {
 public:
  void add(double value) {
    fits_ = fits_ && value >= 0.0;
    largest_ = std::max(largest_, value);
    while (fits_ && !is_whole(value)) {
      if (++digits_ == kPowers.size()) fits_ = false;
    }
  }
  void merge(const DecimalScale& other) {
    fits_ = fits_ && other.fits_;
    digits_ = std::max(digits_, other.digits_);
    largest_ = std::max(largest_, other.largest_);
  }

  /// The power of ten that makes integers of [0, 2^31) of all numbers, where there is one.
  [[nodiscard]] std::optional<std::int32_t> scale() const {
    if (!fits_ || largest_ * kPowers.at(digits_) > kMost) return std::nullopt;
    return static_cast<std::int32_t>(kPowers.at(digits_));
  }
  /// A number in such units.
  [[nodiscard]] static std::int32_t units(double value, std::int32_t scale) {
    return static_cast<std::int32_t>(std::llround(value * scale));
  }

 private:
  static constexpr std::array<double, 10> kPowers{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  static constexpr double kMost = 2147483647.0;

  /// True if the number is the double nearest to an integer over the power.
  [[nodiscard]] bool is_whole(double value) const {
    const double units = value * kPowers.at(digits_);
    return units <= kMost && std::nearbyint(units) / kPowers.at(digits_) == value;
  }

  std::size_t digits_ = 1;  ///< Real numbers stay such: the scale tells them from integers.
  double largest_ = 0.0;
  bool fits_ = true;
};

}  // namespace warren::graph::io
