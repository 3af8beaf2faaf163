// SPDX-License-Identifier: Apache-2.0
// Small text files as editors and spreadsheets save them, line by line: names, ids, times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warren {

/// The text behind a byte order mark (UTF-8), where it has one.
inline std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

/// f(line number from 1, line) for every line, without its end (LF or CR LF), the blanks around it
/// and a byte order mark before the first.
template <class F>
void each_line(std::string_view text, F&& f) {
  constexpr std::string_view kBlanks = " \t\r";
  text = without_mark(text);
  std::uint64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::size_t last = line.find_last_not_of(kBlanks);
    f(number, line.substr(0, last == std::string_view::npos ? 0 : last + 1));
  }
}

/// The cells of a line: between blanks, tabs, commas or semicolons, several of which count as one;
/// in quotes, where "" stands for one, a cell may hold any of these. Stops behind `most` + 1 cells:
/// that is a line of too many. False where quotes do not match.
inline bool split_cells(std::string_view line, std::size_t most, std::vector<std::string>& cells) {
  constexpr std::string_view kBetween = " \t\r,;";
  cells.clear();
  for (std::size_t at = 0;;) {
    at = std::min(line.find_first_not_of(kBetween, at), line.size());
    if (at == line.size() || cells.size() > most) return true;
    std::string& cell = cells.emplace_back();
    if (line[at] != '"') {
      const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
      cell = line.substr(at, end - at);
      at = end;
      continue;
    }
    for (++at;; at += 2) {
      const std::size_t quote = line.find('"', at);
      if (quote == std::string_view::npos) return false;
      cell += line.substr(at, quote - at);
      at = quote;
      if (!line.substr(at + 1).starts_with('"')) break;
      cell += '"';
    }
    if (++at < line.size() && kBetween.find(line[at]) == std::string_view::npos) return false;
  }
}

/// Whether a first line is one of headings: words for the two ends of an edge, as data frames name
/// them.
inline bool are_edge_headings(const std::vector<std::string>& cells) {
  constexpr std::string_view kHeadings[][2] = {
      {"source", "target"}, {"src", "dst"}, {"from", "to"}, {"u", "v"}};
  const auto is = [](std::string_view cell, std::string_view heading) {
    return std::ranges::equal(cell, heading, [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  };
  return cells.size() >= 2 && std::ranges::any_of(kHeadings, [&](const auto& heading) {
           return is(cells[0], heading[0]) && is(cells[1], heading[1]);
         });
}

}  // namespace warren
