// SPDX-License-Identifier: Apache-2.0
// What reports of calls have in common: what the call ran on, how, and how long it took.
#pragma once

#include <cstdint>
#include <string>

#include "warren/api/run.hpp"
#include "warren/api/vertex_names.hpp"

#include "api/report/writer.hpp"

namespace warren::api {

/// `command`, `device`, `devices`, `devices_reason`, `processes` and `hosts` of a launcher's ranks,
/// `warren`, `machine`, `date` and `threads`.
[[nodiscard]] Json document(const std::string& command, const RunInfo& info);
/// The same, with `vertices`, `edges` and `seconds`, of each timed run.
[[nodiscard]] Json document(const std::string& command, const Graph& graph, const RunInfo& info);

/// `mode`, `mode_reason`, and of an asynchronous run what the scheduler did.
void set_mode(Json& json, const RunInfo& info);
/// Where lists lay, what was read of host memory, and what went between hosts.
void set_bytes(Json& json, const RunInfo& info);
/// Of ranks on several hosts: `bytes_between_hosts`.
void set_bytes_between_hosts(Json& json, std::uint64_t bytes);
/// "asynchronous (why): 12 tasks".
[[nodiscard]] std::string mode_text(const RunInfo& info);

/// What a check found: true, false, or null where there was none.
[[nodiscard]] Json verified(const RunInfo& info);
/// `value`, or null where nothing was verified.
[[nodiscard]] Json if_verified(bool is_verified, const Json& value);
/// The table's row for it, where there was one: "yes, " and how, or what is wrong.
void add_verified(Text& text, const RunInfo& info, const std::string& how);
/// A row on lists that stay in a file.
void add_lists(Text& text, const RunInfo& info);

/// Edges a second, so many in each run, by the median.
[[nodiscard]] double edge_rate(const RunInfo& info, double edges);

/// The id: a number, or a word.
[[nodiscard]] Json json_id(const VertexNames& names, Vertex v);
[[nodiscard]] Json json_ids(const VertexNames& names, const std::vector<Vertex>& vertices);

}  // namespace warren::api
