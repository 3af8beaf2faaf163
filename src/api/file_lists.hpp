// SPDX-License-Identifier: Apache-2.0
// Whether a graph's lists can stay in its file, and whether they should.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "warren/api/graph.hpp"
#include "warren/api/graph_name.hpp"
#include "warren/graph/edge_file.hpp"
#include "warren/graph/row_file.hpp"

namespace warren::api {

/// Why the lists of what `name` names are not read from a file, by its name and the options alone:
/// a clause; empty where nothing speaks against it.
[[nodiscard]] std::string why_not_in_file(const GraphPlace& place, const ReadOptions& options);
/// The same of the file: what is wanted of the graph, and is not so in it.
[[nodiscard]] std::string why_not_in_file(const graph::EdgeFile& file, const ReadOptions& options);

/// The file, where the lists stay in it: asked for by Lists::file, or by Lists::fitting where the
/// graph takes more than the host has. `reason` says why. nullptr: they are read into memory.
/// Throws UsageError where they are to stay there and cannot, with what helps; as EdgeFile does.
[[nodiscard]] std::shared_ptr<const graph::EdgeFile> lists_in_file(const GraphPlace& place,
                                                                   const std::string& name,
                                                                   const ReadOptions& options,
                                                                   std::string& reason);

/// Whether this process is a rank of several, which are each to have their own ranges alone.
[[nodiscard]] bool wants_ranges(const ReadOptions& options);
/// The file, where each rank of several processes is to read its own rows of it (Lists::ranges) and
/// can. nullptr: each reads the whole graph; `reason` says why, where rows were asked for. Throws
/// InputError.
[[nodiscard]] std::shared_ptr<const graph::RowFile> rows_in_file(const GraphPlace& place,
                                                                 const ReadOptions& options,
                                                                 std::string& reason);

/// What helps where a graph does not fit the host's memory.
[[nodiscard]] std::string cure_by_file(const GraphPlace& place, const std::string& name,
                                       const ReadOptions& options);

}  // namespace warren::api
