// SPDX-License-Identifier: Apache-2.0
// The ways of a distributed product that were looked at (--explain).
#pragma once

#include <vector>

#include "warren/sparse/tuner.hpp"

#include "session.hpp"

namespace warren::app {

/// Prints them as a table, and puts them into the JSON as `candidates`.
void report_candidates(Session& session, const std::vector<sparse::Candidate>& candidates);

}  // namespace warren::app
