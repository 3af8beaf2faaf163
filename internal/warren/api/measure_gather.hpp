// SPDX-License-Identifier: Apache-2.0
// Timed gathers of random rows of a table whose elements are known, spread over the ranks, and of
// plain copies of as many bytes from the same places. gather() takes a caller's table. Messages
// name options as the command line does ("--placement").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/session.hpp"
#include "warren/memory/cached_array.hpp"
#include "warren/sample/exchange_gather.hpp"

namespace warren::api {

/// A table of floats and what is gathered of it. Element (r, c) is (31 r + c) mod 2^24.
struct GatherTrialOptions {
  std::uint64_t rows = 1'000'000;
  std::uint64_t k = 64;              ///< Floats of a row.
  std::uint64_t count = 1'000'000;   ///< Rows that each rank gathers.
  std::string placement = "device";  ///< "device", "host" or "cached", as TablePlacement.
  std::string strategy = "direct";   ///< "direct": where they lie; "messages": asked for and sent.
  std::string order = "auto";        ///< Of rows in host memory: auto, asked, sorted.
  std::optional<std::uint64_t> cached{};  ///< Of "cached": rows on the devices; a tenth.
  double skew = 0.0;                      ///< Of Zipf's law; 0: rows are drawn uniformly.
  bool verify = false;
  std::uint64_t seed = 1;  ///< Of the draws.
  int repeat = 1;          ///< Timed runs, after one that warms up.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};

  [[nodiscard]] bool is_cached() const { return placement == "cached"; }
  /// Of TablePlacement::cached, the first ones.
  [[nodiscard]] std::uint64_t cached_rows() const;
};
/// Throws UsageError for options that are none or do not go together.
void check(const GatherTrialOptions& options);

/// What the ranks find together.
struct GatherFigures {
  std::vector<double> seconds;  ///< Of each timed run, on the slowest rank.
  double setup_seconds = 0.0;   ///< Of making the table.
  double rate = 0.0;            ///< Bytes a second of all ranks, of the median run.
  double limit = 0.0;           ///< The same of plain copies from the same places.
  double fraction = 0.0;        ///< rate / limit.
  std::uint64_t wrong = 0;      ///< Where it was verified: elements that are not the table's.
  memory::CacheUse use{};       ///< Of all ranks.
  sample::ExchangeGatherTimes steps{};    ///< Of "messages".
  bool is_spread = false;                 ///< The cached rows are dealt out over the devices.
  std::uint64_t bytes_between_hosts = 0;  ///< As RunInfo's, of preparation and all runs.
  bool is_sorted = false;  ///< Rows in host memory were read in the order of addresses.
};

/// (WholeGraph, section III-C.) Throws UsageError, MemoryError.
[[nodiscard]] GatherFigures measure_gather(const GatherTrialOptions& options);

}  // namespace warren::api
