// SPDX-License-Identifier: Apache-2.0
// Decimal numbers from text, eight characters at a time: a word is loaded, the digits at its front
// are found by one comparison of all bytes, and three multiplications add them up by pairs, fours
// and eights (Lemire, "Quickly parsing eight digits"). Callers guarantee eight readable bytes past
// every position they pass.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace warren::files {

static_assert(std::endian::native == std::endian::little,
              "text and binary formats are read as little-endian words");

inline constexpr std::uint64_t kTooLarge = std::numeric_limits<std::uint64_t>::max();

[[nodiscard]] inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
[[nodiscard]] inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// Ends a token: a blank, a line end, or a NUL (which also stands after the last byte of a text).
[[nodiscard]] inline bool is_token_end(char c) {
  return is_blank(c) || c == '\n' || c == '\r' || c == '\0';
}

[[nodiscard]] inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}
[[nodiscard]] inline const char* skip_token(const char* p) {
  while (!is_token_end(*p)) ++p;
  return p;
}

/// Reads the digits at `p` into `value` and returns where they end: `p` itself where there are
/// none. Numbers past 2^64 - 2 become kTooLarge.
[[nodiscard]] inline const char* parse_unsigned(const char* p, std::uint64_t& value) {
  std::uint64_t total = 0;
  bool first = true;
  for (;;) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof(word));
    std::uint64_t digits =
        word ^
        0x3030303030303030ull;  // '0' .. '9' become 0 .. 9, everything else something larger.
    // A carry out of a byte only reaches bytes behind the first that is no digit.
    const std::uint64_t other = ((digits + 0x7676767676767676ull) | digits) & 0x8080808080808080ull;
    const int count = other == 0 ? 8 : std::countr_zero(other) >> 3;
    // Digits move to the upper end; zeros come in before them as leading zeros.
    if (count == 0) {
      digits = 0;
    } else {
      digits <<= 64 - 8 * count;
    }
    digits = digits * 10 + (digits >> 8);
    digits = ((digits & 0x00ff00ff00ff00ffull) * ((100ull << 16) + 1)) >> 16;
    digits = ((digits & 0x0000ffff0000ffffull) * ((10000ull << 32) + 1)) >> 32;
    p += count;
    if (first) {
      total = digits;
    } else {
      static constexpr std::uint64_t kPowers[9] = {1,      10,      100,      1000,     10000,
                                                   100000, 1000000, 10000000, 100000000};
      std::uint64_t scaled;
      if (__builtin_mul_overflow(total, kPowers[count], &scaled) ||
          __builtin_add_overflow(scaled, digits, &total)) {
        total = kTooLarge;
      }
    }
    if (count < 8) break;
    first = false;
  }
  value = total;
  return p;
}

/// Reads the integer token at `p`. Returns where it ends, or nullptr if the token is no integer, or
/// `p` if it does not fit.
[[nodiscard]] inline const char* parse_int32(const char* p, std::int32_t& value) {
  const char* q = p;
  const bool negative = *q == '-';
  if (negative || *q == '+') ++q;
  std::uint64_t magnitude;
  const char* end = parse_unsigned(q, magnitude);
  if (end == q || !is_token_end(*end)) return nullptr;
  if (magnitude > 0x7fffffffull + (negative ? 1 : 0)) return p;
  value = static_cast<std::int32_t>(negative ? -static_cast<std::int64_t>(magnitude)
                                             : static_cast<std::int64_t>(magnitude));
  return end;
}

/// Reads the finite number at `p`. Returns where it ends, or nullptr if the token is no number, or
/// `p` if it is not finite as float32. `wide` is the number in double precision.
[[nodiscard]] inline const char* parse_float(const char* p, float& value, double& wide) {
  const char* first = *p == '+' && p[1] != '-' ? p + 1 : p;
  const char* last = skip_token(first);
  wide = 0.0;  // A value below float's range is zero or denormal, and no error.
  const auto [end, error] = std::from_chars(first, last, wide);
  if (end != last || first == last || error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    // Too small or too large: the exponent's sign tells.
    if (std::string_view(first, static_cast<std::size_t>(last - first)).find("e-") ==
            std::string_view::npos &&
        std::string_view(first, static_cast<std::size_t>(last - first)).find("E-") ==
            std::string_view::npos) {
      return p;
    }
    wide = 0.0;
  }
  if (!(std::fabs(wide) <= static_cast<double>(std::numeric_limits<float>::max()))) return p;
  value = static_cast<float>(wide);
  return last;
}

/// Bytes from a file as they may stand in a message: in quotes, at most 24 of them, as
/// printable() has them.
[[nodiscard]] std::string quoted(std::string_view bytes);
/// The token at `p`, quoted.
[[nodiscard]] std::string quoted_token(const char* p);

}  // namespace warren::files
