// SPDX-License-Identifier: Apache-2.0
// What is told about a search for shortest paths: its JSON fields, its text, and the file of its
// result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/verify.hpp"

#include "session.hpp"
#include "vertex_names.hpp"

namespace warren::app {

/// One source's search, in the user's order of vertices.
struct SsspOutcome {
  Vertex source = 0;
  bool is_integer = true;     ///< Then `distance` is filled, else `real_distance`.
  std::int32_t scale = 1;     ///< Of integers: a power of ten, so many of which are the file's 1.
  std::string first_rounded;  ///< As graph::WeightReport has it.
  double rounding = 0.0;      ///< As graph::WeightReport has it.
  traverse::SsspResult result;
  std::vector<double> seconds;        ///< Of each run, on the slowest rank.
  std::uint64_t traversed_edges = 0;  ///< Input edges with a reached source endpoint, once each.
  std::optional<traverse::Verdict> verdict;
  std::optional<traverse::AsyncReport> report;  ///< Of the last run, where asynchronous.
  std::vector<std::uint64_t> distance;          ///< Of all vertices; empty where nobody asked.
  std::vector<double> real_distance;

  [[nodiscard]] bool has_distances() const { return !distance.empty() || !real_distance.empty(); }
  [[nodiscard]] bool reached(Vertex v) const;
  /// A real distance in the file's units.
  [[nodiscard]] double in_units(double value) const { return value / scale; }
  /// Of a reached vertex, as text.
  [[nodiscard]] std::string distance_text(Vertex v) const;
  /// Edges a second of the median run.
  [[nodiscard]] double teps() const;
};

/// The fields of one outcome.
void set_fields(Json& json, const SsspOutcome& outcome, const VertexNames& names);
/// The text for people.
void print_outcome(Session& session, const SsspOutcome& outcome, const VertexNames& names);
/// A line for every vertex: id, distance; -1 where it was not reached.
void write_sssp(const std::string& path, const SsspOutcome& outcome, const VertexNames& names);

}  // namespace warren::app
