// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/times.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/parse_number.hpp"
#include "warren/core/text_lines.hpp"
#include "warren/files/mapped_file.hpp"
#include "warren/files/npy.hpp"

namespace warren::sample {
namespace {

bool is_npy(const std::string& path) { return path.ends_with(".npy"); }

/// One-dimensional integers.
std::vector<std::int64_t> read_npy(const std::string& path, std::uint64_t count,
                                   const char* of_what) {
  const files::MappedFile file(path);
  const files::NpyArray array = files::parse_npy(file.data(), file.size(), path);
  if (array.shape.size() != 1 || array.count != count)
    throw InputError(
        fmt::format("{}: {} elements in {} dimensions; one row of {} times would be "
                    "right, one for each {}",
                    path, array.count, array.shape.size(), count, of_what));
  std::vector<std::int64_t> times(count);
  const auto fill = [&]<class T>(T) {
    for (std::uint64_t i = 0; i < count; ++i) times[i] = static_cast<std::int64_t>(array.at<T>(i));
  };
  const std::string type = array.type();
  if (type == "i8") {
    fill(std::int64_t{});
  } else if (type == "i4") {
    fill(std::int32_t{});
  } else if (type == "u4") {
    fill(std::uint32_t{});
  } else {
    throw InputError(fmt::format(
        "{}: the elements are of type {}; times are int64, int32 or uint32", path, type));
  }
  return times;
}

/// f(line number, its cells) for each line that is no comment; none where quotes do not match.
template <class F>
void each_line(const files::MappedFile& file, F&& f) {
  constexpr std::size_t kMostCells = 3;
  std::vector<std::string> cells;
  warren::each_line({file.data(), file.size()}, [&](std::uint64_t line, std::string_view whole) {
    if (whole.empty() || whole.front() == '#' || whole.front() == '%') return;
    if (!split_cells(whole, kMostCells, cells)) cells.clear();
    f(line, cells);
  });
}

/// Times by pair of vertices.
class TextTimes {
 public:
  TextTimes(const std::string& path, const graph::Graph& graph, std::span<const std::string> words)
      : path_(path), graph_(graph), words_(words), own_(graph.edges()), of_reverse_(graph.edges()) {
    for (std::size_t v = 0; v < words.size(); ++v)
      by_word_.emplace(words[v], static_cast<Vertex>(v));
  }

  std::vector<std::int64_t> read() {
    for (Vertex v = 0; v < graph_.vertices; ++v) {
      const auto list = graph_.neighbours(v);
      const auto twice = std::adjacent_find(list.begin(), list.end());
      if (twice != list.end())
        throw InputError(
            fmt::format("{}: the graph has parallel edges ({} to {}), which text "
                        "cannot tell apart: give times as .npy, or leave out "
                        "--keep-duplicates",
                        path_, id_of(v), id_of(*twice)));
    }
    const files::MappedFile file(path_);
    each_line(file, [&](std::uint64_t line, const auto& cells) { take(line, cells); });
    fill_reversed();
    return std::move(own_.times);
  }

 private:
  /// The earliest time of each edge, of those that were given.
  struct Times {
    explicit Times(std::uint64_t edges) : times(edges), is_given(edges) {}
    void give(EdgeOffset edge, std::int64_t time) {
      times[edge] = is_given[edge] ? std::min(times[edge], time) : time;
      is_given[edge] = true;
    }
    std::vector<std::int64_t> times;
    std::vector<bool> is_given;  ///< Every number may be a time.
  };

  void take(std::uint64_t line, const std::vector<std::string>& cells) {
    const bool is_first = std::exchange(may_be_headings_, false);
    if (is_first && are_edge_headings(cells) && find(cells[0]) == kNoVertex) return;
    const bool is_whole = cells.size() == 3;
    const auto time = is_whole ? parse_number<std::int64_t>(cells[2]) : std::nullopt;
    const Vertex source = is_whole ? find(cells[0]) : kNoVertex;
    const Vertex target = is_whole ? find(cells[1]) : kNoVertex;
    if (!time || source == kNoVertex || target == kNoVertex)
      throw InputError(
          fmt::format("{}: line {}: \"source target time\" would be right: two vertex "
                      "ids of the graph and an integer of 64 bits",
                      path_, line));
    const auto edge = find_edge(source, target), reverse = find_edge(target, source);
    if (!edge && !reverse)
      throw InputError(fmt::format("{}: line {}: the graph has no edge from {} to {}", path_, line,
                                   cells[0], cells[1]));
    if (edge) own_.give(*edge, *time);
    if (reverse) of_reverse_.give(*reverse, *time);
  }

  /// The vertex of an id, kNoVertex where there is none.
  [[nodiscard]] Vertex find(std::string_view word) const {
    if (!words_.empty()) {
      const auto found = by_word_.find(word);
      return found == by_word_.end() ? kNoVertex : found->second;
    }
    const auto id = parse_number<std::uint64_t>(word);
    if (!id) return kNoVertex;
    std::uint64_t low = 0, high = graph_.vertices;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (graph_.original_id(static_cast<Vertex>(middle)) < *id) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == graph_.vertices || graph_.original_id(static_cast<Vertex>(low)) != *id)
      return kNoVertex;
    return static_cast<Vertex>(low);
  }

  /// As the user knows it.
  [[nodiscard]] std::string id_of(Vertex v) const {
    return words_.empty() ? std::to_string(graph_.original_id(v)) : words_[v];
  }

  [[nodiscard]] std::optional<EdgeOffset> find_edge(Vertex source, Vertex target) const {
    const auto list = graph_.neighbours(source);
    const auto at = std::lower_bound(list.begin(), list.end(), target);
    if (at == list.end() || *at != target) return std::nullopt;
    return graph_.offsets[source] + static_cast<std::uint64_t>(at - list.begin());
  }

  /// An edge without a line of its own has the time of its reverse.
  void fill_reversed() {
    for (Vertex v = 0; v < graph_.vertices; ++v) {
      for (EdgeOffset edge = graph_.offsets[v]; edge < graph_.offsets[v + 1ull]; ++edge) {
        if (own_.is_given[edge]) continue;
        if (!of_reverse_.is_given[edge])
          throw InputError(
              fmt::format("{}: the edge from {} to {} has no time; a line \"source "
                          "target time\" for every edge would be right",
                          path_, id_of(v), id_of(graph_.targets[edge])));
        own_.times[edge] = of_reverse_.times[edge];
      }
    }
  }

  const std::string& path_;
  const graph::Graph& graph_;
  std::span<const std::string> words_;
  std::unordered_map<std::string_view, Vertex> by_word_;
  bool may_be_headings_ = true;
  Times own_, of_reverse_;  ///< By the lines of the edge itself, and by those of its reverse.
};

}  // namespace

std::vector<std::int64_t> read_edge_times(const std::string& path, const graph::Graph& graph,
                                          std::span<const std::string> words) {
  if (is_npy(path)) return read_npy(path, graph.edges(), "edge of the graph");
  return TextTimes(path, graph, words).read();
}

std::vector<std::int64_t> read_seed_times(const std::string& text, std::uint64_t vertices) {
  if (const auto time = parse_number<std::int64_t>(text))
    return std::vector<std::int64_t>(vertices, *time);
  if (is_npy(text)) return read_npy(text, vertices, "vertex");
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  const bool is_too_large =
      text.size() > digits && text.find_first_not_of("0123456789", digits) == std::string::npos;
  require(!is_too_large, fmt::format("a seed time of {}: times are integers of 64 bits, from -2^63 "
                                     "to 2^63 - 1; a file of that name is ./{}",
                                     text, text));
  const files::MappedFile file(text);
  std::vector<std::int64_t> times;
  each_line(file, [&](std::uint64_t line, const auto& cells) {
    const auto time = cells.size() == 1 ? parse_number<std::int64_t>(cells[0]) : std::nullopt;
    if (!time) throw InputError(fmt::format("{}: line {}: one integer would be right", text, line));
    times.push_back(*time);
  });
  if (times.size() != vertices)
    throw InputError(
        fmt::format("{}: {} times, but the graph has {} vertices; one for each would "
                    "be right",
                    text, times.size(), vertices));
  return times;
}

}  // namespace warren::sample
