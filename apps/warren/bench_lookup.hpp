// SPDX-License-Identifier: Apache-2.0
// bench lookup: sums of bags of one table's rows over bag lengths, skews and strategies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lookup_input.hpp"

namespace warren::app {

struct BenchLookupOptions {
  LookupOptions options;
  std::vector<std::uint64_t> bags = {32};
  std::vector<double> skews = {0.0};
  std::vector<std::string> strategies;  ///< Empty: all by name.
};
void add_bench_lookup_options(CLI::App& command, BenchLookupOptions& bench);

/// Sets `results` of the session's JSON, an object a lookup with every run, and prints a table.
/// Returns whether all are right, as far as --verify looked.
[[nodiscard]] bool bench_lookup(Session& session, const BenchLookupOptions& bench);

/// Throws UsageError for values that are none.
void check_bench_lookup(const BenchLookupOptions& bench);

}  // namespace warren::app
