// SPDX-License-Identifier: Apache-2.0
// --mode: what is told about the form of a traversal that ran.
#pragma once

#include <string>

#include "warren/api/run.hpp"

#include "command.hpp"
#include "session.hpp"
#include "text.hpp"

namespace warren::app {

/// `mode`, `mode_reason`, and of an asynchronous run what the scheduler did.
void set_mode_fields(Json& json, const RunInfo& info);
/// What a traversal read of host memory, and what it sent between hosts.
void set_byte_fields(Json& json, const RunInfo& info);
/// Of ranks on several hosts: `bytes_between_hosts`.
void set_bytes_between_hosts(Json& json, std::uint64_t bytes);
/// The same for people: a line or two.
[[nodiscard]] std::string mode_text(const RunInfo& info);

/// What a check found: true, false, or null where there was none.
[[nodiscard]] Json verified(const RunInfo& info);
/// The table's row for it, where there was one: "yes, " and how, or what is wrong.
void add_verified(Session& session, const RunInfo& info, const std::string& how);
/// not_verified, with a line on standard error that begins with `what` if it is something, for a
/// verdict that the result is wrong.
[[nodiscard]] ExitStatus verification_status(const RunInfo& info, const std::string& what = {});

/// The median of the timed runs.
[[nodiscard]] double median_seconds(const RunInfo& info);
/// So many edges in each run, by the median: edges a second.
[[nodiscard]] double edge_rate(const RunInfo& info, double edges);

}  // namespace warren::app
