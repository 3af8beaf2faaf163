// SPDX-License-Identifier: Apache-2.0
// Gathers in the order of addresses on the CPU, and the rule by which they are chosen.
#include "memory/ordered_gather_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, OrderedGatherTest, exec::Cpu);

TEST(SortingPays, WhereTheTableIsWideTheRowsShortAndTheBatchLarge) {
  constexpr std::uint64_t kMega = 1 << 20;
  EXPECT_FALSE(sorting_pays(512 * kMega, 512, kMega));
  EXPECT_TRUE(sorting_pays(513 * kMega, 512, kMega));
  EXPECT_TRUE(sorting_pays(8192 * kMega, 1199, kMega));
  EXPECT_FALSE(sorting_pays(8192 * kMega, 1200, kMega));
  EXPECT_FALSE(sorting_pays(600 * kMega, 512, 16'383));
  EXPECT_TRUE(sorting_pays(600 * kMega, 512, 16'384));
  // 2,048 rows in flight of 32,768 are a sixteenth of 8 GiB: 512 MB.
  EXPECT_TRUE(sorting_pays(8192 * kMega, 512, 32'768));
  EXPECT_FALSE(sorting_pays(8192 * kMega, 512, 32'767));
  EXPECT_TRUE(sorting_pays(8192 * kMega, 512, 32'767, kMega / 2));
  EXPECT_FALSE(sorting_pays(0, 0, 0));
}

}  // namespace warren::memory
