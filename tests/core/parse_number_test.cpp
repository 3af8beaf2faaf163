// SPDX-License-Identifier: Apache-2.0
// Numbers of options: what is one and nothing else.
#include "warren/core/parse_number.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace warren {
namespace {

TEST(ParseNumber, OneAndNothingElse) {
  EXPECT_EQ(parse_number<std::uint64_t>("0"), 0u);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(parse_number<std::int64_t>("-7"), -7);
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "1.5", "0x1", "18446744073709551616", "1,2"})
    EXPECT_FALSE(parse_number<std::uint64_t>(text).has_value()) << text;
}

TEST(ParseNumber, ListsHaveACommaBetweenEachTwo) {
  EXPECT_EQ(parse_numbers<std::int64_t>("15,10,5"), (std::vector<std::int64_t>{15, 10, 5}));
  EXPECT_EQ(parse_numbers<std::int64_t>("-1"), std::vector<std::int64_t>{-1});
  EXPECT_EQ(parse_numbers<float>("0.5,2"), (std::vector<float>{0.5f, 2.0f}));
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1;2", "1, 2", "99999999999999999999"})
    EXPECT_FALSE(parse_numbers<std::int64_t>(text).has_value()) << text;
}

}  // namespace
}  // namespace warren
