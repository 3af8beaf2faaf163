// SPDX-License-Identifier: Apache-2.0
#include "dataset/table_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/text_lines.hpp"
#include "warren/files/decompressor.hpp"
#include "warren/files/mapped_file.hpp"

#include "dataset/dataset_arrays.hpp"
#include "dataset/free_memory.hpp"

namespace warren::learn {
namespace {

std::string read_all(const std::string& path) {
  const files::MappedFile file(path);
  if (path.ends_with(".csv")) return {file.data(), file.size()};
  const auto stream = files::make_decompressor(
      file, path.ends_with(".gz") ? files::Compression::gzip : files::Compression::zstd);
  std::string text;
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  for (;;) {
    const std::size_t before = text.size();
    if (text.capacity() - before < kPiece) {
      const std::size_t capacity = std::max<std::size_t>(2 * text.capacity(), 4 * kPiece);
      check_free_memory(path, capacity);
      text.reserve(capacity);
    }
    text.resize(before + kPiece);
    const std::uint64_t got = stream->read(text.data() + before, kPiece);
    text.resize(before + got);
    if (got == 0) return text;
  }
}

/// Without blanks and quotes around it.
std::string_view bare(std::string_view cell) {
  const auto trim = [&] {
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
  };
  trim();
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
    cell = cell.substr(1, cell.size() - 2);
    trim();
  }
  return cell;
}

/// NaN of an empty cell; nothing for what is no number.
std::optional<double> number_of(std::string_view cell) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (cell == "True" || cell == "TRUE" || cell == "true") return 1.0;
  if (cell == "False" || cell == "FALSE" || cell == "false") return 0.0;
  if (cell.front() == '+') cell.remove_prefix(1);
  double value = 0.0;
  const char* const end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool names_ids(std::string_view heading) {
  std::string lower(heading);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  static constexpr std::array<std::string_view, 7> kNames = {"",      "id",        "vertex", "node",
                                                             "index", "vertex_id", "node_id"};
  return std::ranges::find(kNames, lower) != kNames.end();
}

/// A cell that is no number, or what pandas writes over columns that have no names: nothing over
/// the index, and 0, 1, ...
bool are_headings(const std::vector<std::string_view>& cells) {
  const auto is_number = [](std::string_view cell) { return number_of(cell).has_value(); };
  if (!std::ranges::all_of(cells, is_number)) return true;
  if (cells.size() < 2 || !cells.front().empty()) return false;
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (cells[i] != std::to_string(i - 1)) return false;
  return true;
}

}  // namespace

TableFile::TableFile(std::string path) : path_(std::move(path)), text_(read_all(path_)) {
  split_lines();
  if (lines_.empty())
    throw InputError(path_ + ": the file is empty; a line for each vertex would be right");
  const std::string_view first = lines_.front().text;
  for (const char separator : {',', ';', '\t'}) {
    if (first.find(separator) == std::string_view::npos) continue;
    separator_ = separator;
    break;
  }
  const auto firsts = cells(first);
  columns_ = firsts.size();
  if (!are_headings(firsts)) return;
  headings_.assign(firsts.begin(), firsts.end());
  lines_.erase(lines_.begin());
  // A lone column is of values, whatever its name.
  has_ids_ = columns_ > 1 && names_ids(headings_.front());
  if (!has_ids_) return;
  headings_.erase(headings_.begin());
  --columns_;
}

/// Blanks at the ends may be cells between tabs: they stay.
void TableFile::split_lines() {
  std::string_view rest = without_mark(text_);
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    ensure_capacity(path_, lines_);
    lines_.push_back({number, line});
  }
}

std::uint64_t TableFile::rows() const { return lines_.size(); }

std::uint64_t TableFile::vertices() const {
  if (!has_ids_) return rows();
  std::uint64_t end = 0;
  for (const Line& line : lines_)
    end = std::max(
        end, 1 + id_of(line, bare(line.text.substr(0, line.text.find(separator_))), kMaxVertices));
  return end;
}

std::vector<std::string_view> TableFile::cells(std::string_view line) const {
  std::vector<std::string_view> found;
  for (;;) {
    const std::size_t end = line.find(separator_);
    ensure_capacity(path_, found);
    found.push_back(bare(line.substr(0, end)));
    if (end == std::string_view::npos) return found;
    line.remove_prefix(end + 1);
  }
}

std::uint64_t TableFile::id_of(const Line& line, std::string_view cell, std::uint64_t end) const {
  const auto id = number_of(cell);
  if (!id || !is_index(*id, end))
    fail(line.number,
         fmt::format("\"{}\" should be a vertex id from 0 to {}", cell.substr(0, 24), end - 1));
  return static_cast<std::uint64_t>(*id);
}

void TableFile::read_row(const Line& line, std::uint64_t vertices, Row& row) const {
  row.line = line.number;
  row.values.clear();
  std::string_view rest = line.text;
  for (std::uint64_t column = 0;; ++column) {
    const std::size_t end = rest.find(separator_);
    const std::string_view cell = bare(rest.substr(0, end));
    if (has_ids_ && column == 0) {
      row.vertex = id_of(line, cell, vertices);
    } else {
      const auto value = number_of(cell);
      if (!value)
        fail(line.number, fmt::format("{} is \"{}\"; a number would be right",
                                      column_name(row.values.size()), cell.substr(0, 24)));
      row.values.push_back(*value);
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (row.values.size() != columns_)
    fail(line.number,
         fmt::format("{} cells; as many as in the first line ({}) would be right",
                     row.values.size() + (has_ids_ ? 1 : 0), columns_ + (has_ids_ ? 1 : 0)));
}

void TableFile::check_rows(std::uint64_t vertices) const {
  if (has_ids_ || rows() == vertices) return;
  throw InputError(fmt::format(
      "{}: {} lines{}, but the graph has {} vertices; a line for each vertex would be right{}, or "
      "a first column \"id\" that says whose each line is",
      path_, rows(), headings_.empty() ? "" : " below the headings", vertices,
      headings_.empty() && rows() == vertices + 1 ? " (numbers in the first line are no headings)"
                                                  : ""));
}

void TableFile::fail(std::uint64_t line, const std::string& what) const {
  throw InputError(fmt::format("{}: line {}: {}", path_, line, printable(what)));
}

std::string TableFile::column_name(std::uint64_t column) const {
  const std::uint64_t number = column + 1 + (has_ids_ ? 1 : 0);
  if (column >= headings_.size()) return fmt::format("column {}", number);
  return fmt::format("column {} (\"{}\")", number, headings_[column].substr(0, 40));
}

void read_table_features(const std::string& path, Dataset& dataset) {
  const TableFile table(path);
  dataset.width = table.columns();
  check_free_memory(path, dataset.vertices * dataset.width * sizeof(float));
  dataset.dense.resize(dataset.vertices * dataset.width);
  std::vector<bool> is_met(dataset.vertices, false);
  const std::uint64_t rows = table.each_row(dataset.vertices, [&](const TableFile::Row& row) {
    is_met[row.vertex] = true;
    for (std::uint64_t c = 0; c < dataset.width; ++c) {
      if (!fits_float(row.values[c]))
        table.fail(
            row.line,
            fmt::format("{} is {}; features must be finite float32 values", table.column_name(c),
                        std::isnan(row.values[c]) ? std::string("empty or NaN")
                                                  : fmt::format("{}", row.values[c])));
      dataset.dense[row.vertex * dataset.width + c] = static_cast<float>(row.values[c]);
    }
  });
  if (rows == dataset.vertices) return;
  const auto missing = std::ranges::find(is_met, false) - is_met.begin();
  throw InputError(
      fmt::format("{}: there is no line of vertex {}; every vertex has features", path, missing));
}

void read_table_labels(const std::string& path, Dataset& dataset) {
  const TableFile table(path);
  if (table.columns() == 1) {
    dataset.labels.assign(dataset.vertices, -1);
    table.each_row(dataset.vertices, [&](const TableFile::Row& row) {
      const double label = row.values[0];
      take_class(dataset, row.vertex, std::isnan(label) ? -1.0 : label,
                 [&](const std::string& what) { table.fail(row.line, what); });
    });
    return check_classes(dataset, path);
  }
  dataset.loss = LossKind::binary;
  dataset.classes = table.columns();
  check_free_memory(path, dataset.vertices * dataset.classes * sizeof(float));
  dataset.targets.assign(dataset.vertices * dataset.classes, 0.0f);
  const std::uint64_t rows = table.each_row(dataset.vertices, [&](const TableFile::Row& row) {
    for (std::uint64_t c = 0; c < dataset.classes; ++c) {
      const double value = row.values[c];
      if (value != 0.0 && value != 1.0)
        table.fail(row.line, fmt::format("{} is {}; of several columns each is 0 or 1",
                                         table.column_name(c), value));
      dataset.targets[row.vertex * dataset.classes + c] = static_cast<float>(value);
    }
  });
  if (rows != dataset.vertices)
    throw InputError(
        fmt::format("{}: {} lines, but the graph has {} vertices; every vertex has a "
                    "line of 0 and 1",
                    path, rows, dataset.vertices));
}

}  // namespace warren::learn
