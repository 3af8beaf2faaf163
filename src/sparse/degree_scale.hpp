// SPDX-License-Identifier: Apache-2.0
// A row's factor in a normalised matrix.
#pragma once

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/sparse/matrix.hpp"

namespace warren::sparse {

/// 1 / degree, or the root of it where `kind` is symmetric; 0 for a degree of 0. Throws UsageError
/// for the root of a negative one. A degree that is no number is carried through.
[[nodiscard]] inline float degree_scale(Normalization::Kind kind, double degree,
                                        std::uint64_t row) {
  if (degree == 0.0) return 0.0f;
  if (kind != Normalization::Kind::symmetric) return static_cast<float>(1.0 / degree);
  require(
      !(degree < 0.0),
      fmt::format(
          "the symmetric normalisation divides by roots of degrees; the weights of row "
          "{} add up to {}, which has none: divide by degrees, or use weights that are positive",
          row, degree));
  return static_cast<float>(1.0 / std::sqrt(degree));
}

}  // namespace warren::sparse
