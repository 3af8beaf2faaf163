// SPDX-License-Identifier: Apache-2.0
#include "warren/core/nearest.hpp"

#include <gtest/gtest.h>

namespace warren {
namespace {

TEST(Nearest, DistancesAreEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sage", "saeg"), 1u);
  EXPECT_EQ(edit_distance("gat", "gat"), 0u);
}

TEST(Nearest, NamesAreGivenWhereTheyAreNear) {
  const std::vector<std::string> names = {"--symmetrize", "--seed", "--strategy", "--epochs"};
  EXPECT_EQ(did_you_mean("--symetrize", names), "; did you mean \"--symmetrize\"?");
  EXPECT_EQ(did_you_mean("--sede", names), "; did you mean \"--seed\"?");
  EXPECT_EQ(did_you_mean("--strat", names), "; did you mean \"--strategy\"?");
  EXPECT_EQ(did_you_mean("--colour", names), "");
  EXPECT_EQ(did_you_mean("x", {"y"}), "");
  EXPECT_EQ(did_you_mean("ab", {"cd"}), "");
  EXPECT_EQ(did_you_mean("", names), "");
}

}  // namespace
}  // namespace warren
