// SPDX-License-Identifier: Apache-2.0
// Numbers, and lists of them, as options have them: "15,10,5".
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace warren {

/// A number and nothing else, as std::from_chars() reads it. Nothing for what is none, or is out of
/// the type's range.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || end != last) return std::nullopt;
  return number;
}

/// Numbers with a comma between each two, one or more. Nothing for what is no such list.
template <class Number>
[[nodiscard]] std::optional<std::vector<Number>> parse_numbers(std::string_view text) {
  std::vector<Number> numbers;
  const char* at = text.data();
  const char* const last = at + text.size();
  for (;;) {
    Number number{};
    const auto [end, error] = std::from_chars(at, last, number);
    if (error != std::errc{} || (end != last && *end != ',')) return std::nullopt;
    numbers.push_back(number);
    if (end == last) return numbers;
    at = end + 1;
  }
}

}  // namespace warren
