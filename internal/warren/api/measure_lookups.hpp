// SPDX-License-Identifier: Apache-2.0
// Timed sums of bags of rows of a table whose elements are known, over all ranks: how fast they
// are, what moves, and whether they are right. lookup() takes a caller's table. Messages name
// options as the command line does ("--batch").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/session.hpp"

namespace warren::api {

/// The table and what one lookup of it is like. Element (r, c) is ((31 r + c) mod 17) - 8, so that
/// sums of any order are exact in float32.
struct LookupTrialOptions {
  std::uint64_t rows = 1'000'000;
  std::uint64_t k = 64;          ///< Elements of a row.
  std::uint64_t batch = 4096;    ///< Bags that each rank looks up.
  std::string type = "float32";  ///< Of elements: float32, float16, bfloat16.
  bool verify = false;
  std::uint64_t features = 1;  ///< Of `interact`: bags of a sample.
  bool interact = false;       ///< Then the products of all pairs of a sample's bags (DLRM).
  std::uint64_t seed = 1;      ///< Of the draws.
  int repeat = 1;              ///< Timed runs, after one that warms up.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

/// What is looked up in it, and how.
struct LookupCase {
  std::uint64_t bag = 32;         ///< Rows of a bag.
  double skew = 0.0;              ///< Rows are drawn as (uniform)^(1 + skew).
  std::string strategy = "auto";  ///< As LookupOptions::strategy.
};
/// Throws UsageError for values that are none.
void check(const LookupTrialOptions& options, const LookupCase& lookup);

/// What the ranks find together.
struct LookupFigures {
  LookupCase lookup;
  std::string strategy;                  ///< That ran.
  std::string why;                       ///< Of auto.
  std::vector<double> seconds;           ///< Of each timed run, on the slowest rank.
  std::vector<double> interact_seconds;  ///< Of `interact`, likewise.
  std::uint64_t rows_moved = 0;
  double error = 0.0;                     ///< Where it was verified, in units of the terms' sizes.
  bool is_right = true;                   ///< Whether that is what the type allows.
  double rate = 0.0;                      ///< Rows of all ranks a second, of the median run.
  double bytes = 0.0;                     ///< Bytes of such rows.
  std::uint64_t bytes_between_hosts = 0;  ///< As RunInfo's, of all runs.
};

/// The cases, one after the other, on one table. Throws UsageError, MemoryError.
[[nodiscard]] std::vector<LookupFigures> measure_lookups(const LookupTrialOptions& options,
                                                         const std::vector<LookupCase>& cases);

}  // namespace warren::api
