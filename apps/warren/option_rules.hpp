// SPDX-License-Identifier: Apache-2.0
// For what gives a command its options. Apart from options.hpp, as the parser's header is long.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "command.hpp"

namespace warren::app {

/// Of a dense matrix, and features of a vertex.
inline constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 24;

/// For Option::transform(): decimal digits, of a number of [low, high]. Says what would be right.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);
/// For Option::check(): a number of [low, high], and so neither infinite nor "nan".
[[nodiscard]] CLI::Validator real_number(double low, double high);
/// For Option::transform(): a number of bytes: whole, or with K, M, G, T (powers of 1024).
[[nodiscard]] CLI::Validator byte_count();

/// CLI::App's add_subcommand() of a command whose help ends with `examples`; with an action, it is
/// what is to be done where the command was named. In one place, since all of a parser is compiled
/// wherever one is made.
CLI::App* add_parser(CLI::App& parent, const std::string& name, const std::string& description,
                     const std::string& examples);
CLI::App* add_parser(CLI::App& parent, const std::string& name, const std::string& description,
                     const std::string& examples, Action& action, Action what);

/// A command's parser, and where its options go.
template <class Options>
struct Command {
  CLI::App& parser;
  Options& options;
};
/// Adds the command that is done by `run`.
template <class Options>
[[nodiscard]] Command<Options> add_command(CLI::App& parent, Action& action,
                                           const std::string& name, const std::string& description,
                                           const std::string& examples,
                                           ExitStatus (*run)(const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* parser = add_parser(parent, name, description, examples, action,
                                [options, run] { return run(*options); });
  return {*parser, *options};
}

/// Options that are added while this lives are shown under `name`.
class OptionGroup {
 public:
  OptionGroup(CLI::App& command, const std::string& name);
  ~OptionGroup();
  OptionGroup(const OptionGroup&) = delete;
  OptionGroup& operator=(const OptionGroup&) = delete;

 private:
  CLI::App& command_;
  std::string before_;
};

/// Adds an option that takes a word or several, or a number that is checked as CLI11 does.
template <class Value>
CLI::Option* add_text(CLI::App& command, const std::string& name, Value& value,
                      const std::string& description, const std::string& type_name = "NAME") {
  return command.add_option(name, value, description)->type_name(type_name);
}

/// Adds an option that takes a number of [low, high].
template <class Number>
CLI::Option* add_real(CLI::App& command, const std::string& name, Number& value,
                      const std::string& description, const std::string& type_name, double low,
                      double high) {
  return add_text(command, name, value, description, type_name)->check(real_number(low, high));
}

/// Adds an option that takes a whole number of [low, high], written in full.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value,
                        const std::string& description, const std::string& type_name,
                        std::uint64_t low, std::uint64_t high) {
  return add_text(command, name, value, description, type_name)->transform(whole_number(low, high));
}

}  // namespace warren::app
