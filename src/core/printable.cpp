// SPDX-License-Identifier: Apache-2.0
#include "warren/core/printable.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace warren {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: there is no UTF-8 here.
};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0u) != 0x80u) return {};
    code = code << 6 | (next & 0x3fu);
  }
  // Longer than need be, halves of UTF-16 pairs, and what lies behind the last character.
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
  return {code, bytes};
}

bool is_printed(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  // Marks of the direction of writing, line and paragraph separators, overrides, isolates.
  const bool is_mark = code == 0x200e || code == 0x200f || code == 0x061c;
  const bool is_override = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !is_mark && !is_override;
}

void append_escaped(std::string& to, std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n') {
      to += "\\n";
    } else if (c == '\r') {
      to += "\\r";
    } else if (c == '\t') {
      to += "\\t";
    } else {
      to += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
}

std::string printable_but(std::string_view text, std::string_view kept) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const std::string_view bytes = text.substr(0, next.bytes == 0 ? 1 : next.bytes);
    const bool is_kept = kept.find(bytes.front()) != std::string_view::npos;
    if (is_kept || (next.bytes != 0 && is_printed(next.code))) {
      result += bytes;
    } else {
      append_escaped(result, bytes);
    }
    text.remove_prefix(bytes.size());
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return printable_but(text, ""); }
std::string printable_lines(std::string_view text) { return printable_but(text, "\n\t"); }

}  // namespace warren
