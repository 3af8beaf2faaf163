// SPDX-License-Identifier: Apache-2.0
// Global arrays on the CPU.
#include "memory/global_array_cases.hpp"
#include "support/counting_resource.hpp"
#include "support/message_of.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, GlobalArrayTest, exec::Cpu);

TEST(GlobalArray, AResourceThatIsShortIsNamedOnAllRanks) {
  const auto resource = std::make_shared<testing_support::CountingResource>(1000);
  team::TeamOptions options;
  options.ranks = options.threads = 3;
  options.memory = resource;
  team::run_team(options, [](team::Team& team) {
    // The last rank alone asks for more than the resource has.
    const std::vector<std::uint64_t> cuts{0, 10, 20, 2000};
    const std::string said = testing_support::message_of<MemoryError>(
        [&] { const GlobalArray<std::uint64_t> array(team, cuts, 1, Placement::device); });
    EXPECT_THAT(
        said, ::testing::MatchesRegex("not enough memory on cpu \\(rank 2\\): 15840 bytes.*free "
                                      "\\(.*\\); the memory resource of the session .*without it"));
    team.barrier();
  });
  EXPECT_EQ(resource->back, resource->given);
}

}  // namespace warren::memory
