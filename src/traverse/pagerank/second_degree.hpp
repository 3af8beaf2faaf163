// SPDX-License-Identifier: Apache-2.0
// The weights of a second-degree iteration x' = w G(x) + (1 - w) x'', where x'' came before x
// (Golub and Varga 1961; Young 1971): where G has a real spectrum it converges faster than x' =
// G(x). Its best w is 2 / (1 + sqrt(1 - r^2)) for the largest eigenvalue r that still shows; r is
// estimated, from below, whenever residuals go down more slowly than w promises (Hageman and
// Young 1981).
#pragma once

#include <cmath>

#include "warren/core/types.hpp"

namespace warren::traverse {

struct SecondDegree {
  double weight = 1.0;  ///< w: of the next iteration.
  double radius = 0.0;  ///< r.

  /// `ratio`: of the last iteration's residual to the one before it, below 1. No eigenvalue is
  /// larger than `most`.
  WARREN_HD void raise(double ratio, double most) {
    const double shown = (ratio * ratio + weight - 1.0) / (weight * ratio);
    if (ratio * ratio <= weight - 1.0 || shown <= radius) return;
    radius = shown < most ? shown : most;
    weight = 2.0 / (1.0 + std::sqrt(1.0 - radius * radius));
  }
};

}  // namespace warren::traverse
