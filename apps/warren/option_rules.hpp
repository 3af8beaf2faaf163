// SPDX-License-Identifier: Apache-2.0
// For what gives a command its options. Apart from options.hpp, as the parser's header is long.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

namespace warren::app {

/// A validator that says what would be right.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);

/// Adds an option that takes a whole number of [low, high], written in full.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value,
                        const std::string& description, const std::string& type_name,
                        std::uint64_t low, std::uint64_t high) {
  return command.add_option(name, value, description)
      ->type_name(type_name)
      ->check(whole_number(low, high));
}

}  // namespace warren::app
