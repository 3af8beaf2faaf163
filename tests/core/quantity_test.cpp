// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.
#include "warren/core/quantity.hpp"

#include <gtest/gtest.h>

namespace warren {
namespace {

TEST(Quantity, IsReadEasily) {
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "edge", "edges"), "1 edge");
  EXPECT_EQ(counted(2000, "edge", "edges"), "2,000 edges");
  EXPECT_EQ(with_prefix(1234.0), "1.23 k");
  EXPECT_EQ(with_prefix(17.25e9), "17.2 G");
  EXPECT_EQ(duration(2.5), "2.50 s");
  EXPECT_EQ(duration(0.0123), "12.30 ms");
  EXPECT_EQ(percent(1, 8), "12.5 %");
  EXPECT_EQ(percent(1, 0), "0.0 %");
}

TEST(Quantity, MedianIsTheMiddle) {
  EXPECT_EQ(median({}), 0.0);
  EXPECT_EQ(median({3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({4.0, 1.0, 2.0, 3.0}), 2.5);
}

}  // namespace
}  // namespace warren
