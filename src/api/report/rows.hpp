// SPDX-License-Identifier: Apache-2.0
// What reports tell of rows that move between ranks, and of the ways of moving them.
#pragma once

#include <vector>

#include "warren/graph/partition.hpp"
#include "warren/sparse/tuner.hpp"

#include "api/report/writer.hpp"

namespace warren::api {

/// An object with the rows of each way.
[[nodiscard]] Json rows_json(const graph::MovedRows& rows);

/// The ways that were looked at, an object each.
[[nodiscard]] Json candidates_json(const std::vector<sparse::Candidate>& candidates);
/// The same as a table.
void print_candidates(Text& text, const std::vector<sparse::Candidate>& candidates);

}  // namespace warren::api
