// SPDX-License-Identifier: Apache-2.0
// Where a call runs, as the package says it, and what the call ran on, as the package is told.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

#include "warren/api/report.hpp"

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
  bool verify = false;
};

template <class Options>
void set_run(Options& options, const Run& run) {
  if constexpr (requires { options.mode; }) options.mode = static_cast<Mode>(run.mode);
  if constexpr (requires { options.edges; }) options.edges = static_cast<Edges>(run.edges);
  if (run.device >= 0) options.device = static_cast<DeviceKind>(run.device);
  if constexpr (requires { options.placement.host_memory; })
    options.placement.host_memory = run.host_memory;
  if constexpr (requires { options.run.verify; }) options.run.verify = run.verify;
  options.devices = run.devices;
  options.session = run.session;
}

/// What a result tells, made where it is asked for: the command line's JSON object, or its lines
/// for people. Vertices have the ids that calls take.
class Report {
 public:
  /// `tell(names, is_json)` keeps the result, whose arrays the caller has, too.
  using Tell = std::function<std::string(const VertexNames& names, bool is_json)>;
  Report(const GraphHandle& graph, Tell tell) : graph_(Graph(*graph)), tell_(std::move(tell)) {}

  [[nodiscard]] std::string json() const { return told(true); }
  [[nodiscard]] std::string text() const { return told(false); }

 private:
  [[nodiscard]] std::string told(bool is_json) const {
    return unlocked([&] { return tell_(VertexNames(*graph_), is_json); });
  }

  GraphHandle graph_;
  Tell tell_;
};

/// `tell` as Report has it.
inline nb::object report_by(const GraphHandle& graph, Report::Tell tell) {
  return nb::cast(new Report(graph, std::move(tell)), nb::rv_policy::take_ownership);
}
/// Of a result, with the options where its report is told with them.
template <class Result>
nb::object report_of(const GraphHandle& graph, const Result& result) {
  return report_by(graph, [result](const VertexNames& names, bool is_json) {
    return is_json ? to_json(names, result) : to_text(names, result);
  });
}
template <class Options, class Result>
nb::object report_of(const GraphHandle& graph, const Options& options, const Result& result) {
  return report_by(graph, [options, result](const VertexNames& names, bool is_json) {
    if (is_json) return to_json(names, options, result);
    if constexpr (requires { to_text(names, options, result); })
      return to_text(names, options, result);
    else
      return to_text(names, result);
  });
}

/// Of searches from several vertices, one after another.
template <class Options, class Result>
nb::object report_of(const GraphHandle& graph, const Options& options,
                     const std::vector<Result>& each) {
  return report_by(graph, [options, each](const VertexNames& names, bool is_json) {
    const std::span<const Result> all(each);
    return is_json ? to_json(names, options, all) : to_text(names, options, all);
  });
}

inline nb::tuple info_of(const RunInfo& info) {
  nb::object verdict = nb::none();  // Of a call that was verified: what is wrong, or "".
  if (info.verdict)
    verdict = nb::cast(info.verdict->correct ? std::string() : info.verdict->message);
  return nb::make_tuple(info.device == DeviceKind::cuda, info.devices, info.devices_reason,
                        info.threads, info.mode == Mode::asynchronous, info.mode_reason,
                        name_of(info.edges), info.bytes_read, info.seconds, verdict);
}

}  // namespace warren::python
