// SPDX-License-Identifier: Apache-2.0
// Reports of timed gathers, lookups, samples and products, as those of calls (report.hpp). `ran`
// says what they ran on (run_info()).
#pragma once

#include <string>
#include <vector>

#include "warren/api/measure_gather.hpp"
#include "warren/api/measure_lookups.hpp"
#include "warren/api/measure_patterns.hpp"
#include "warren/api/measure_products.hpp"
#include "warren/api/measure_sampling.hpp"
#include "warren/api/run.hpp"

namespace warren::api {

[[nodiscard]] std::string to_json(const RunInfo& ran, const GatherTrialOptions& options,
                                  const GatherFigures& figures);
[[nodiscard]] std::string to_text(const RunInfo& ran, const GatherTrialOptions& options,
                                  const GatherFigures& figures);

[[nodiscard]] std::string to_json(const RunInfo& ran, const LookupTrialOptions& options,
                                  const LookupFigures& figures);
[[nodiscard]] std::string to_text(const RunInfo& ran, const LookupTrialOptions& options,
                                  const LookupFigures& figures);
/// Of several cases: `results`, an object each, with the command that repeats it.
[[nodiscard]] std::string to_json(const RunInfo& ran, const LookupTrialOptions& options,
                                  const std::vector<LookupFigures>& cases);
[[nodiscard]] std::string to_text(const RunInfo& ran, const std::vector<LookupFigures>& cases);

[[nodiscard]] std::string to_json(const RunInfo& ran, const SamplingTrialOptions& options,
                                  const WhereOptions& where, const SamplingFigures& figures);
[[nodiscard]] std::string to_text(const RunInfo& ran, const SamplingTrialOptions& options,
                                  const SamplingFigures& figures);

/// One product, and the matrix that it was of.
struct ProductReport {
  const RunInfo& ran;
  const MatrixOptions& matrix;
  ProductOptions product;
  const OrderTimes& order;
  const ProductFigures& figures;
  bool explains = false;  ///< The ways that auto looked at are told.
};
[[nodiscard]] std::string to_json(const ProductReport& report);
[[nodiscard]] std::string to_text(const ProductReport& report);
/// The fields of one of many products of `graph`, with the command that repeats it.
[[nodiscard]] std::string to_json(const std::string& graph, const ProductReport& report);
/// What rounding does to the result's size; empty where all its elements are finite numbers.
[[nodiscard]] std::string overflow_warning(const ProductReport& report);
/// `workgroup`, `slow`, and the rows that products move, in all and between workgroups.
[[nodiscard]] std::string to_json(const ProductOptions& product,
                                  const graph::PartitionQuality& quality);

[[nodiscard]] std::string to_json(const PatternsResult& result, std::size_t sources);
[[nodiscard]] std::string to_text(const PatternsResult& result, std::size_t sources);

}  // namespace warren::api
