// SPDX-License-Identifier: Apache-2.0
// Lookups to be timed: a table over all ranks, batches of bags drawn from it, and one way or
// another to sum them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session.hpp"

namespace warren::app {

/// The table and what one lookup of it is like.
struct LookupOptions {
  CommonOptions common;
  std::uint64_t rows = 1'000'000;
  std::uint64_t k = 64;
  std::uint64_t batch = 4096;
  std::string type = "float32";
  bool verify = false;
  std::uint64_t features = 1;
  bool interact = false;
};
/// All but `features` and `interact`.
void add_lookup_options(CLI::App& command, LookupOptions& options);

/// What is looked up in it, and how.
struct LookupCase {
  std::uint64_t bag = 32;
  double skew = 0.0;
  std::string strategy = "auto";
};
/// Throws UsageError for values that are none.
void check_lookup_options(const LookupOptions& options, const LookupCase& lookup);

/// What the ranks find together.
struct LookupOutcome {
  LookupCase lookup;
  std::string strategy;  ///< That ran.
  std::string why;       ///< Of auto.
  std::vector<double> seconds;
  std::vector<double> interact_seconds;
  std::uint64_t rows_moved = 0;
  double error = 0.0;
  double rate = 0.0;   ///< Rows of all ranks a second, of the median run.
  double bytes = 0.0;  ///< Bytes of such rows.
  bool is_right = true;

  /// The fields that `lookup` and the results of `bench lookup` have in common.
  [[nodiscard]] Json fields(const LookupOptions& options) const;
};
/// Runs and times the cases one after the other, on one table.
[[nodiscard]] std::vector<LookupOutcome> measure_lookups(const Session& session,
                                                         const LookupOptions& options,
                                                         const std::vector<LookupCase>& cases);

}  // namespace warren::app
