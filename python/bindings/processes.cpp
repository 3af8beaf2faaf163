// SPDX-License-Identifier: Apache-2.0
// The interpreter as one of several processes that a launcher started, which are a rank each.
#include "warren/team/processes.hpp"

#include <memory>
#include <string>
#include <tuple>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "warren/core/error.hpp"

#include "module.hpp"

namespace warren::python {
namespace {

using team::Processes;

/// Never destroyed by the end of the process, in which the library is gone already.
std::unique_ptr<Processes>& membership() {
  static auto* membership = new std::unique_ptr<Processes>;
  return *membership;
}

/// Rank, number of ranks and launcher: 0, 1 and "" in a process alone.
std::tuple<int, int, std::string> join_processes(const std::string& program,
                                                 const std::string& command) {
  std::unique_ptr<Processes>& joined = membership();
  if (joined == nullptr) {
    const auto launch = team::find_launch();
    if (!launch) return {0, 1, ""};
    require(!is_in_use(),
            "join_processes: warren has worked in this process: join before the first other call");
    team::ProcessOptions options;
    options.launch = *launch;
    options.program = program;
    options.command = command;
    try {
      joined = unlocked([&] { return std::make_unique<Processes>(options); });
    } catch (const team::RefusedError& error) {
      throw UsageError(error.what());  // Each interpreter has a caller who is told.
    }
  }
  return {joined->rank(), joined->size(), joined->launcher()};
}

void leave_processes(const std::string& cause) {
  std::unique_ptr<Processes>& joined = membership();
  if (joined == nullptr) return;
  const nb::gil_scoped_release released;
  if (!cause.empty()) joined->end(cause);
  joined.reset();
}

}  // namespace

void bind_processes(nb::module_& module) {
  module.def("join_processes", &join_processes, nb::arg("program"), nb::arg("command"),
             "Rank, number of ranks and launcher.");
  module.def("leave_processes", &leave_processes, nb::arg("cause"),
             "At the end; with a cause where this rank has failed.");
}

}  // namespace warren::python
