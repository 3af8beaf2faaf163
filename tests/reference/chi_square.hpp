// SPDX-License-Identifier: Apache-2.0
// Pearson's chi-square test of counts, and the counts of draws that it is made of.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace warren::reference {

/// P(X >= x) for X of chi-square distribution with `freedom` degrees: the upper regularised
/// incomplete gamma function at (freedom / 2, x / 2), by its series below and its continued
/// fraction (Lentz) above a + 1.
inline double chi_square_tail(double x, double freedom) {
  const double a = freedom / 2.0;
  const double z = x / 2.0;
  if (z <= 0.0) return 1.0;
  const double scale = std::exp(a * std::log(z) - z - std::lgamma(a));
  if (z < a + 1.0) {
    double term = 1.0 / a;
    double sum = term;
    for (int k = 1; k < 100'000 && term > sum * 1e-15; ++k) {
      term *= z / (a + k);
      sum += term;
    }
    return 1.0 - sum * scale;
  }
  constexpr double kTiny = 1e-300;
  double b = z + 1.0 - a;
  double c = 1.0 / kTiny;
  double d = 1.0 / b;
  double fraction = d;
  for (int k = 1; k < 100'000; ++k) {
    const double numerator = -k * (k - a);
    b += 2.0;
    d = numerator * d + b;
    d = 1.0 / (std::abs(d) < kTiny ? kTiny : d);
    c = b + numerator / c;
    c = std::abs(c) < kTiny ? kTiny : c;
    const double change = d * c;
    fraction *= change;
    if (std::abs(change - 1.0) < 1e-15) break;
  }
  return fraction * scale;
}

/// P of counts at least as far from trials x probability, for probabilities that sum to 1; those of
/// probability 0 must not occur.
inline double multinomial_p(const std::vector<std::uint64_t>& counts,
                            const std::vector<double>& probabilities) {
  double trials = 0.0;
  for (const std::uint64_t count : counts) trials += static_cast<double>(count);
  double x = 0.0;
  double cells = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = trials * probabilities[i];
    if (expected == 0.0) {
      if (counts[i] != 0) return 0.0;
      continue;
    }
    const double off = static_cast<double>(counts[i]) - expected;
    x += off * off / expected;
    cells += 1.0;
  }
  return cells < 2.0 ? 1.0 : chi_square_tail(x, cells - 1.0);
}

/// The same of how often each of n places is among m different ones of each trial: every count has
/// the variance T m / n (1 - m / n), and they sum to T m.
inline double inclusion_p(const std::vector<std::uint64_t>& counts, std::uint64_t trials,
                          std::uint64_t m) {
  const auto n = static_cast<double>(counts.size());
  const auto chosen = static_cast<double>(m < counts.size() ? m : counts.size());
  const double expected = static_cast<double>(trials) * chosen / n;
  double x = 0.0;
  for (const std::uint64_t count : counts) {
    const double off = static_cast<double>(count) - expected;
    x += off * off / expected;
  }
  if (m >= counts.size()) return x == 0.0 ? 1.0 : 0.0;
  return chi_square_tail(x * (n - 1.0) / (n - chosen), n - 1.0);
}

/// The probability of drawing `order`, one after the other, in proportion to the weights of what is
/// left.
inline double successive_probability(const std::vector<double>& weights,
                                     const std::vector<std::uint32_t>& order) {
  double left = 0.0;
  for (const double weight : weights) left += weight;
  double probability = 1.0;
  for (const std::uint32_t place : order) {
    probability *= weights[place] / left;
    left -= weights[place];
  }
  return probability;
}

/// P of the counts of ordered draws of m of the weights' places.
inline double orders_p(const std::map<std::vector<std::uint32_t>, std::uint64_t>& counts,
                       const std::vector<double>& weights, std::uint32_t m) {
  std::vector<std::uint64_t> cells;
  std::vector<double> probabilities;
  std::vector<std::uint32_t> order;
  const auto extend = [&](const auto& self) -> void {
    if (order.size() == m) {
      const auto at = counts.find(order);
      cells.push_back(at == counts.end() ? 0 : at->second);
      probabilities.push_back(successive_probability(weights, order));
      return;
    }
    for (std::uint32_t place = 0; place < weights.size(); ++place) {
      bool is_taken = false;
      for (const std::uint32_t other : order) is_taken = is_taken || other == place;
      if (is_taken) continue;
      order.push_back(place);
      self(self);
      order.pop_back();
    }
  };
  extend(extend);
  return multinomial_p(cells, probabilities);
}

}  // namespace warren::reference
