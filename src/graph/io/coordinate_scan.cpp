// SPDX-License-Identifier: Apache-2.0
// What is said about lines that cannot be read.
#include "graph/io/coordinate_scan.hpp"

#include <algorithm>
#include <cctype>

namespace warren::graph::io::detail {
namespace {

bool at_line_end(const char* p, const files::TextBlock& block) {
  return pass_line_end(p, block.end) != nullptr;
}

}  // namespace

void refuse_id(const files::TextFile& file, const files::TextBlock& block, const LineSyntax& syntax,
               const char* at) {
  std::string message = fmt::format("vertex id {} is out of range; ids go from {} to {}",
                                    files::quoted_token(at), syntax.base, syntax.largest);
  // What makes room for large ids makes none for negative ones.
  if (!syntax.largest_because.empty() && *at != '-') message += ", since " + syntax.largest_because;
  file.fail(block, at, message);
}

void refuse_id_token(const files::TextFile& file, const files::TextBlock& block,
                     const LineSyntax& syntax, const char* at) {
  if (at_line_end(at, block))
    file.fail(block, at, "the line ends early; it must hold " + syntax.columns);
  if (*at == '-' && files::is_digit(at[1])) refuse_id(file, block, syntax, at);
  const char* end = files::skip_token(at);
  if (end < block.end && *end == '\0') file.fail(block, at, "a NUL byte; this is not a text file");
  if (end > at && std::all_of(at, end, files::is_digit))  // An id, and the only one of its line.
    file.fail(block, at, "the line ends early; it must hold " + syntax.columns);
  file.fail(
      block, at,
      fmt::format("{} is not a vertex id; the line must hold {}, with blanks or tabs between{}",
                  files::quoted_token(at), syntax.columns, syntax.id_cure));
}

void refuse_weight(const files::TextFile& file, const files::TextBlock& block,
                   const LineSyntax& syntax, const char* at, bool integer) {
  if (at_line_end(at, block))
    file.fail(block, at, "the line has no weight; it must hold " + syntax.columns);
  if (*at == '\0') file.fail(block, at, "a NUL byte; this is not a text file");
  std::string right = "a weight is a finite number within the range of float32";
  if (integer && !syntax.integers_because.empty()) {
    right = "a weight is an integer of 32 bits, since " + syntax.integers_because;
  } else if (integer) {
    right =
        "a weight is an integer of 32 bits (a decimal point in any line's makes all of them real "
        "numbers)";
  }
  const bool is_word = (std::isalpha(static_cast<unsigned char>(*at)) != 0 || *at == '"');
  if (is_word) right += syntax.weight_cure;
  file.fail(block, at, fmt::format("{} is not a weight; {}", files::quoted_token(at), right));
}

void refuse_negative(const files::TextFile& file, const files::TextBlock& block,
                     const LineSyntax& syntax, const ScannedEdge& edge, const char* at) {
  const auto id = [&](std::uint64_t number) {
    return syntax.words == nullptr ? std::to_string(number) : syntax.words->word(number);
  };
  file.fail(block, at,
            fmt::format("the edge from {} to {} has the weight {}{}; weights of 0 and above are "
                        "needed here",
                        id(edge.source), id(edge.target), files::quoted_token(at),
                        syntax.mirrors_are_negated ? ", and its reverse the opposite" : ""));
}

void refuse_line_end(const files::TextFile& file, const files::TextBlock& block,
                     const LineSyntax& syntax, const char* at) {
  if (*at == '\0') file.fail(block, at, "a NUL byte; this is not a text file");
  if (*at == '\r')
    file.fail(block, at, "a carriage return within a line; lines end with LF or CR LF");
  file.fail(block, at,
            fmt::format("{} is more than the line may hold: {}", files::quoted_token(at),
                        syntax.columns));
}

}  // namespace warren::graph::io::detail
