// SPDX-License-Identifier: Apache-2.0
// The --fanout of sample and train.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warren::app {

/// "15,10,-1". Throws UsageError for anything else, and for more hops than there can be.
[[nodiscard]] std::vector<std::int64_t> parse_fanouts(const std::string& text);

}  // namespace warren::app
