// SPDX-License-Identifier: Apache-2.0
// warren info --check: whether memory, copies, paths between devices and every algorithm do what
// they should on this machine.
#pragma once

#include <string>
#include <vector>

#include "warren/api/session.hpp"
#include "warren/exec/device.hpp"

namespace warren::app {

enum class CheckVerdict {
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
struct CheckPlace {
  std::vector<exec::Device> devices;
  warren::Session session;  ///< Of all that calls of the library do.
  DeviceKind kind = DeviceKind::cpu;
  int ranks = 1;  ///< Algorithms run on one, and on so many.
};

/// "passed", "failed" or "unavailable".
[[nodiscard]] const char* name_of(CheckVerdict verdict);

/// Every check, in the order in which they are best read: what a later one stands on comes first.
/// One that fails does not keep the others from running. The environment's WARREN_CHECK_FAULT, the
/// first word of a check's name, spoils what that check looks at, for tests. Throws UsageError
/// where that is no check's.
[[nodiscard]] std::vector<CheckResult> check_machine(const CheckPlace& place);

}  // namespace warren::app
