// SPDX-License-Identifier: Apache-2.0
// What lookup and bench lookup share: the table that is looked up in, and what is told of a lookup.
#pragma once

#include "warren/api/report_measures.hpp"

#include "session.hpp"

namespace warren::app {

struct LookupCommand {
  CommonOptions common;
  api::LookupTrialOptions table;
};
/// All but `features` and `interact`.
void add_lookup_options(CLI::App& command, LookupCommand& options);

/// Runs and times the cases one after the other, on one table.
[[nodiscard]] std::vector<api::LookupFigures> measure_lookups(
    const Session& session, const LookupCommand& command,
    const std::vector<api::LookupCase>& cases);

}  // namespace warren::app
