// SPDX-License-Identifier: Apache-2.0
#include "warren/api/vertex_names.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "warren/api/program.hpp"
#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"
#include "warren/graph/edge_file.hpp"

#include "api/graph_state.hpp"

namespace warren {

VertexNames::VertexNames(const Graph& graph) : graph_(graph) {
  // What is drawn has no other ids, and may not be in host memory.
  if (graph.state()->drawing() != nullptr) return;
  names_ = graph.names();
  if (const auto& rows = graph.state()->rows(); rows != nullptr)
    ids_ = rows->original_ids();
  else
    ids_ = graph.file() != nullptr ? graph.file()->original_ids() : graph.csr().original_ids;
  are_words_ = graph.are_names_ids();
}

std::string VertexNames::name(Vertex v) const {
  return has_names() ? names_[v] : std::to_string(number(v));
}

std::string VertexNames::name_and_id(Vertex v) const {
  return has_names() && !are_words_ ? fmt::format("{} ({})", names_[v], number(v)) : name(v);
}

std::string VertexNames::id_text(Vertex v) const {
  return are_words_ ? as_cell(names_[v]) : std::to_string(number(v));
}

Vertex VertexNames::find_name(const std::string& text, const std::string& option) const {
  const auto found = std::find(names_.begin(), names_.end(), text);
  if (found == names_.end() && are_words_) {
    throw UsageError(fmt::format("{} {}: no vertex has this id; the file's are words, such as {}",
                                 option, text, names_.front()));
  }
  require(found != names_.end(),
          fmt::format("{} {}: no vertex has this name; give a name of the dataset's names.txt, or "
                      "an id from 0 to {}",
                      option, text, vertices() - 1));
  return static_cast<Vertex>(found - names_.begin());
}

Vertex VertexNames::find(const std::string& text, const std::string& option) const {
  require(vertices() > 0, "the graph has no vertices; there is nothing to start from");
  if (are_words_) return find_name(text, option);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_number = !text.empty() && end == text.data() + text.size();
  if (is_number && error == std::errc{}) return find_id(id, option);
  if (has_names() && !is_number) return find_name(text, option);
  throw UsageError(fmt::format("{} \"{}\": this is no vertex id; ids go from {} to {}", option,
                               text, number(0), number(static_cast<Vertex>(vertices() - 1))));
}

Vertex VertexNames::find_id(std::uint64_t id, const std::string& option) const {
  const auto range = [&] {
    return fmt::format("ids go from {} to {}", number(0),
                       number(static_cast<Vertex>(vertices() - 1)));
  };
  if (ids_.empty()) {
    require(id < vertices(),
            fmt::format("{} {}: there is no such vertex; {}", option, id, range()));
    return static_cast<Vertex>(id);
  }
  const auto* found = std::lower_bound(ids_.begin(), ids_.end(), id);
  require(found != ids_.end() && *found == id,
          fmt::format("{} {}: this id is no vertex; {}{}", option, id, range(),
                      found == ids_.end() ? "" : fmt::format(", the next is {}", *found)));
  return static_cast<Vertex>(found - ids_.begin());
}

std::string as_cell(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\",;") == std::string::npos) return word;
  std::string quoted = "\"";
  for (const char c : word) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void write_vertex_lines(const std::string& path, std::uint64_t count,
                        const std::function<void(std::string& text, Vertex v)>& line) {
  if (!is_first_process()) return;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  OutputFile file(path, OutputFile::Special::in_place);
  std::string lines;
  for (std::uint64_t v = 0; v < count; ++v) {
    line(lines, static_cast<Vertex>(v));
    if (lines.size() < kBlock) continue;
    file.write(lines);
    lines.clear();
  }
  file.write(lines);
  (void)file.commit();
}

}  // namespace warren
