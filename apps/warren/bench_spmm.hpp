// SPDX-License-Identifier: Apache-2.0
// bench spmm: products of one graph over widths, types and strategies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sparse_input.hpp"

namespace warren::app {

struct BenchSpmmOptions {
  SparseOptions options;
  std::vector<std::uint64_t> widths = {16, 32, 64, 128, 256};
  std::vector<std::string> types = {"float32"};
  std::vector<std::string> strategies;  ///< Empty: auto on one rank, all by name on several.
};
void add_bench_spmm_options(CLI::App& command, BenchSpmmOptions& bench);

/// Sets `results` of the session's JSON, an object a product with every run, and prints a table.
/// False if the options ask for a comparison, and a product is wrong.
[[nodiscard]] bool bench_spmm(Session& session, SparseOptions options,
                              const BenchSpmmOptions& bench);

}  // namespace warren::app
