// SPDX-License-Identifier: Apache-2.0
// A .csv.gz file of numbers, as the Open Graph Benchmark packs them.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/text_lines.hpp"

#include "graph/io/decompressor.hpp"
#include "graph/io/mapped_file.hpp"

namespace warren::learn {

/// A file of numbers between commas and line ends, inflated.
class CsvFile {
 public:
  explicit CsvFile(std::string path) : path_(std::move(path)) {
    const graph::io::MappedFile file(path_);
    const auto stream = graph::io::make_decompressor(file, graph::io::Compression::gzip);
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
    for (;;) {
      const std::size_t before = text_.size();
      text_.resize(before + kPiece);
      const std::uint64_t got = stream->read(text_.data() + before, kPiece);
      text_.resize(before + got);
      if (got == 0) break;
    }
    text_.erase(0, text_.size() - without_mark(text_).size());
  }

  /// f(line, column, value) for every number, NaN for one that is left out. All lines have as many
  /// columns as the first; how many lines there are.
  template <class F>
  std::uint64_t each(F&& f) const {
    std::uint64_t line = 0, column = 0, columns = 0;
    const char* p = text_.data();
    const char* const end = p + text_.size();
    while (p < end) {
      double value = 0.0;
      const auto [next, error] = std::from_chars(p, end, value);
      const bool is_nan = error != std::errc{} && (*p == ',' || *p == '\n');
      if (error != std::errc{} && !is_nan) fail(line, "a number would be right");
      f(line, column, is_nan ? std::nan("") : value);
      if (!is_nan) p = next;
      if (p < end && *p == '\r') ++p;
      if (p == end || *p == '\n') {
        if (line == 0) columns = column;
        if (column != columns)
          fail(line, fmt::format("as many numbers as in the first line ({}) would be right, not {}",
                                 columns + 1, column + 1));
        ++line;
        column = 0;
      } else if (*p == ',') {
        ++column;
      } else {
        fail(line, "numbers with commas between them would be right");
      }
      ++p;
    }
    if (column != 0) fail(line, "the file ends behind a comma; was it cut off?");
    return line;
  }
  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const {
    throw InputError(fmt::format("{}: line {}: {}", path_, line + 1, what));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_, text_;
};

}  // namespace warren::learn
