// SPDX-License-Identifier: Apache-2.0
// Where a call runs, as the package says it, and what the call ran on, as the package is told.
#pragma once

#include <cstdint>
#include <optional>

#include "warren/api/traverse.hpp"

#include "module.hpp"

namespace warren::python {

/// Where and how a call runs. Values are those of the library's enumerations.
struct Run {
  int mode;
  int edges;
  int device;  ///< -1: the session's.
  int devices;
  std::optional<Session> session;
  std::uint64_t host_memory = 0;  ///< 0: what the host has.
};

template <class Options>
void set_run(Options& options, const Run& run) {
  if constexpr (requires { options.mode; }) options.mode = static_cast<Mode>(run.mode);
  if constexpr (requires { options.edges; }) options.edges = static_cast<Edges>(run.edges);
  if (run.device >= 0) options.device = static_cast<DeviceKind>(run.device);
  if constexpr (requires { options.placement.host_memory; })
    options.placement.host_memory = run.host_memory;
  options.devices = run.devices;
  options.session = run.session;
}

inline nb::tuple info_of(const RunInfo& info) {
  return nb::make_tuple(info.device == DeviceKind::cuda, info.devices, info.devices_reason,
                        info.threads, info.mode == Mode::asynchronous, info.mode_reason,
                        static_cast<int>(info.edges), info.bytes_read, info.seconds);
}

}  // namespace warren::python
