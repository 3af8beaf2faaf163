// SPDX-License-Identifier: Apache-2.0
// How the user knows the vertices: by the ids of the file, which may be words, and by names where a
// dataset has them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "warren/graph/graph.hpp"

#include "graph_input.hpp"

namespace warren::app {

/// A word as a cell of a line: in quotes where there is a blank, a separator or a quote in it.
[[nodiscard]] std::string as_cell(const std::string& word);

class VertexNames {
 public:
  /// Of a graph whose vertices are known by their number.
  explicit VertexNames(std::uint64_t vertices) : vertices_(vertices) {}
  explicit VertexNames(const warren::Graph& graph);

  [[nodiscard]] std::uint64_t vertices() const { return vertices_; }
  [[nodiscard]] bool has_names() const { return !names_.empty(); }
  /// The id that the user knows the vertex by: a number, or a word.
  [[nodiscard]] Json json_id(Vertex v) const {
    return are_words_ ? Json(names_[v]) : Json(number(v));
  }
  /// As it stands in files that are written: a word with blanks is in quotes.
  [[nodiscard]] std::string id_text(Vertex v) const;
  /// The name where there are names, else the id.
  [[nodiscard]] std::string name(Vertex v) const {
    return has_names() ? names_[v] : std::to_string(number(v));
  }
  /// "git (29431)", or the id alone. A word is an id.
  [[nodiscard]] std::string name_and_id(Vertex v) const;

  /// The vertex that `text`, an id or a name, stands for; a number is always an id, unless ids are
  /// words. Throws UsageError.
  [[nodiscard]] Vertex find(const std::string& text) const;

 private:
  [[nodiscard]] std::uint64_t number(Vertex v) const { return ids_.empty() ? v : ids_[v]; }
  [[nodiscard]] Vertex find_name(const std::string& text) const;
  [[nodiscard]] Vertex find_id(std::uint64_t id) const;

  std::uint64_t vertices_;
  memory::HostArray<std::uint64_t> ids_;  // Ascending; empty where they are the vertices.
  std::span<const std::string> names_;
  std::shared_ptr<const void> owner_;  // Of the names.
  bool are_words_ = false;             // The names are the ids.
};

}  // namespace warren::app
