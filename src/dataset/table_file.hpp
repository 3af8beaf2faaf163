// SPDX-License-Identifier: Apache-2.0
// Features and labels as spreadsheets and data frames are saved: .csv, perhaps with headings and a
// column of vertex ids, perhaps compressed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "warren/dataset/dataset.hpp"

namespace warren::learn {

/// A file of lines of cells between commas, semicolons or tabs, whichever the first line has. The
/// first line is one of headings where a cell of it is no number, or nothing and 0, 1, ... A first
/// column with the heading id, vertex, node, index, vertex_id, node_id or none holds the vertices'
/// ids; otherwise the lines are the vertices in order.
class TableFile {
 public:
  /// Reads the file, of .csv.gz and .csv.zst inflated. Throws InputError, MemoryError.
  explicit TableFile(std::string path);
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  [[nodiscard]] bool has_ids() const { return has_ids_; }
  /// Without the one of ids.
  [[nodiscard]] std::uint64_t columns() const { return columns_; }
  /// Lines below the headings that are not empty.
  [[nodiscard]] std::uint64_t rows() const;
  /// The largest id plus one; without ids, rows(). Throws InputError for what is no id.
  [[nodiscard]] std::uint64_t vertices() const;

  struct Row {
    std::uint64_t line = 0;  ///< From 1.
    std::uint64_t vertex = 0;
    std::vector<double> values;  ///< columns(); NaN of an empty cell.
  };
  /// f(row) for every line, of which each vertex below `vertices` has one at most. How many lines.
  /// Throws InputError by line and column for what is no number, lines of another length, ids out
  /// of range or met before, and without ids another number of lines.
  template <class F>
  std::uint64_t each_row(std::uint64_t vertices, F&& f) const;

  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const;
  /// "column 2 (\"age\")".
  [[nodiscard]] std::string column_name(std::uint64_t column) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Line {
    std::uint64_t number = 0;
    std::string_view text;
  };
  void split_lines();
  [[nodiscard]] std::vector<std::string_view> cells(std::string_view line) const;
  [[nodiscard]] std::uint64_t id_of(const Line& line, std::string_view cell,
                                    std::uint64_t end) const;
  /// Fills all of `row` but the vertex of a table without ids.
  void read_row(const Line& line, std::uint64_t vertices, Row& row) const;
  void check_rows(std::uint64_t vertices) const;

  std::string path_, text_;
  char separator_ = ',';
  std::vector<Line> lines_;
  std::vector<std::string> headings_;
  bool has_ids_ = false;
  std::uint64_t columns_ = 0;
};

template <class F>
std::uint64_t TableFile::each_row(std::uint64_t vertices, F&& f) const {
  check_rows(vertices);
  std::vector<std::uint64_t> line_of(has_ids_ ? vertices : 0, 0);
  Row row;
  for (std::uint64_t i = 0; i < lines_.size(); ++i) {
    row.vertex = i;
    read_row(lines_[i], vertices, row);
    if (has_ids_) {
      if (line_of[row.vertex] != 0)
        fail(row.line, "vertex " + std::to_string(row.vertex) + " stands in line " +
                           std::to_string(line_of[row.vertex]) + " already");
      line_of[row.vertex] = row.line;
    }
    f(row);
  }
  return lines_.size();
}

/// features.csv: a row of finite numbers for every vertex. Throws InputError as each_row(), and for
/// a vertex without a line.
void read_table_features(const std::string& path, Dataset& dataset);

/// labels.csv: one column, a class for each vertex, none where a cell is empty, NaN or -1, or where
/// a table with ids leaves a vertex out; or several columns of 0 and 1 (or False and True). Throws
/// likewise.
void read_table_labels(const std::string& path, Dataset& dataset);

}  // namespace warren::learn
