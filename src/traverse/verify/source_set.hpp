// SPDX-License-Identifier: Apache-2.0
// The sources of a search, as the checks ask for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/types.hpp"

namespace warren::traverse {

class SourceSet {
 public:
  /// Throws UsageError for no sources, and for one that is none of `vertices`.
  SourceSet(std::span<const Vertex> sources, std::uint64_t vertices)
      : sources_(sources.begin(), sources.end()) {
    std::ranges::sort(sources_);
    require(!sources_.empty(), "a search without sources cannot be checked");
    require(sources_.back() < vertices,
            fmt::format("source {} is no vertex of {}", sources_.back(), vertices));
  }

  [[nodiscard]] bool has(Vertex v) const {
    return std::binary_search(sources_.begin(), sources_.end(), v);
  }
  [[nodiscard]] auto begin() const { return sources_.begin(); }
  [[nodiscard]] auto end() const { return sources_.end(); }

 private:
  std::vector<Vertex> sources_;  ///< In ascending order.
};

}  // namespace warren::traverse
