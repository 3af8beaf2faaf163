// SPDX-License-Identifier: Apache-2.0
// Two graphs that are the same in every element.
#pragma once

#include <algorithm>

#include <gtest/gtest.h>

#include "warren/graph/graph.hpp"

namespace warren::graph {

inline void expect_equal(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.vertices, b.vertices);
  ASSERT_TRUE(std::ranges::equal(a.offsets.span(), b.offsets.span()));
  ASSERT_TRUE(std::ranges::equal(a.targets.span(), b.targets.span()));
  EXPECT_EQ(a.weight_type, b.weight_type);
  EXPECT_EQ(a.symmetry, b.symmetry);
  EXPECT_TRUE(std::ranges::equal(a.weights_int.span(), b.weights_int.span()));
  EXPECT_TRUE(std::ranges::equal(a.weights_float.span(), b.weights_float.span()));
  EXPECT_TRUE(std::ranges::equal(a.original_ids.span(), b.original_ids.span()));
}

}  // namespace warren::graph
