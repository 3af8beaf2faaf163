// SPDX-License-Identifier: Apache-2.0
#include "warren/api/checks.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/sample/sampler.hpp"

namespace warren::api {

void check_choice(const std::string& option, const std::string& value,
                  const std::vector<std::string>& available) {
  if (std::ranges::find(available, value) != available.end()) return;
  throw UsageError(fmt::format("{} \"{}\" is unknown{}; there is: {}", option, value,
                               did_you_mean(value, available), fmt::join(available, ", ")));
}

void check_method(const std::string& method) {
  check_choice("--method", method, {"ranges", "random", "degree", "rabbit", "metis"});
}

void check_lists(Mode mode, Edges edges, const PlacementOptions& placement) {
  const bool are_plain = edges == Edges::device || edges == Edges::host;
  const std::string& method = placement.method;
  require(mode != Mode::asynchronous || are_plain,
          "--mode async reads plain lists in memory: give --edges device or host");
  if (edges == Edges::file && !method.empty() && method != "ranges")
    throw UsageError(fmt::format(
        "--method {}: lists are read in the file's order; leave it out with --edges file", method));
  require(!placement.cache || edges != Edges::device,
          "--cache is for lists that live elsewhere: give --edges host too");
  require(placement.cache.value_or(0) == 0 || edges == Edges::host,
          "--cache holds plain lists: give --edges host, as no compressed ones are held");
  if (!method.empty()) check_method(method);
}

std::string strategy_warning(const std::string& strategy, int ranks, bool on_gpu) {
  if (ranks == 1 && strategy.find(':') != std::string::npos)
    return fmt::format("--strategy {}: the parameters have no effect: one rank exchanges nothing",
                       strategy);
  if (ranks > 1 && !on_gpu && strategy.find("copy=") != std::string::npos)
    return fmt::format(
        "--strategy {}: copy has no effect: this run has no GPU, whose processors it counts",
        strategy);
  return {};
}

void check_repeat(int repeat) {
  require(repeat >= 0,
          fmt::format("repeat: got {}, expected a number of timed runs, or 0", repeat));
}

void check_fanouts(const std::vector<std::int64_t>& fanouts) {
  require(!fanouts.empty(), "--fanout: got none, expected a number for each hop");
  for (const std::int64_t fanout : fanouts)
    require(fanout == -1 || fanout >= 1,
            fmt::format("--fanout {}: a hop takes 1 neighbour or more, or -1 for all", fanout));
  require(fanouts.size() <= sample::kMaxHops,
          fmt::format("--fanout: {} hops are more than {}", fanouts.size(), sample::kMaxHops));
}

namespace {

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether an option of the command line begins at `i`; one of another program's is none.
bool begins_option(std::string_view message, std::size_t i) {
  const bool begins_word = i == 0 || message[i - 1] == ' ' || message[i - 1] == '(';
  const bool is_named = i + 2 < message.size() && is_lower(message[i + 2]);
  if (!begins_word || !is_named || !message.substr(i).starts_with("--")) return false;
  const std::string_view before = message.substr(0, i);
  return !before.ends_with("docker run ") && !before.ends_with("srun ");
}

/// Behind the word at `i` that stands for an option's value, as " DIR" does in "--checkpoint DIR",
/// where there is one; else `i`.
std::size_t behind_placeholder(std::string_view message, std::size_t i) {
  if (i >= message.size() || message[i] != ' ') return i;
  std::size_t end = i + 1;
  while (end < message.size() && std::isupper(static_cast<unsigned char>(message[end])) != 0) ++end;
  const bool is_word = end > i + 1 && (end == message.size() || !is_letter(message[end]));
  const bool is_value = end < message.size() && (message[end] == '_' || message[end] == '-');
  return is_word && !is_value ? end : i;
}

}  // namespace

std::string in_library_words(std::string_view message) {
  std::string text;
  std::size_t i = 0;
  while (i < message.size()) {
    if (message.substr(i).starts_with("'warren ")) {  // A command, which is to be typed so.
      const std::size_t end = message.find('\'', i + 1);
      const std::size_t count = end == std::string_view::npos ? end : end + 1 - i;
      text += message.substr(i, count);
      if (end == std::string_view::npos) break;
      i = end + 1;
    } else if (begins_option(message, i)) {
      for (i += 2; i < message.size() && (is_letter(message[i]) || message[i] == '-'); ++i)
        text += message[i] == '-' ? '_' : message[i];
      i = behind_placeholder(message, i);
    } else {
      text += message[i++];
    }
  }
  return text;
}

}  // namespace warren::api
