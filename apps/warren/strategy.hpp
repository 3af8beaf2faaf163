// SPDX-License-Identifier: Apache-2.0
// Strategies of products as they are named on the command line, with their parameters.
#pragma once

#include <string>

#include "warren/sparse/distributed.hpp"

namespace warren::app {

/// NAME or NAME:PARAMETER=N:..., such as "pull:ps=16:dist=2:wpb=4" or "staged:chunks=2:copy=48",
/// without "auto". Throws UsageError for names, parameters and numbers that there are not.
[[nodiscard]] sparse::DistributedOptions parse_product(const std::string& text);

/// The name before the parameters.
[[nodiscard]] std::string strategy_name(const std::string& text);

}  // namespace warren::app
