// SPDX-License-Identifier: Apache-2.0
// For what gives a command its options. Apart from options.hpp, as the parser's header is long.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace warren::app {

/// Of a dense matrix, and features of a vertex.
inline constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 24;

/// For Option::transform(): decimal digits, of a number of [low, high]. Says what would be right.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);
/// For Option::check(): a number of [low, high], and so neither infinite nor "nan".
[[nodiscard]] CLI::Validator real_number(double low, double high);
/// For Option::transform(): a number of bytes: whole, or with K, M, G, T (powers of 1024).
[[nodiscard]] CLI::Validator byte_count();

/// Adds an option that takes a whole number of [low, high], written in full.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value,
                        const std::string& description, const std::string& type_name,
                        std::uint64_t low, std::uint64_t high) {
  return command.add_option(name, value, description)
      ->type_name(type_name)
      ->transform(whole_number(low, high));
}

}  // namespace warren::app
