// SPDX-License-Identifier: Apache-2.0
#include "graph/io/cells.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/log.hpp"
#include "warren/files/number.hpp"

namespace warren::graph::io {
namespace {

constexpr std::size_t kIds = 2;  // The first columns, or the first that are taken.

// An empty cell at the front of a line is one; those at its end are not.
std::string_view without_tail(std::string_view text) {
  while (!text.empty() && (files::is_blank(text.back()) || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}
std::string_view trimmed(std::string_view text) {
  text = without_tail(text);
  while (!text.empty() && files::is_blank(text.front())) text.remove_prefix(1);
  return text;
}

bool is_comment(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.starts_with('#') || text.starts_with('%');
}

// Calls f(line) for the lines of a block, without their ends; stops where it returns false.
template <class F>
void for_each_line(const files::TextBlock& block, F&& f) {
  for (const char* p = block.begin; p < block.end;) {
    const char* end = std::find(p, block.end, '\n');
    if (!f(std::string_view(p, static_cast<std::size_t>(end - p)))) return;
    p = end == block.end ? end : end + 1;
  }
}

bool looks_like_number(std::string_view text) {
  if (text.empty()) return false;
  if (text.front() == '+') text.remove_prefix(1);
  if (text.empty() ||
      !(files::is_digit(text.front()) || text.front() == '-' || text.front() == '.'))
    return false;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

// Two numbers, or one, with blanks or tabs between: what the scanner reads as it stands.
bool is_plain(std::string_view line) {
  line = trimmed(line);
  const std::size_t first_end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view rest = trimmed(line.substr(first_end));
  const std::string_view second = rest.substr(0, rest.find_first_of(" \t\r"));
  return looks_like_number(line.substr(0, first_end)) &&
         (second.empty() || looks_like_number(second));
}

char separator_of(std::string_view line) {
  bool is_quoted = false;
  std::string met;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted) met += c;
  }
  for (const char separator : {'\t', ';', ','}) {
    if (met.find(separator) != std::string::npos) return separator;
  }
  return ' ';
}

// Which of the columns is headed by one of the names.
std::optional<std::size_t> headed(std::span<const Cell> headings,
                                  std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < headings.size(); ++i) {
    std::string text(headings[i].text);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::find(names.begin(), names.end(), text) != names.end()) return i;
  }
  return std::nullopt;
}
std::optional<std::size_t> source_column(std::span<const Cell> headings) {
  return headed(headings, {"source", "src", "from", "fromnodeid", "from_node", "source_id",
                           "sourceid", "node_1", "node1", "id_1", "id1", "start"});
}
std::optional<std::size_t> target_column(std::span<const Cell> headings) {
  return headed(headings, {"target", "dst", "to", "tonodeid", "to_node", "target_id", "targetid",
                           "node_2", "node2", "id_2", "id2", "end", "destination", "dest"});
}

std::span<const Cell> without_empty_tail(std::span<const Cell> cells) {
  while (!cells.empty() && cells.back().text.empty()) cells = cells.first(cells.size() - 1);
  return cells;
}

bool are_numbers(std::span<const Cell> cells) {
  return cells.size() >= kIds && looks_like_number(cells[0].text) &&
         looks_like_number(cells[1].text);
}
bool are_words(std::span<const Cell> cells) {
  return cells.size() >= kIds && !cells[0].text.empty() && !cells[1].text.empty() &&
         !looks_like_number(cells[0].text) && !looks_like_number(cells[1].text);
}

// The first line has a word where the second has a number, in the column of weights.
bool is_weight_headed(std::span<const Cell> first, std::span<const Cell> second) {
  return first.size() > kIds && second.size() > kIds && !first[kIds].text.empty() &&
         !looks_like_number(first[kIds].text) && looks_like_number(second[kIds].text);
}

// Takes the columns that their headings name, where they do.
void choose_columns(const files::TextFile& file, std::span<const Cell> headings,
                    CellLayout& layout) {
  const auto source = source_column(headings), target = target_column(headings);
  if (!source || !target) {
    layout.is_weighted = without_empty_tail(headings).size() > kIds;
    return;
  }
  layout.take = {*source, *target};
  const std::optional<std::size_t> weight = headed(
      headings, {"weight", "weights", "w", "value", "cost", "distance", "length", "capacity"});
  layout.is_weighted = weight.has_value();
  if (weight) layout.take.push_back(*weight);
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    if (std::find(layout.take.begin(), layout.take.end(), i) == layout.take.end())
      left_out.push_back(files::quoted(headings[i].text));
  }
  if (!left_out.empty()) {
    log_warning(
        fmt::format("{}: columns that are neither source, target nor weight are not read: {}",
                    file.path(), fmt::join(left_out, ", ")));
  }
}

// The cells that are source, target and weight.
std::vector<Cell> taken(std::span<const Cell> cells, const CellLayout& layout) {
  cells = without_empty_tail(cells);
  if (layout.take.empty()) return {cells.begin(), cells.end()};
  std::vector<Cell> chosen;
  for (const std::size_t i : layout.take) {
    if (i < cells.size()) chosen.push_back(cells[i]);
  }
  return chosen;
}

// Bytes of the UTF-8 character at `p`, 0 where there is none, or one that nobody prints.
std::size_t character_bytes(const char* p, const char* end) {
  const auto lead = static_cast<unsigned char>(*p);
  if (lead < 0x20 || lead == 0x7f) return 0;
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || static_cast<std::size_t>(end - p) < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((static_cast<unsigned char>(p[i]) & 0xc0) != 0x80) return 0;
  }
  return bytes;
}

void check_word(const files::TextFile& file, const files::TextBlock& block, const Cell& cell) {
  if (cell.text.empty()) file.fail(block, cell.at, "an empty cell where a vertex id must stand");
  const char* const end = cell.text.data() + cell.text.size();
  for (const char* p = cell.text.data(); p < end;) {
    const std::size_t bytes = character_bytes(p, end);
    if (bytes == 0) {
      file.fail(block, cell.at,
                fmt::format("{} is not a word in UTF-8; is this a text file? Save it as UTF-8",
                            files::quoted(cell.text)));
    }
    p += bytes;
  }
}

}  // namespace

const char* CellSplitter::pass_blanks(const char* p, const char* end) const {
  while (p < end && files::is_blank(*p) && (*p != separator_ || separator_ == ' ')) ++p;
  return p;
}

// The cell whose opening quote stands at `p`. Two quotes within stand for one.
const char* CellSplitter::take_quoted(const files::TextBlock& block, const char* p,
                                      const char* end) {
  const char* const begin = ++p;
  bool is_escaped = false;
  for (; p < end && (*p != '"' || (p + 1 < end && p[1] == '"')); ++p) {
    if (*p != '"') continue;
    ++p;
    is_escaped = true;
  }
  if (p >= end) file_.fail(block, begin, "a quote is opened and not closed on its line");
  std::string_view text(begin, static_cast<std::size_t>(p - begin));
  if (is_escaped) {
    std::string& whole = unescaped_.emplace_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      whole += text[i];
      if (text[i] == '"') ++i;
    }
    text = whole;
  }
  cells_.push_back({text, begin});
  return p + 1;
}

std::span<const Cell> CellSplitter::split(const files::TextBlock& block, std::string_view line) {
  cells_.clear();
  unescaped_.clear();
  const char* p = line.data();
  const char* const end = p + line.size();
  for (;;) {
    p = pass_blanks(p, end);
    if (separator_ == ' ' && p == end) break;
    if (p < end && *p == '"') {
      p = pass_blanks(take_quoted(block, p, end), end);
      const bool is_end = p == end || *p == separator_;
      if (!is_end && (separator_ != ' ' || !files::is_blank(p[-1]))) {
        file_.fail(block, p,
                   fmt::format("{} behind a closed quote",
                               files::quoted({p, static_cast<std::size_t>(end - p)})));
      }
    } else {
      const char* const begin = p;
      while (p < end && *p != separator_ && !(separator_ == ' ' && files::is_blank(*p))) ++p;
      cells_.push_back({trimmed({begin, static_cast<std::size_t>(p - begin)}), begin});
    }
    if (separator_ == ' ') continue;
    if (p == end) break;
    ++p;
  }
  return cells_;
}

std::optional<CellLayout> find_layout(files::TextFile& file, const CellHints& hints) {
  std::vector<std::string> lines;  // The first two with data.
  std::vector<std::uint64_t> before;
  file.read_head([&](const files::TextBlock& block) {
    for_each_line(block, [&](std::string_view line) {
      file.check_line(block, line);
      if (!trimmed(line).empty() && !is_comment(line)) {
        lines.emplace_back(without_tail(line));
        before.push_back(file.line_of(block, line.data()) - 1);
      }
      return lines.size() < 2;
    });
    return lines.size() < 2 ? block.end : block.begin;
  });
  // All of the text is data: comments count.
  file.read_head([](const files::TextBlock& block) { return block.begin; });
  if (lines.empty()) return std::nullopt;
  if (is_plain(lines[0]) && !hints.are_words && !hints.has_headings.value_or(false))
    return std::nullopt;

  CellLayout layout;
  layout.separator = separator_of(trimmed(lines[0]));
  std::vector<std::vector<Cell>> cells;
  std::vector<CellSplitter> splitters(lines.size(), CellSplitter(file, layout.separator));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const files::TextBlock block{lines[i].data(), lines[i].data() + lines[i].size(), before[i]};
    const auto split = without_empty_tail(splitters[i].split(block, lines[i]));
    cells.emplace_back(split.begin(), split.end());
  }
  const std::vector<Cell> second = cells.size() > 1 ? cells[1] : std::vector<Cell>{};
  const bool is_headed =
      are_words(cells[0]) && ((source_column(cells[0]) && target_column(cells[0])) ||
                              are_numbers(second) || is_weight_headed(cells[0], second));
  const bool has_headings = hints.has_headings.value_or(is_headed);
  if (has_headings) {
    layout.headings = lines[0];
    choose_columns(file, cells[0], layout);
  } else {
    layout.is_weighted = cells[0].size() > kIds;
  }
  const std::vector<Cell> ids = taken(has_headings ? second : cells[0], layout);
  layout.are_words = hints.are_words || (hints.may_be_words && are_words(ids));
  layout.may_have_headings = !has_headings && !hints.has_headings;
  return layout;
}

files::TextBlock CellReader::plain(const files::TextBlock& block) {
  text_.clear();
  for_each_line(block, [&](std::string_view line) {
    write_line(block, line);
    text_ += '\n';
    return true;
  });
  // The last line may lack its end, as it did.
  if (block.end > block.begin && block.end[-1] != '\n') text_.pop_back();
  const std::size_t size = text_.size();
  text_.append(files::MappedFile::kPadding, '\0');
  return {text_.data(), text_.data() + size, block.lines_before, block.begin};
}

void CellReader::write_line(const files::TextBlock& block, std::string_view line) {
  line = without_tail(line);
  if (line == layout_.headings) return;
  if (is_comment(line)) {
    text_ += line;
    return;
  }
  if (trimmed(line).empty()) return;
  const std::span<const Cell> cells = without_empty_tail(splitter_.split(block, line));
  const std::size_t count = layout_.take.empty() ? cells.size() : layout_.take.size();
  for (std::size_t column = 0; column < count; ++column) {
    const std::size_t i = layout_.take.empty() ? column : layout_.take[column];
    if (i >= cells.size()) break;  // The scanner says what is missing.
    write_cell(block, cells[i], column);
  }
}

void CellReader::write_cell(const files::TextBlock& block, const Cell& cell, std::size_t column) {
  if (column > 0) text_ += ' ';
  if (column < kIds && words_ != nullptr) {
    check_word(file_, block, cell);
    const std::optional<std::uint64_t> number = words_->find(cell.text);
    if (!number) file_.fail(block, cell.at, "the file changed while it was read");
    text_ += std::to_string(*number);
    return;
  }
  const char* what = column < kIds ? "a vertex id" : "a weight";
  if (cell.text.empty())
    file_.fail(block, cell.at, fmt::format("an empty cell where {} must stand", what));
  const bool is_odd = (column == 0 && is_comment(cell.text)) ||
                      std::any_of(cell.text.begin(), cell.text.end(), files::is_token_end);
  if (cell.text.find('\0') != cell.text.npos)
    file_.fail(block, cell.at, "a NUL byte; this is not a text file");
  if (is_odd)
    file_.fail(block, cell.at,
               fmt::format("{} is not {}{}", files::quoted(cell.text), what,
                           column < kIds ? "; of a list whose ids are words, --ids words reads all "
                                           "as such"
                                         : ""));
  text_ += cell.text;
}

WordIds gather_words(const files::TextFile& file, const CellLayout& layout) {
  WordIds words;
  std::string first_line;  // With data.
  std::uint64_t lines = 0, met_again = 0;
  CellSplitter splitter(file, layout.separator);
  for (std::uint64_t piece = 0; piece < file.pieces(); ++piece) {
    file.for_each_block(piece, [&](const files::TextBlock& block) {
      for_each_line(block, [&](std::string_view line) {
        line = without_tail(line);
        if (trimmed(line).empty() || is_comment(line) || line == layout.headings) return true;
        const std::vector<Cell> ids = taken(splitter.split(block, line), layout);
        if (lines++ == 0) first_line = line;
        for (std::size_t i = 0; i < std::min(kIds, ids.size()); ++i) {
          check_word(file, block, ids[i]);
          const std::uint64_t number = words.add(ids[i].text);
          if (lines > 1 && number < kIds) ++met_again;
        }
        return true;
      });
    });
  }
  if (layout.may_have_headings && lines > 1 && met_again == 0) {
    log_warning(
        fmt::format("{}: the first line, {}, is read as an edge, though no other line has "
                    "its ids: --headings yes reads it as headings, --headings no as an edge "
                    "without this warning",
                    file.path(), files::quoted(first_line)));
  }
  return words;
}

}  // namespace warren::graph::io
