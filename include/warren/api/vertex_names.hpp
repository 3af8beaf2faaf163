// SPDX-License-Identifier: Apache-2.0
// How people know a graph's vertices: by the ids of its file, which may be words, and by names
// where a dataset has them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "warren/api/graph.hpp"
#include "warren/memory/host_array.hpp"

namespace warren {

/// Shares the graph. All functions may be called by several threads.
class VertexNames {
 public:
  explicit VertexNames(const Graph& graph);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] std::uint64_t vertices() const { return graph_.vertices(); }
  [[nodiscard]] bool has_names() const { return !names_.empty(); }
  /// True if the names are the ids.
  [[nodiscard]] bool are_words() const { return are_words_; }
  /// The id, where it is a number.
  [[nodiscard]] std::uint64_t number(Vertex v) const { return ids_.empty() ? v : ids_[v]; }
  /// The id as it stands in files that are written: a word with blanks is in quotes.
  [[nodiscard]] std::string id_text(Vertex v) const;
  /// The name where there are names, else the id.
  [[nodiscard]] std::string name(Vertex v) const;
  /// "git (29431)", or the id alone. A word is an id.
  [[nodiscard]] std::string name_and_id(Vertex v) const;

  /// The vertex that `text`, an id or a name, stands for; a number is always an id, unless ids are
  /// words. Throws UsageError, whose message calls the choice `option` ("--source").
  [[nodiscard]] Vertex find(const std::string& text, const std::string& option) const;

 private:
  [[nodiscard]] Vertex find_name(const std::string& text, const std::string& option) const;
  [[nodiscard]] Vertex find_id(std::uint64_t id, const std::string& option) const;

  Graph graph_;
  memory::HostArray<std::uint64_t> ids_;  // Ascending; empty where they are the vertices.
  std::span<const std::string> names_;
  bool are_words_ = false;
};

/// A word as a cell of a line: in quotes where there is a blank, a separator or a quote in it.
[[nodiscard]] std::string as_cell(const std::string& word);

/// Writes a line, or several, for each of `count` vertices: line(text, v) appends them. The file is
/// whole or not there; a name of a pipe or a device is written to as it is. Of several processes
/// the first one writes. Throws InputError.
void write_vertex_lines(const std::string& path, std::uint64_t count,
                        const std::function<void(std::string& text, Vertex v)>& line);

}  // namespace warren
