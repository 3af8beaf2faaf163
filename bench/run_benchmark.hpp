// SPDX-License-Identifier: Apache-2.0
// What benchmarks that run on the ranks of a team have in common.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "warren/team/team.hpp"

namespace warren::bench {

/// Runs measure(team) on every rank of a team of `options`, on devices of the kind that `device`
/// names (cpu or cuda). The first rank's results go to the file `out` as JSON, unless that is
/// empty (report.hpp says with which origin). Returns main()'s status; an error is told after
/// `name`.
[[nodiscard]] int run_benchmark(const char* name, const std::string& device,
                                team::TeamOptions options, const std::string& out,
                                const std::function<nlohmann::json(team::Team&)>& measure);

}  // namespace warren::bench
