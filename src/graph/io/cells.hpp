// SPDX-License-Identifier: Apache-2.0
// Edge lists as tables: cells between commas, semicolons or tabs, perhaps in quotes, perhaps under
// a line of headings, with ids that may be words. Such lines are written anew as the plain lines of
// numbers that the scanner reads, one for one, so that line numbers stay right.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "warren/files/text_file.hpp"

#include "graph/io/word_ids.hpp"

namespace warren::graph::io {

/// What the first lines of a table tell.
struct CellLayout {
  char separator = ' ';            ///< ' ' stands for blanks and tabs.
  std::string headings;            ///< The line that has them; empty where there is none.
  bool are_words = false;          ///< The ids.
  bool is_weighted = false;        ///< There is a column of weights.
  bool may_have_headings = false;  ///< Nothing shows them, and nobody said that there are none.
  std::vector<std::size_t> take;   ///< Which cells are source, target and weight; empty: all cells,
                                   ///< as they stand.
};

/// What is known of a table before it is looked at.
struct CellHints {
  bool are_words = false;            ///< Ids are words, whatever the first line looks like.
  bool may_be_words = false;         ///< Somebody takes the words.
  std::optional<bool> has_headings;  ///< Whether there is a line of headings.
};

/// Looks at the first lines. Nothing for a plain list: numbers with blanks or tabs between. Throws
/// InputError.
[[nodiscard]] std::optional<CellLayout> find_layout(files::TextFile& file, const CellHints& hints);

struct Cell {
  std::string_view text;  ///< Without the quotes.
  const char* at;         ///< Where it stands in the block.
};

/// Cuts lines into cells. The cells of a line are valid until the next one is cut.
class CellSplitter {
 public:
  CellSplitter(const files::TextFile& file, char separator) : file_(file), separator_(separator) {}
  /// `line` lies within the block and has no line end. Throws InputError for quotes that do not
  /// match.
  [[nodiscard]] std::span<const Cell> split(const files::TextBlock& block, std::string_view line);

 private:
  const char* take_quoted(const files::TextBlock& block, const char* p, const char* end);
  [[nodiscard]] const char* pass_blanks(const char* p, const char* end) const;

  const files::TextFile& file_;
  char separator_;
  std::vector<Cell> cells_;
  std::deque<std::string> unescaped_;  // Texts with quotes in them.
};

/// Writes the lines of a table as plain ones. One for each thread.
class CellReader {
 public:
  /// `words` is nullptr where ids are numbers. All must outlive the reader.
  CellReader(const files::TextFile& file, const CellLayout& layout, const WordIds* words)
      : file_(file), layout_(layout), words_(words), splitter_(file, layout.separator) {}

  /// The block's lines. Valid until the next call. Throws InputError.
  [[nodiscard]] files::TextBlock plain(const files::TextBlock& block);

 private:
  void write_line(const files::TextBlock& block, std::string_view line);
  void write_cell(const files::TextBlock& block, const Cell& cell, std::size_t column);

  const files::TextFile& file_;
  const CellLayout& layout_;
  const WordIds* words_;
  CellSplitter splitter_;
  std::string text_;
};

/// The words that are ids in the file. Warns of a first line that is read as an edge and looks like
/// headings. Throws InputError.
[[nodiscard]] WordIds gather_words(const files::TextFile& file, const CellLayout& layout);

}  // namespace warren::graph::io
