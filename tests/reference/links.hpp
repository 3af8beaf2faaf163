// SPDX-License-Identifier: Apache-2.0
// Link prediction as its definitions read, in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace warren::reference {

struct Pair {
  std::uint64_t first = 0, second = 0;
  bool is_true = false;
};

/// The mean binary cross-entropy of sigmoid(z_first . z_second) over pairs; z is rows x width.
inline double link_loss(const std::vector<double>& z, std::uint64_t width,
                        const std::vector<Pair>& pairs) {
  double sum = 0.0;
  for (const Pair& pair : pairs) {
    double x = 0.0;
    for (std::uint64_t c = 0; c < width; ++c)
      x += z[pair.first * width + c] * z[pair.second * width + c];
    const double probability = 1.0 / (1.0 + std::exp(-x));
    sum -= std::log(pair.is_true ? probability : 1.0 - probability);
  }
  return sum / static_cast<double>(pairs.size());
}

/// The share of (true, false) pairs in which the true one is larger; equal ones count half.
inline double roc_area(const std::vector<float>& positives, const std::vector<float>& negatives) {
  double above = 0.0;
  for (const float p : positives) {
    for (const float n : negatives) above += p > n ? 1.0 : (p == n ? 0.5 : 0.0);
  }
  return above / (static_cast<double>(positives.size()) * static_cast<double>(negatives.size()));
}

/// The mean of 1 / rank of each true logit among its own false ones.
inline double reciprocal_rank(const std::vector<float>& positives,
                              const std::vector<float>& negatives) {
  const std::size_t each = negatives.size() / positives.size();
  double sum = 0.0;
  for (std::size_t i = 0; i < positives.size(); ++i) {
    double rank = 1.0;
    for (std::size_t j = 0; j < each; ++j) {
      const float x = negatives[i * each + j];
      rank += x > positives[i] ? 1.0 : (x == positives[i] ? 0.5 : 0.0);
    }
    sum += 1.0 / rank;
  }
  return sum / static_cast<double>(positives.size());
}

}  // namespace warren::reference
