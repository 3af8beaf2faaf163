// SPDX-License-Identifier: Apache-2.0
// Strategies of products as they are named on the command line, with their parameters.
#pragma once

#include <optional>
#include <string>

#include "warren/sparse/distributed.hpp"

namespace warren::sparse {

/// NAME or NAME:PARAMETER=N:..., such as "pull:ps=16:dist=2:wpb=4", "staged:chunks=2:copy=48" or
/// "pull:mgg" (the paper's parameters), without "auto". Throws UsageError for names, parameters and
/// numbers that there are not.
[[nodiscard]] DistributedOptions parse_product(const std::string& text);

/// Whether the tuner chooses: "auto" (anything) or NAME:auto (that strategy's parameters). Throws
/// UsageError for a NAME without parameters.
[[nodiscard]] bool is_tuned(const std::string& text);
/// Of a text that is tuned: the strategy that was named, if any.
[[nodiscard]] std::optional<Strategy> tuned_strategy(const std::string& text);

/// The text that gives these options: the strategy's name with all of its parameters.
[[nodiscard]] std::string product_text(const DistributedOptions& options);

/// The name before the parameters.
[[nodiscard]] std::string strategy_name(const std::string& text);

}  // namespace warren::sparse
