// SPDX-License-Identifier: Apache-2.0
// The checks of a machine.
#include "warren/api/check_machine.hpp"

#include "run.hpp"

namespace warren::python {
namespace {

nb::list check(const Run& run) {
  CheckOptions options;
  if (run.device >= 0) options.device = static_cast<DeviceKind>(run.device);
  options.devices = run.devices;
  options.session = run.session;
  const std::vector<CheckResult> found = unlocked([&] { return check_machine(options); });
  nb::list results;
  for (const CheckResult& one : found)
    results.append(
        nb::make_tuple(one.name.c_str(), name_of(one.verdict), one.seconds, one.message.c_str()));
  return results;
}

}  // namespace

void bind_check(nb::module_& module) {
  module.def("check_machine", &check, nb::arg("run"),
             nb::sig("def check_machine(run: Run) -> list[tuple[str, str, float, str]]"));
}

}  // namespace warren::python
