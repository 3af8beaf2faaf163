// SPDX-License-Identifier: Apache-2.0
// The one grammar that edge lists, Matrix Market entries and DIMACS arcs share: lines of two
// numbers and perhaps a weight, with comments, blank lines, and LF or CR LF as line ends. The loop
// costs a few cycles a byte; everything unusual is out of line.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "warren/files/number.hpp"
#include "warren/files/text_file.hpp"

#include "graph/io/word_ids.hpp"

namespace warren::graph::io {

enum class WeightColumn { none, int32, float32, decimal, ignored, complex_ignored };

/// How the lines of a format look, apart from what the scanner is compiled for.
struct LineSyntax {
  std::uint64_t base = 0;          ///< Id of the first vertex.
  std::uint64_t largest = 0;       ///< Largest id.
  bool arcs = false;               ///< Lines begin with "a" (DIMACS), comments with "c".
  std::string columns;             ///< What a line holds, for messages: "two vertex ids".
  std::string id_cure;             ///< What helps where an id is none; begins with "; ".
  std::string weight_cure;         ///< Where a word stands for a weight.
  std::string largest_because;     ///< Why there is none larger: "the header announces 7 vertices".
  const WordIds* words = nullptr;  ///< What ids stand for.
  std::string integers_because;    ///< Why weights are integers, and what else could be done.
  bool no_negative_weights = false;
  bool drops_self_loops = false;  ///< Whose weights may be negative.
  /// An edge stands for its reverse, too, with the opposite weight.
  bool mirrors_are_negated = false;
  /// What an integer past 32 bits is where the format leaves the type of weights open.
  enum class Large { refused, read_as_float, asked_about, passed } large = Large::asked_about;
};

struct ScannedEdge {
  std::uint64_t source;  ///< As in the file.
  std::uint64_t target;
  std::int32_t weight_int;
  float weight_float;
  double weight_real;  ///< Of a real weight, as it stands in the file.
  const char* at;      ///< Somewhere on the edge's line.
};

/// A weight with a decimal point where integers were expected so far. Only where the format leaves
/// the type open.
struct FloatWeightMet {};
/// An integer past 32 bits there: right if a float follows, else an error.
struct LargeWeightMet {};

namespace detail {

[[noreturn]] void refuse_id(const files::TextFile& file, const files::TextBlock& block,
                            const LineSyntax& syntax, const char* at);
[[noreturn]] void refuse_id_token(const files::TextFile& file, const files::TextBlock& block,
                                  const LineSyntax& syntax, const char* at);
[[noreturn]] void refuse_weight(const files::TextFile& file, const files::TextBlock& block,
                                const LineSyntax& syntax, const char* at, bool integer);
[[noreturn]] void refuse_negative(const files::TextFile& file, const files::TextBlock& block,
                                  const LineSyntax& syntax, const ScannedEdge& edge,
                                  const char* at);
[[noreturn]] void refuse_line_end(const files::TextFile& file, const files::TextBlock& block,
                                  const LineSyntax& syntax, const char* at);

/// Past the line end that `p` stands at; nullptr if it does not stand at one.
[[nodiscard]] inline const char* pass_line_end(const char* p, const char* end) {
  if (*p == '\n' || p >= end) return p + 1;
  if (*p == '\r' && (p[1] == '\n' || p + 1 >= end)) return p + 2;
  return nullptr;
}
[[nodiscard]] inline const char* pass_line(const char* p, const char* end) {
  const void* line_end = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return line_end == nullptr ? end : static_cast<const char*>(line_end) + 1;
}

template <WeightColumn kColumn>
[[nodiscard]] bool is_negative(const LineSyntax& syntax, const ScannedEdge& edge) {
  const auto is_so = [&](auto weight) {
    return weight < 0 || (syntax.mirrors_are_negated && weight > 0);
  };
  if constexpr (kColumn == WeightColumn::int32) return is_so(edge.weight_int);
  return is_so(edge.weight_float);
}

/// Reads the weight of a line at `p` into `edge` and returns where it ends.
template <WeightColumn kColumn>
const char* scan_weight(const files::TextFile& file, const files::TextBlock& block,
                        const LineSyntax& syntax, bool typed, const char* p, ScannedEdge& edge) {
  const char* q;
  if constexpr (kColumn == WeightColumn::int32) {
    using Large = LineSyntax::Large;
    q = files::parse_int32(p, edge.weight_int);
    if (q == nullptr && !typed &&
        files::parse_float(p, edge.weight_float, edge.weight_real) != nullptr)
      throw FloatWeightMet{};
    if (q == p && !typed && !files::is_token_end(*p)) [[unlikely]] {
      if (syntax.large == Large::read_as_float) throw FloatWeightMet{};
      if (syntax.large == Large::asked_about) throw LargeWeightMet{};
      if (syntax.large == Large::passed) q = files::skip_token(p);
    }
  } else {
    q = files::parse_float(p, edge.weight_float, edge.weight_real);
  }
  if (q == nullptr || q == p) [[unlikely]]
    refuse_weight(file, block, syntax, p, kColumn == WeightColumn::int32);
  if constexpr (kColumn == WeightColumn::int32 || kColumn == WeightColumn::float32) {
    if (syntax.no_negative_weights && is_negative<kColumn>(syntax, edge) &&
        !(syntax.drops_self_loops && edge.source == edge.target)) [[unlikely]]
      refuse_negative(file, block, syntax, edge, p);
  }
  return q;
}

}  // namespace detail

/// Calls on_edge(ScannedEdge) for every edge of the block and on_comment(where) for every comment.
/// `typed` is whether the format says that weights are integers; otherwise a weight that is none
/// throws FloatWeightMet. Throws InputError.
template <WeightColumn kColumn, bool kArcs, class OnEdge, class OnComment>
void scan_coordinates(const files::TextFile& file, const files::TextBlock& block,
                      const LineSyntax& syntax, bool typed, OnEdge&& on_edge,
                      OnComment&& on_comment) {
  const char* p = block.begin;
  const char* const end = block.end;
  const std::uint64_t base = syntax.base, range = syntax.largest - syntax.base;
  ScannedEdge edge{};
  while (p < end) {
    if (kArcs || !files::is_digit(*p)) {
      p = files::skip_blanks(p);
      if (const char* next = detail::pass_line_end(p, end)) {
        p = next;
        continue;
      }
      const bool comment = kArcs ? *p == 'c' : *p == '#' || *p == '%';
      if (comment) {
        on_comment(p);
        p = detail::pass_line(p, end);
        continue;
      }
      if constexpr (kArcs) {
        if (*p != 'a' || !files::is_blank(p[1])) {
          file.fail(
              block, p,
              fmt::format("{} begins the line; lines begin with 'a' (an arc) or 'c' (a comment)",
                          files::quoted_token(p)));
        }
        p = files::skip_blanks(p + 1);
      }
    }
    edge.at = p;
    const char* q = files::parse_unsigned(p, edge.source);
    if (q == p || !files::is_blank(*q)) [[unlikely]]
      detail::refuse_id_token(file, block, syntax, p);
    if (edge.source - base > range) [[unlikely]]
      detail::refuse_id(file, block, syntax, p);
    p = files::skip_blanks(q);
    q = files::parse_unsigned(p, edge.target);
    if (q == p || !files::is_token_end(*q)) [[unlikely]]
      detail::refuse_id_token(file, block, syntax, p);
    if (edge.target - base > range) [[unlikely]]
      detail::refuse_id(file, block, syntax, p);
    p = q;
    if constexpr (kColumn != WeightColumn::none) {
      p = detail::scan_weight<kColumn>(file, block, syntax, typed, files::skip_blanks(p), edge);
      if constexpr (kColumn == WeightColumn::complex_ignored)
        p = detail::scan_weight<kColumn>(file, block, syntax, typed, files::skip_blanks(p), edge);
    }
    if (*p == '\n') [[likely]] {
      ++p;
    } else {
      p = files::skip_blanks(p);
      const char* next = detail::pass_line_end(p, end);
      if (next == nullptr) detail::refuse_line_end(file, block, syntax, p);
      p = next;
    }
    on_edge(edge);
  }
}

}  // namespace warren::graph::io
