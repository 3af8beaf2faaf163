// SPDX-License-Identifier: Apache-2.0
// A .csv.gz file of numbers, as the Open Graph Benchmark packs them.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/text_file.hpp"

namespace warren::learn {

/// A file of numbers between commas and line ends. Every reading inflates it anew, some lines at a
/// time: its text is never in memory as a whole.
class CsvFile {
 public:
  explicit CsvFile(const std::string& path) : file_(path, files::Compression::gzip, kLongestLine) {}

  /// f(line, column, value) for every number, NaN for one that is left out. All lines have as many
  /// columns as the first; how many lines there are. f may throw, and nothing more is read.
  template <class F>
  std::uint64_t each(F&& f) const {
    std::uint64_t line = 0, column = 0, columns = 0;
    file_.for_each_block(0, [&](const files::TextBlock& block) {
      const char* p = block.begin;
      const char* const end = block.end;
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
            fail(line,
                 fmt::format("as many numbers as in the first line ({}) would be right, not {}",
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
    });
    if (column != 0) fail(line, "the file ends behind a comma; was it cut off?");
    return line;
  }
  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const {
    throw InputError(fmt::format("{}: line {}: {}", path(), line + 1, what));
  }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

 private:
  static constexpr std::uint64_t kLongestLine = std::uint64_t{16} << 20;

  files::TextFile file_;
};

}  // namespace warren::learn
