// SPDX-License-Identifier: Apache-2.0
// What is told about a breadth-first search: its JSON fields, its levels, and the file of its
// result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/verify.hpp"

#include "session.hpp"
#include "vertex_names.hpp"

namespace warren::app {

/// One source's search, in the user's order of vertices.
struct BfsOutcome {
  Vertex source = 0;
  traverse::BfsResult result;
  std::vector<double> seconds;        ///< Of each run, on the slowest rank.
  std::uint64_t traversed_edges = 0;  ///< Input edges with a reached source endpoint, once each.
  std::optional<traverse::Verdict> verdict;
  std::optional<traverse::AsyncReport> report;  ///< Of the last run, where asynchronous.
  std::vector<Vertex> depth;                    ///< Of all vertices; empty where nobody asked.
  std::vector<Vertex> parent;
  std::vector<std::uint64_t> levels;  ///< Vertices by depth; empty where nobody asked.

  /// Edges a second of the median run.
  [[nodiscard]] double teps() const;
};

/// The fields of one outcome.
void set_fields(Json& json, const BfsOutcome& outcome, const VertexNames& names);
/// The text for people.
void print_outcome(Session& session, const BfsOutcome& outcome, const VertexNames& names);
/// A line for every vertex: id, depth, parent; -1 where it was not reached.
void write_bfs(const std::string& path, const BfsOutcome& outcome, const VertexNames& names);

}  // namespace warren::app
