// SPDX-License-Identifier: Apache-2.0
// Failing ranks on GPUs; and a kernel that dies while its peers' kernels wait for it.
#include "team/failure_cases.hpp"

namespace warren::team {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, FailureTest, exec::Cuda);

namespace {

/// The last rank's kernel stops with an error in step 5.
struct DyingProgram : ToyProgram {
  struct State {
    std::uint64_t step = 0;
  };
  bool is_bad = false;

  template <class Grid>
  WARREN_HD void step(Grid&, const State& state) const {
#if defined(__CUDA_ARCH__)
    if (is_bad && state.step == 5) __trap();
#endif
  }
  WARREN_HD static State next(const State& state, const Sums&) { return {state.step + 1}; }
  WARREN_HD static bool finished(const State&) { return false; }
};

// The device is lost to the process after such an error, so that this happens in a process of its
// own.
TEST(FailureCudaDeathTest, AKernelDies) {
  const int ranks = exec::cuda_device_count();
  if (ranks == 0) GTEST_SKIP() << "there is no GPU here";
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto die = [&] {
    const double begin = now_seconds();
    try {
      run_team({exec::DeviceKind::cuda, ranks, 1}, [&](Team& team) {
        const exec::Stream stream(team.device());
        DyingProgram program;
        program.is_bad = team.rank() == team.size() - 1;
        (void)run_program<exec::Cuda>(team, stream, program, {});
      });
    } catch (const DeviceError& error) {
      std::fprintf(stderr, "DeviceError after %s: %s\n",
                   now_seconds() - begin < 30.0 ? "a moment" : "too long", error.what());
      std::_Exit(0);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(die(), ::testing::ExitedWithCode(0), "DeviceError after a moment: .*cuda:");
}

}  // namespace
}  // namespace warren::team
