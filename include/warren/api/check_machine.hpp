// SPDX-License-Identifier: Apache-2.0
// Whether memory, copies, paths between devices and every algorithm do what they should on this
// machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/run.hpp"
#include "warren/api/session.hpp"

namespace warren {

enum class CheckVerdict : std::uint8_t {
  passed,
  failed,
  unavailable  ///< It needs a path between the ranks' memories, which is not here.
};

struct CheckResult {
  std::string name;  ///< "bfs, 2 ranks".
  CheckVerdict verdict = CheckVerdict::passed;
  std::string message;  ///< Of what did not pass: why, in a line.
  double seconds = 0.0;
};

/// Where checks run.
struct CheckOptions {
  std::optional<DeviceKind> device = {};  ///< Nothing: the session's.
  /// Algorithms run on one rank, and on so many. 0: the session's number, or all GPUs; on the CPU
  /// two.
  int devices = 0;
  std::optional<Session> session = {};  ///< Nothing: the standard one.
};

/// "passed", "failed" or "unavailable".
[[nodiscard]] const char* name_of(CheckVerdict verdict);

/// How many ranks check_machine() would take.
[[nodiscard]] int check_ranks(DeviceKind kind);

/// Every check, in the order in which they are best read: what a later one stands on comes first.
/// One that fails does not keep the others from running. They take less than a minute. The
/// environment's WARREN_CHECK_FAULT, the first word of a check's name, spoils what that check looks
/// at, for tests. Throws UsageError where that is no check's, for a device that is not there and
/// for ranks that are processes; Interrupted.
[[nodiscard]] std::vector<CheckResult> check_machine(const CheckOptions& options = {});

}  // namespace warren
