// SPDX-License-Identifier: Apache-2.0
// A BSP program: all ranks halve a number together until nothing is left of it.
#include "warren/team.hpp"

#include <cstdlib>
#include <iostream>

#include "warren/device/steps.hpp"

using namespace warren;

struct Halve {
  struct State {
    std::uint64_t left = 0, steps = 0;
  };
  using ShowsNothing = void;
  static constexpr std::uint32_t kThreadsPerBlock = 256;
  static constexpr std::uint32_t kBlocksPerProcessor = 1;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
  int ranks;

  /// Each rank counts the tasks that it runs: a half of the number, over all.
  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    std::uint64_t done = 0;
    grid.template for_each<exec::Serial>(state.left / 2 / static_cast<std::uint64_t>(ranks),
                                         [&](const auto&, std::uint64_t) { ++done; });
    grid.sum(0, done);
  }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    return {sums[0], state.steps + 1};
  }
  WARREN_HD static bool finished(const State& state) { return state.left == 0; }
};

int main() {
  int status = EXIT_SUCCESS;
  team::run_team({exec::DeviceKind::cpu, 2, 4}, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const Halve::State last =
        team::run_program<exec::Cpu>(team, stream, Halve{team.size()}, {1024, 0});
    if (team.rank() != 0) return;
    std::cout << "1024 was halved in " << last.steps << " steps\n";
    if (last.left != 0 || last.steps != 10) status = EXIT_FAILURE;
  });
  return status;
}
