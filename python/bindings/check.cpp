// SPDX-License-Identifier: Apache-2.0
// The checks of a machine.
#include <nanobind/stl/string.h>

#include "warren/api/machine.hpp"

#include "run.hpp"

namespace warren::python {
namespace {

std::string check(const Run& run) {
  CheckOptions options;
  if (run.device >= 0) options.device = static_cast<DeviceKind>(run.device);
  options.devices = run.devices;
  options.session = run.session;
  return unlocked([&] { return to_json(check_machine(options)); });
}

}  // namespace

void bind_check(nb::module_& module) {
  module.def("check_machine", &check, nb::arg("run"), "The JSON of `warren info --check`.");
}

}  // namespace warren::python
