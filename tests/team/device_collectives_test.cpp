// SPDX-License-Identifier: Apache-2.0
// Device collectives on the CPU, and sizes that do not fit together.
#include "team/device_collectives_cases.hpp"

namespace warren::team {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, DeviceCollectivesTest, exec::Cpu);

namespace {

TEST(DeviceCollectives, DifferentSizesAreRefused) {
  const TeamOptions options{exec::DeviceKind::cpu, 3, 3};
  EXPECT_THROW(run_team(options,
                        [](Team& team) {
                          const exec::Stream stream(team.device());
                          std::vector<float> values(100);
                          const std::uint64_t count = team.rank() == 1 ? 5 : 6;
                          team.all_reduce(stream, values.data(), values.data(), count,
                                          DataType::float32, ReduceOp::sum);
                        }),
               UsageError);
  EXPECT_THROW(run_team(options,
                        [](Team& team) {
                          const exec::Stream stream(team.device());
                          std::vector<std::byte> send(8), recv(100);
                          team.all_gather(stream, send.data(), recv.data(),
                                          team.rank() == 2 ? 8 : 4);
                        }),
               UsageError);
  EXPECT_THROW(run_team(options,
                        [](Team& team) {
                          const exec::Stream stream(team.device());
                          const std::vector<std::uint64_t> too_few = {0, 1};
                          team.all_to_all_v(stream, nullptr, too_few, nullptr, too_few);
                        }),
               UsageError);
}

}  // namespace
}  // namespace warren::team
