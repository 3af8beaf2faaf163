// SPDX-License-Identifier: Apache-2.0
// Optimisers that step given rows of a table, in double precision, as their papers have them.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace warren::reference {

enum class Rule { sgd, adagrad, adam };

struct RowOptimizer {
  Rule rule;
  double rate, beta1, beta2, epsilon;
  std::uint64_t width;
  std::vector<double> table;
  std::vector<double> first = std::vector<double>(table.size());
  std::vector<double> second = std::vector<double>(table.size());
  int steps = 0;

  /// `gradients`: of the touched rows, already added up.
  void step(const std::map<std::uint64_t, std::vector<double>>& gradients) {
    ++steps;
    for (const auto& [row, gradient] : gradients) {
      for (std::uint64_t c = 0; c < width; ++c) {
        const std::uint64_t at = row * width + c;
        const double g = gradient[c];
        if (rule == Rule::sgd) {
          table[at] -= rate * g;
        } else if (rule == Rule::adagrad) {
          second[at] += g * g;
          table[at] -= rate * g / (std::sqrt(second[at]) + epsilon);
        } else {
          first[at] = beta1 * first[at] + (1 - beta1) * g;
          second[at] = beta2 * second[at] + (1 - beta2) * g * g;
          const double m = first[at] / (1 - std::pow(beta1, steps));
          const double v = second[at] / (1 - std::pow(beta2, steps));
          table[at] -= rate * m / (std::sqrt(v) + epsilon);
        }
      }
    }
  }
};

}  // namespace warren::reference
