// SPDX-License-Identifier: Apache-2.0
// Values of all vertices from those that the ranks have.
#pragma once

#include <span>
#include <vector>

#include "warren/team/team.hpp"

namespace warren::traverse {

/// The ranks' values one after the other, on every rank. Collective.
template <class T>
[[nodiscard]] std::vector<T> on_all(team::Team& team, const std::vector<T>& mine) {
  std::vector<T> all;
  for (const auto& part : team.all_gather_v(std::span<const T>(mine)))
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace warren::traverse
