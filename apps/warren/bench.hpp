// SPDX-License-Identifier: Apache-2.0
// The suites of bench: their options, and what measures them; and what lookup shares with one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warren/api/report_measures.hpp"

#include "products.hpp"

namespace warren::app {

/// Of lookup and of its suite: the table that is looked up in.
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

/// BFS over neighbour lists in host memory, by access pattern.
struct BenchEmogi : GraphCommand {
  static constexpr const char* kSuite = "emogi";
  std::string out;  ///< A file for the results, or empty.
  std::uint64_t sources = 64;
};

/// Products of one graph over widths, types and strategies.
struct BenchSpmm : ProductCommand {
  static constexpr const char* kSuite = "spmm";
  std::string out;
  std::vector<std::uint64_t> widths = {16, 32, 64, 128, 256};
  std::vector<std::string> types = {"float32"};
  std::vector<std::string> strategies;  ///< Empty: auto on one rank, all by name on several.
};
void add_bench_spmm_options(CLI::App& command, BenchSpmm& bench);

/// Sums of bags of one table's rows over bag lengths, skews and strategies.
struct BenchLookup : LookupCommand {
  static constexpr const char* kSuite = "lookup";
  std::string out;
  std::vector<std::uint64_t> bags = {32};
  std::vector<double> skews = {0.0};
  std::vector<std::string> strategies;  ///< Empty: all by name.

  [[nodiscard]] std::vector<api::LookupCase> cases() const;
};
void add_bench_lookup_options(CLI::App& command, BenchLookup& bench);

/// Each sets `results` of the session's JSON, an object a measurement with every run, and prints a
/// table. False if the options ask for a comparison, and a result is wrong.
[[nodiscard]] bool measure(Session& session, const BenchEmogi& bench);
[[nodiscard]] bool measure(Session& session, const BenchSpmm& bench);
[[nodiscard]] bool measure(Session& session, const BenchLookup& bench);

}  // namespace warren::app
