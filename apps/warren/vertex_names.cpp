// SPDX-License-Identifier: Apache-2.0
#include "vertex_names.hpp"

#include <algorithm>
#include <charconv>

#include "warren/core/error.hpp"
#include "warren/graph/edge_file.hpp"

namespace warren::app {

VertexNames::VertexNames(const warren::Graph& graph)
    : vertices_(graph.vertices()),
      ids_(graph.file() != nullptr ? graph.file()->original_ids() : graph.csr().original_ids),
      names_(graph.names()),
      owner_(std::make_shared<const warren::Graph>(graph)),
      are_words_(graph.are_names_ids()) {}

std::string VertexNames::name_and_id(Vertex v) const {
  return has_names() && !are_words_ ? fmt::format("{} ({})", names_[v], number(v)) : name(v);
}

std::string as_cell(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\",;") == std::string::npos) return word;
  std::string quoted = "\"";
  for (const char c : word) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string VertexNames::id_text(Vertex v) const {
  return are_words_ ? as_cell(names_[v]) : std::to_string(number(v));
}

Vertex VertexNames::find_name(const std::string& text) const {
  const auto found = std::find(names_.begin(), names_.end(), text);
  if (found == names_.end() && are_words_) {
    throw UsageError(
        fmt::format("--source {}: no vertex has this id; the file's are words, such "
                    "as {}",
                    text, names_.front()));
  }
  require(found != names_.end(),
          fmt::format("--source {}: no vertex has this name; give a name of the dataset's "
                      "names.txt, or an id from 0 to {}",
                      text, vertices_ - 1));
  return static_cast<Vertex>(found - names_.begin());
}

Vertex VertexNames::find(const std::string& text) const {
  require(vertices_ > 0, "the graph has no vertices; there is nothing to start from");
  if (are_words_) return find_name(text);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_number = !text.empty() && end == text.data() + text.size();
  if (is_number && error == std::errc{}) return find_id(id);
  if (has_names() && !is_number) return find_name(text);
  throw UsageError(fmt::format("--source \"{}\": this is no vertex id; ids go from {} to {}", text,
                               number(0), number(static_cast<Vertex>(vertices_ - 1))));
}

Vertex VertexNames::find_id(std::uint64_t id) const {
  const auto range = [&] {
    return fmt::format("ids go from {} to {}", number(0),
                       number(static_cast<Vertex>(vertices_ - 1)));
  };
  if (ids_.empty()) {
    require(id < vertices_, fmt::format("--source {}: there is no such vertex; {}", id, range()));
    return static_cast<Vertex>(id);
  }
  const auto* found = std::lower_bound(ids_.begin(), ids_.end(), id);
  require(found != ids_.end() && *found == id,
          fmt::format("--source {}: this id is no vertex; {}{}", id, range(),
                      found == ids_.end() ? "" : fmt::format(", the next is {}", *found)));
  return static_cast<Vertex>(found - ids_.begin());
}

}  // namespace warren::app
