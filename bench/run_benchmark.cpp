// SPDX-License-Identifier: Apache-2.0
#include "run_benchmark.hpp"

#include <fmt/format.h>

#include "report.hpp"

namespace warren::bench {

int run_benchmark(const char* name, const std::string& device, team::TeamOptions options,
                  const std::string& out,
                  const std::function<nlohmann::json(team::Team&)>& measure) {
  try {
    options.kind = device == "cuda" ? exec::DeviceKind::cuda : exec::DeviceKind::cpu;
    nlohmann::json results;
    team::run_team(options, [&](team::Team& team) {
      nlohmann::json mine = measure(team);
      if (team.rank() == 0) results = std::move(mine);
    });
    write_report(out, results, options.kind, options.ranks);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  }
  return 0;
}

}  // namespace warren::bench
